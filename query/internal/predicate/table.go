package predicate

import (
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// Definition is a row of the table of predicates.
type Definition struct {
	Word string // first word of the predicate, or its name

	// Syntax and Help are shown by .help. Words has the other keywords of the predicate.
	Syntax, Help string
	Words        []string
	// Docs are its rows in docs/query.md.
	Docs []DocsRow

	// Bind resolves a call. The number of arguments has been checked, and only the first can be a
	// TEXT. Bind, Arguments and Example are empty if the grammar has a rule for the predicate.
	Bind      func(x *Scope, e *syntax.Call) (Predicate, error)
	Arguments []string // their names in docs/query.md; the first is the target of the comparison
	Example   string   // a call with the arguments 'a' and a number
	Measure   Measure  // what the bound predicate measures

	// Criterion resolves Word and a value after PAIRS, CLUSTERS and UNLESS; if estimate is not nil,
	// sketches decide. It is nil if the predicate cannot stand there.
	Criterion func(x *Scope, e *syntax.Criterion, estimate *syntax.Token) (engine.Criterion, error)
}

// DocsRow is a row of a table in docs/query.md.
type DocsRow struct{ Syntax, Meaning, Last string }

// Definitions is the table of predicates.
var Definitions = []Definition{
	{
		Word:   "NEAR",
		Syntax: "NEAR('a', 3)  NEAR(0xff, 3)  NEAR(TEXT '...', 3)",
		Help:   "documents whose fingerprint differs in at most 3 bits",
		Words:  []string{"TEXT", "ANY", "OF"},
		Docs: []DocsRow{{"NEAR(what, k)",
			"whose fingerprint differs from that of *what* in at most k bits, from 0 to all of them", "yes"}, {"NEAR(ANY OF (what, ...), k)", "the same for any of several, such as the hashes of a picture in eight orientations; `distance` is the smallest", "yes"}},
		Bind: bindNear, Arguments: []string{"what", "k"}, Example: "NEAR('a', 3)", Measure: Distance,
		Criterion: bindNearCriterion,
	},
	{
		Word:   "NEAREST",
		Syntax: "NEAREST('a', 10)  NEAREST('a', 10) BY JACCARD",
		Help:   "the 10 documents with the nearest fingerprints; the 10 most similar ones",
		Docs: []DocsRow{
			{"NEAREST(what, n)", "that is one of the n nearest to *what*; smaller ids win ties", "yes"},
			{"NEAREST(what, n) BY JACCARD", "that is one of the n most similar to *what* and shares a shingle with it; computed from the texts, or estimated from sketches with ESTIMATE; smaller ids win ties", "yes"},
		},
		Bind: bindNearest, Arguments: []string{"what", "n"}, Example: "NEAREST('a', 10)", Measure: Distance,
	},
	{
		Word:   "JACCARD",
		Syntax: "JACCARD('a', 0.8) [ESTIMATE]",
		Help:   "documents that share 80% of their shingles; ESTIMATE: compare sketches, not texts",
		Words:  []string{"ESTIMATE", "VERIFY"},
		Docs: []DocsRow{{"JACCARD(what, t)",
			"whose set of shingles has a Jaccard similarity of at least t with that of *what*; computed from the texts, or estimated from sketches with ESTIMATE or if no texts are stored", "yes"}},
		Bind: bindJaccard, Arguments: []string{"what", "t"}, Example: "JACCARD('a', 0.8)", Measure: Score,
		Criterion: bindJaccardCriterion,
	},
	{
		Word:   "LEVENSHTEIN",
		Syntax: "LEVENSHTEIN('a', 0.9)",
		Help:   "documents whose text is few edits away from that of a; for short texts",
		Docs: []DocsRow{{"LEVENSHTEIN(what, t)",
			"whose text has a similarity of at least t with that of *what*: 1 - edits / runes of the longer text", "yes"}},
		Bind: levenshtein.bind, Arguments: []string{"what", "t"}, Example: "LEVENSHTEIN('a', 0.9)", Measure: ExactScore,
		Criterion: levenshtein.criterion,
	},
	{
		Word:   "COSINE",
		Syntax: "COSINE('a', 0.9)",
		Help:   "documents whose text has similar word counts; for short texts",
		Docs: []DocsRow{{"COSINE(what, t)",
			"whose word counts have a cosine of at least t with those of *what*; a repeated word counts each time, unlike in the cosine that fingerprints estimate", "yes"}},
		Bind: cosine.bind, Arguments: []string{"what", "t"}, Example: "COSINE('a', 0.9)", Measure: ExactScore,
		Criterion: cosine.criterion,
	},
	{
		Word:   "CONTAINS",
		Syntax: "CONTAINS(TEXT '...', 0.8)",
		Help:   "documents that contain 80% of the shingles of a text: they quote it",
		Docs: []DocsRow{{"CONTAINS(what, t)",
			"that contains at least the share t of the shingles of *what*; reads all texts unless there is an index of containment", "yes"}},
		Bind: contains.bind, Arguments: []string{"what", "t"}, Example: "CONTAINS('a', 0.8)", Measure: ExactScore,
		Criterion: contains.criterion,
	},
	{
		Word:   "WITHIN",
		Syntax: "WITHIN(TEXT '...', 0.8)",
		Help:   "documents with 80% of their shingles in a text: the text quotes them",
		Docs: []DocsRow{{"WITHIN(what, t)",
			"that has at least the share t of its own shingles in *what*; reads texts as CONTAINS does", "yes"}},
		Bind: within.bind, Arguments: []string{"what", "t"}, Example: "WITHIN('a', 0.8)", Measure: ExactScore,
		Criterion: within.criterion,
	},
	{
		Word:   "PASSAGES",
		Syntax: "PASSAGES('a', 20)  PASSAGES(TEXT '...', 8)",
		Help:   "runs of at least 20 words that documents share with a, and where they are",
		Docs: []DocsRow{{"PASSAGES(what, n)",
			"that shares a run of at least n words with *what*: a row for each run; reads texts as CONTAINS does", "yes"}},
		Bind: bindPassages, Arguments: []string{"what", "n"}, Example: "PASSAGES('a', 3)", Measure: Places,
	},
	{
		Word:   "LIKE",
		Syntax: "ID LIKE 'x%'  ID >= 'a'  ID BETWEEN 'a' AND 'b'",
		Help:   "documents by id; % is any text, _ one character",
		Words:  []string{"ESCAPE", "IN", "BETWEEN"},
		Docs: []DocsRow{
			{"ID = 'a'`, `ID IN ('a', 'b')", "with this id", "yes"},
			{"ID != 'a'`, `ID NOT IN (...)", "with another id", "no"},
			{"ID >= 'a'`, `ID BETWEEN 'a' AND 'b'", "whose id, compared byte by byte, is in a range: `<`, `<=`, `>`, `>=`, or from 'a' to 'b', both included", "yes"},
			{"ID LIKE 'x%'", "whose whole id matches the pattern: `%` is any text, `_` one character; case counts", "yes"},
			{"ID LIKE '10!%' ESCAPE '!'", "the same; the character after an escape character stands for itself", "yes"},
		},
	},
	{
		Word:   "IS",
		Syntax: "lang = 'en'  stars >= 3  url LIKE 'x%'  a.b IS NULL",
		Help:   "documents by a field, or by their text (TEXT)",
		Words:  []string{"NULL"},
		Docs: []DocsRow{
			{"lang = 'en'`, `stars >= 3`, `draft = FALSE", "whose field satisfies the comparison: `=`, `!=`, `<`, `<=`, `>`, `>=`", "yes, by a scan or an index"},
			{"stars BETWEEN 3 AND 5`, `stars NOT BETWEEN 3 AND 5", "whose field is between the two values, which are included, or is not", "yes, by a scan or an index"},
			{"lang IN ('en', 'de')`, `lang NOT IN ('en')", "whose field is, or is not, one of these", "yes, by a scan or an index"},
			{"url LIKE 'http%'`, `text NOT LIKE '%draft%'", "whose field, or text, matches the whole pattern, or does not; accepts ESCAPE", "yes, by a scan or an index"},
			{"meta.lang IS NULL`, `meta.lang IS NOT NULL", "that does not have the field, or has it; `meta.lang` is `lang` in the object `meta`", "yes, by a scan or an index"},
		},
	},
	{
		Word:   "SINCE",
		Syntax: "SINCE 2d  SINCE '2026-01-02'",
		Help:   "documents stored at that time or later",
		Docs:   []DocsRow{{"SINCE 2d`, `SINCE '2026-01-02'", "that was stored at that time or later", "yes"}},
	},
}

// lookUp returns the row of a predicate that is written as a call.
func lookUp(word string) *Definition {
	for i := range Definitions {
		if d := &Definitions[i]; d.Word == word {
			return d
		}
	}
	panic("a predicate that is not in the table: " + word)
}

// ComesFrom says which predicates give rows a column; "" if none does.
func ComesFrom(column string) string {
	switch column {
	case "distance":
		return "it comes from " + Measuring(Distance, Distance, "and")
	case "score", "error", "exact":
		return "it comes from " + Measuring(Score, ExactScore, "and")
	}
	return ""
}

// Measuring returns the words of the predicates whose measure is in lo..hi, as "A, B and C"; and is
// the last conjunction.
func Measuring(lo, hi Measure, and string) string {
	var words []string
	for _, d := range Definitions {
		if d.Bind != nil && lo <= d.Measure && d.Measure <= hi {
			words = append(words, d.Word)
		}
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + and + " " + words[last]
}

// BindCall resolves a predicate written as a call. by is the token after BY, if any.
func BindCall(x *Scope, e *syntax.Call, by *syntax.Token) (Predicate, error) {
	d := lookUp(e.Name.Value)
	if len(e.Args) != len(d.Arguments) {
		at := e.Name.Pos.Offset
		if len(e.Args) > len(d.Arguments) {
			at = e.Args[len(d.Arguments)].Value.Pos.Offset
		}
		return nil, syntax.Errorf(at, "as in "+d.Example, "%s needs %d arguments, not %d", d.Word, len(d.Arguments), len(e.Args))
	}
	for i, a := range e.Args {
		if a.Any != nil {
			return nil, syntax.Errorf(e.Name.Pos.Offset, "as in NEAR(ANY OF (0xff, 'a'), 3)", "ANY OF must be the first argument of %s", d.Word)
		}
		if a.Text && i > 0 {
			return nil, x.Values.Wrong(a.Value, syntax.ExpectNumber)
		}
	}
	switch {
	case by == nil:
		return d.Bind(x, e)
	case d.Word == "NEAREST" && by.Value == "JACCARD":
		return bindMostSimilar(x, e, *by)
	}
	return nil, syntax.Errorf(by.Pos.Offset, "only NEAREST('a', 10) BY JACCARD is", "%s BY %s is not possible", d.Word, by.Value)
}

// BindCriterion resolves NEAR k, JACCARD t, LEVENSHTEIN t or COSINE t. If estimate is not
// nil, sketches decide.
func BindCriterion(x *Scope, e *syntax.Criterion, estimate *syntax.Token) (engine.Criterion, error) {
	d := lookUp(e.Word.Value)
	if d.Criterion == nil {
		return engine.Criterion{}, syntax.Errorf(e.Word.Pos.Offset, "expected "+syntax.ExpectCriterion, "unexpected %q", d.Word)
	}
	return d.Criterion(x, e, estimate)
}
