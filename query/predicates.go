package query

import (
	"context"
	"math"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
)

// A predicateDef is a row of the table of predicates.
type predicateDef struct {
	word      string   // that it starts with
	arguments []string // of a call, as docs/query.md names them; the first is what to compare with
	example   string   // of a call: as error messages show it
	topic     Topic    // for .help; Words are those besides word
	docs      []docsRow

	// bind resolves a call, whose number of arguments is right. It is nil where the grammar has a
	// rule for the predicate.
	bind func(x *run, e *call) (predicate, error)
	// criterion resolves WORD value behind PAIRS, CLUSTERS and UNLESS; nil where the predicate is
	// none.
	criterion func(x *run, e *criterionExpr, verify *lexer.Token) (engine.Criterion, error)
}

var predicateDefs = []predicateDef{
	{
		word: "NEAR", arguments: []string{"what", "k"}, example: "NEAR('a', 3)",
		topic: Topic{[]string{"TEXT"}, "NEAR('a', 3)  NEAR(0xff, 3)  NEAR(TEXT '...', 3)",
			"documents whose fingerprint differs in at most 3 of 64 bits"},
		docs: []docsRow{{"NEAR(what, k)", "whose fingerprint differs from that of *what* in at most k bits, k in 0..64", "yes"}},
		bind: bindNear, criterion: bindNearCriterion,
	},
	{
		word: "NEAREST", arguments: []string{"what", "n"}, example: "NEAREST('a', 10)",
		topic: Topic{nil, "NEAREST('a', 10)", "the 10 documents with the nearest fingerprints"},
		docs:  []docsRow{{"NEAREST(what, n)", "that is one of the n nearest to *what*; of equally near ones those with smaller ids", "yes"}},
		bind:  bindNearest,
	},
	{
		word: "JACCARD", arguments: []string{"what", "t"}, example: "JACCARD('a', 0.8)",
		topic: Topic{[]string{"VERIFY"}, "JACCARD('a', 0.8) [VERIFY]", "documents that share 80% of their shingles; VERIFY: by the texts"},
		docs: []docsRow{{"JACCARD(what, t)", "that shares at least the share t of the shingles of *what* and itself, by the sketches; with VERIFY by the texts",
			"yes"}},
		bind: bindJaccard, criterion: bindJaccardCriterion,
	},
	{
		word: "LEVENSHTEIN", arguments: []string{"what", "t"}, example: "LEVENSHTEIN('a', 0.9)",
		topic: Topic{nil, "NEAR('a', 10) AND LEVENSHTEIN('a', 0.9)", "candidates whose text takes few edits to become that of a"},
		docs:  []docsRow{{"LEVENSHTEIN(what, t)", "whose text is at least that similar: 1 - edits / runes of the longer text", "no"}},
		bind:  bindTexts(levenshtein),
	},
	{
		word: "COSINE", arguments: []string{"what", "t"}, example: "COSINE('a', 0.9)",
		topic: Topic{nil, "NEAR('a', 10) AND COSINE('a', 0.9)", "candidates whose text has similar counts of words"},
		docs:  []docsRow{{"COSINE(what, t)", "the cosine of whose word counts with those of *what* is at least t", "no"}},
		bind:  bindTexts(cosine),
	},
	{
		word:  "ID",
		topic: Topic{[]string{"LIKE", "ESCAPE", "IN"}, "ID LIKE 'x%'  ID = 'a'  ID IN ('a', 'b')", "documents by id; % is any text, _ one character"},
		docs: []docsRow{
			{"ID = 'a'`, `ID IN ('a', 'b')", "with that id", "yes"},
			{"ID != 'a'`, `ID NOT IN (...)", "with another", "no"},
			{"ID LIKE 'x%'", "whose whole id matches: `%` is any text, `_` one character; letters as they are", "yes"},
			{"ID LIKE '10!%' ESCAPE '!'", "the same, where the escape character makes the next one stand for itself", "yes"},
		},
	},
	{
		word:  "SINCE",
		topic: Topic{nil, "SINCE 2d  SINCE '2026-01-02'", "documents stored since then"},
		docs:  []docsRow{{"SINCE 2d`, `SINCE '2026-01-02'", "stored then or later", "yes"}},
	},
}

// bindCall resolves NEAR(...) and its like.
func (x *run) bindCall(e *call) (predicate, error) {
	d := predicateOf(e.Name.Value)
	if len(e.Args) != len(d.arguments) {
		at := e.Name.Pos.Offset
		if len(e.Args) > len(d.arguments) {
			at = e.Args[len(d.arguments)].Value.Pos.Offset
		}
		return nil, errorAt(x.p.text, at, "as in "+d.example, "%s takes %d arguments, not %d", d.word, len(d.arguments), len(e.Args))
	}
	for _, a := range e.Args[1:] {
		if a.Text {
			return nil, x.values.wrong(a.Value, expectNumber)
		}
	}
	return d.bind(x, e)
}

func bindNear(x *run, e *call) (predicate, error) {
	k, err := x.values.integer(e.Args[1].Value, "k", 0, 64)
	if err != nil {
		return nil, err
	}
	t, err := x.fingerprintTarget(e.Args[0])
	return &nearPredicate{target: t, k: k}, err
}

func bindNearest(x *run, e *call) (predicate, error) {
	n, err := x.values.integer(e.Args[1].Value, "the number of documents", 1, math.MaxInt)
	if err != nil {
		return nil, err
	}
	t, err := x.fingerprintTarget(e.Args[0])
	return &nearestPredicate{target: t, n: n}, err
}

// similarity returns a function that compares texts with one text: their similarity, if it is at
// least the threshold.
type similarity func(text string, threshold float64) func(ctx context.Context, other string) (float64, bool)

// bindTexts returns the bind of a predicate that compares texts.
func bindTexts(measure similarity) func(*run, *call) (predicate, error) {
	return func(x *run, e *call) (predicate, error) {
		share, err := x.values.share(e.Args[1].Value)
		if err != nil {
			return nil, err
		}
		t, err := x.textTarget(e.Name.Value, e.Args[0])
		if err != nil {
			return nil, err
		}
		p := &textPredicate{name: e.Name.Value, target: t, threshold: share, similar: measure(t.doc.Text, share)}
		return p, x.needTexts(e.Name)
	}
}

// criterion returns what NEAR k or JACCARD t says, decided on the texts if there is a VERIFY.
func (x *run) criterion(e *criterionExpr, verify *lexer.Token) (engine.Criterion, error) {
	d := predicateOf(e.Word.Value)
	if d.criterion == nil {
		return engine.Criterion{}, errorAt(x.p.text, e.Word.Pos.Offset, "expected "+expectCriterion, "unexpected %q", d.word)
	}
	return d.criterion(x, e, verify)
}

func bindNearCriterion(x *run, e *criterionExpr, verify *lexer.Token) (engine.Criterion, error) {
	if verify != nil {
		return engine.Criterion{}, errorAt(x.p.text, verify.Pos.Offset, verifyHint, "VERIFY needs JACCARD")
	}
	k, err := x.values.integer(e.Value, "k", 0, 64)
	return engine.Near(k), err
}

func bindJaccardCriterion(x *run, e *criterionExpr, verify *lexer.Token) (engine.Criterion, error) {
	if err := x.needSketches(e.Word); err != nil {
		return engine.Criterion{}, err
	}
	t, err := x.values.share(e.Value)
	if verify == nil || err != nil {
		return engine.Jaccard(t), err
	}
	return engine.Jaccard(t).Verified(), x.needTexts(*verify)
}

// name is the name of a predicate: the first word of it.
func name(l *leaf) string {
	s := l.predicate.String()
	return s[:strings.IndexAny(s, " (")]
}
