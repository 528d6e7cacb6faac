package predicate

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/textsim"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// language has the predicates and no statements.
var language = func() *syntax.Language {
	v := syntax.Vocabulary{Keywords: []string{"AND"}}
	for _, d := range Definitions {
		v.Keywords = append(append(v.Keywords, d.Word), d.Words...)
		if d.Bind != nil {
			v.Predicates = append(v.Predicates, d.Word)
		}
	}
	return syntax.New(v)
}()

// now is the time at which tests query the documents. Document i was stored i hours earlier.
var now = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// testDB returns a database of n documents "d00", "d01", ..., half in a table. Some have texts with
// common words, some have only a fingerprint, and some have neither.
func testDB(t *testing.T, n int, opts *engine.Options) (*engine.DB, []engine.Doc) {
	t.Helper()
	db := must.Get(engine.Create(filepath.Join(t.TempDir(), "db"), opts))(t)
	t.Cleanup(func() { db.Close() })
	r := rand.New(rand.NewPCG(7, uint64(n)))
	docs := make([]engine.Doc, n)
	for i := range docs {
		d := engine.Doc{ID: fmt.Sprintf("d%02d", i), Time: now.Add(-time.Duration(i) * time.Hour)}
		switch i % 8 {
		case 0:
			fp := r.Uint64() & 0x3ff
			d.Fingerprints = []engine.Fingerprint{{fp}}
		case 1: // empty
		default:
			words := strings.Fields("the quick brown fox jumps over the lazy dog and runs away")
			for range r.IntN(4) {
				words[r.IntN(len(words))] = fmt.Sprintf("word%d", r.IntN(3))
			}
			d.Text = strings.Join(words, " ")
		}
		must.Do(t, db.Put(t.Context(), d))
		if docs[i] = d; i == n/2 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	return db, docs
}

// newScope returns the scope of a statement on the current state of the database.
func newScope(t *testing.T, db *engine.DB, p *syntax.Parsed, args ...any) *Scope {
	t.Helper()
	snap := must.Get(db.Snapshot())(t)
	t.Cleanup(func() { snap.Close() })
	v := &value.Values{}
	must.Do(t, v.Init(p, args, nil))
	return &Scope{Ctx: t.Context(), DB: db, Snap: snap, Values: v, now: now}
}

// scopeOf is newScope for a statement without parameters.
func scopeOf(t *testing.T, db *engine.DB) *Scope {
	t.Helper()
	x, _, err := bind(t, db, "ID = 'a'")
	must.Do(t, err)
	return x
}

// bind resolves a query that is a single predicate, as package query does.
func bind(t *testing.T, db *engine.DB, query string, args ...any) (*Scope, Predicate, error) {
	t.Helper()
	parsed, err := language.Parse(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	x := newScope(t, db, parsed, args...)
	primary := parsed.Statement.Select.Expr.Terms[0].Terms[0].Term
	var p Predicate
	switch {
	case primary.Call != nil:
		p, err = BindCall(x, primary.Call, primary.By)
	case primary.Test != nil && strings.EqualFold(primary.Test.Name.Value, "id"):
		p, err = BindID(x, primary.Test)
	default:
		p, err = BindSince(x, primary.Since)
	}
	for _, c := range parsed.Statement.Select.Clauses {
		if e, ok := p.(Estimator); ok && c.Estimate != nil {
			e.Estimate()
		}
	}
	return x, p, err
}

// shingles returns the set of runs of three words in a text.
func shingles(s string) map[string]bool {
	words, set := strings.Fields(s), map[string]bool{}
	for i := range max(0, len(words)-2) {
		set[strings.Join(words[i:i+3], " ")] = true
	}
	return set
}

// similarityOf returns the Jaccard similarity of two texts.
func similarityOf(a, b string) float64 {
	x, y := shingles(a), shingles(b)
	common := 0
	for s := range x {
		if y[s] {
			common++
		}
	}
	return float64(common) / float64(max(1, len(x)+len(y)-common))
}

// wanted is the expected verdict of a predicate on one document.
type wanted struct {
	holds    bool
	distance int
	score    float64
}

// TestPredicates compares the documents that each predicate lists, counts and tests with a loop
// over all documents.
func TestPredicates(t *testing.T) {
	db, docs := testDB(t, 80, nil)
	what := docs[2]
	fingerprint := func(d engine.Doc) (base.Fingerprint, bool) {
		if d.Fingerprints != nil {
			return d.Fingerprints[0][0], true
		}
		words, _ := db.Hash(d.Text)
		if words == nil {
			return 0, false
		}
		return words[0], true
	}
	near := func(fp base.Fingerprint, k int, self string) func(engine.Doc) wanted {
		return func(d engine.Doc) wanted {
			other, ok := fingerprint(d)
			distance := base.Distance(fp, other)
			return wanted{holds: ok && distance <= k && d.ID != self, distance: distance}
		}
	}
	jaccard := func(s, self string, share float64) func(engine.Doc) wanted {
		return func(d engine.Doc) wanted {
			score := similarityOf(s, d.Text)
			return wanted{holds: score >= share && d.ID != self, score: score}
		}
	}
	similar := func(by func(features.Spec, string, float64) textsim.Compare, share float64) func(engine.Doc) wanted {
		return func(d engine.Doc) wanted {
			score, ok := by(features.Spec{}, what.Text, share)(t.Context(), []byte(d.Text))
			return wanted{holds: ok && d.ID != what.ID, score: score}
		}
	}
	id := func(holds func(string) bool) func(engine.Doc) wanted {
		return func(d engine.Doc) wanted { return wanted{holds: holds(d.ID)} }
	}
	fp, _ := fingerprint(what)
	other := "the quick brown fox runs away and jumps over the lazy dog"
	otherPrints, _ := db.Hash(other)
	otherPrint := otherPrints[0]
	for _, c := range []struct {
		query string
		args  []any
		text  string // text of the predicate, if it differs from the query
		want  func(engine.Doc) wanted
	}{
		{query: "NEAR('d02', 0)", want: near(fp, 0, "d02")},
		{query: "NEAR('d02', 20)", want: near(fp, 20, "d02")},
		{query: "NEAR('d02', 64)", want: near(fp, 64, "d02")},
		{query: "NEAR(0x1f, 3)", text: "NEAR(0x000000000000001f, 3)", want: near(0x1f, 3, "")},
		{query: "NEAR(?, ?)", args: []any{31, 3}, text: "NEAR(0x000000000000001f, 3)", want: near(0x1f, 3, "")},
		{query: "NEAR(TEXT '" + other + "', 25)", want: near(otherPrint, 25, "")},
		{query: "NEAR(TEXT '', 64)", want: id(func(string) bool { return false })},
		{query: "NEAREST(TEXT '', 2)", want: id(func(string) bool { return false })},
		{query: "NEAREST(TEXT '', 2) BY JACCARD", want: id(func(string) bool { return false })},
		{query: "NEAREST(TEXT '', 2) BY JACCARD ESTIMATE", want: id(func(string) bool { return false })},
		{query: "JACCARD('d02', 0.7)", want: jaccard(what.Text, "d02", 0.7)},
		{query: "JACCARD('d02', 20%)", text: "JACCARD('d02', 0.2)", want: jaccard(what.Text, "d02", 0.2)},
		{query: "JACCARD('d02', 0.7) ESTIMATE", want: jaccard(what.Text, "d02", 0.7)},
		{query: "JACCARD(TEXT '" + other + "', 0.3)", want: jaccard(other, "", 0.3)},
		{query: "JACCARD(TEXT '...', 0.3)", want: id(func(string) bool { return false })},
		{query: "LEVENSHTEIN('d02', 0.8)", want: similar(textsim.Levenshtein, 0.8)},
		{query: "COSINE('d02', 0.8)", want: similar(textsim.Cosine, 0.8)},
		{query: "PASSAGES('d02', 3)", want: func(d engine.Doc) wanted {
			return wanted{holds: similarityOf(what.Text, d.Text) > 0 && d.ID != what.ID}
		}},
		{query: "PASSAGES(TEXT '', 1)", want: id(func(string) bool { return false })},
		{query: "ID = 'd07'", want: id(func(s string) bool { return s == "d07" })},
		{query: "ID = 'none'", want: id(func(string) bool { return false })},
		{query: "ID IN ('d07', 'x', 'd01', 'd07')", text: "ID IN ('d01', 'd07', 'x')", want: id(func(s string) bool { return s == "d01" || s == "d07" })},
		{query: "ID LIKE 'd1%'", want: id(func(s string) bool { return s[1] == '1' })},
		{query: "ID LIKE '%7'", want: id(func(s string) bool { return s[2] == '7' })},
		{query: "ID LIKE 'd_3'", want: id(func(s string) bool { return s[2] == '3' })},
		{query: "ID LIKE 'd13'", want: id(func(s string) bool { return s == "d13" })},
		{query: "ID LIKE 'd!1!3' ESCAPE '!'", text: "ID LIKE 'd!1!3'", want: id(func(s string) bool { return s == "d13" })},
		{query: "SINCE 10h", text: "SINCE '2026-01-01T14:00:00Z'", want: func(d engine.Doc) wanted {
			return wanted{holds: now.Sub(d.Time) <= 10*time.Hour}
		}},
	} {
		t.Run(c.query, func(t *testing.T) {
			x, p, err := bind(t, db, c.query, c.args...)
			must.Do(t, err)
			if s := p.String(); s != cmp.Or(c.text, c.query) {
				t.Errorf("it is written %s", s)
			}
			want := map[string]wanted{}
			for _, d := range docs {
				w := c.want(d)
				if w.holds {
					want[d.ID] = w
				}
				verdict, err := p.Test(x, &Candidate{ID: d.ID})
				if err != nil || verdict.Holds != w.holds || w.holds && !same(p, verdict.Match, w) {
					t.Errorf("%s: %+v (%v), want %+v", d.ID, verdict, err, w)
				}
			}
			if d, ok := p.(Driver); ok {
				compareListed(t, x, d, want)
			}
		})
	}
}

// same compares the distance or the score, whichever the predicate has.
func same(p Predicate, got engine.Match, want wanted) bool {
	switch p.Measure() {
	case Distance:
		return got.Distance == want.distance
	case Score, ExactScore:
		return math.Abs(got.Score-want.score) < 1e-9 && got.Exact
	}
	return true
}

func listed(d Driver, x *Scope, o ListOptions) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) { d.List(x, o, sink(yield)) }
}

type sink func(Found, error) bool

// Take implements Sink.
func (s sink) Take(f Found, err error) bool { return s(f, err) }

// compareListed compares the documents that a driver lists and counts with the expected ones.
func compareListed(t *testing.T, x *Scope, d Driver, want map[string]wanted) {
	t.Helper()
	for _, o := range []ListOptions{{}, {Ordered: true}, {Ordered: true, First: 5}} {
		var list []Found
		for f, err := range listed(d, x, o) {
			must.Do(t, err)
			w, ok := want[f.ID]
			if !ok || !same(d, f.Match, w) || f.Entry != nil && f.Entry.ID != f.ID {
				t.Errorf("%+v: lists %+v, want %+v", o, f, w)
			}
			if list = append(list, f); o.First > 0 && len(list) == o.First {
				break
			}
		}
		n := len(want)
		if o.First > 0 {
			n = min(n, o.First)
		}
		if len(list) != n {
			t.Errorf("%+v: %d documents, want %d", o, len(list), n)
		}
		if o.Ordered && !slices.IsSortedFunc(list, func(a, b Found) int { return inOrder(d.Order(), a, b) }) {
			t.Errorf("%+v: not in order: %v", o, list)
		}
	}
	if c, ok := d.(Counter); ok {
		if n, err := c.Count(x); int(n) != len(want) || err != nil {
			t.Errorf("counts %d (%v), want %d", n, err, len(want))
		}
	}
	if cost, lines := d.Cost(x), d.Explain(x); cost < 0 || len(lines) == 0 || !strings.Contains(strings.Join(lines, "\n"), finding(d)) {
		t.Errorf("costs %g, is explained as %q", cost, lines)
	}
}

// inOrder compares documents in the order of a driver.
func inOrder(o Order, a, b Found) int {
	switch o {
	case AnyOrder:
		return 0
	case ByDistance:
		return cmp.Or(cmp.Compare(a.Match.Distance, b.Match.Distance), cmp.Compare(a.ID, b.ID))
	case ByScore:
		return cmp.Or(cmp.Compare(b.Match.Score, a.Match.Score), cmp.Compare(a.ID, b.ID))
	}
	return cmp.Compare(a.ID, b.ID)
}

// TestNearest compares NEAREST with the first documents of NEAR in order.
func TestNearest(t *testing.T) {
	db, _ := testDB(t, 80, nil)
	for _, what := range []string{"'d02'", "0x1f"} {
		x, p, err := bind(t, db, "NEAR("+what+", 64)")
		must.Do(t, err)
		var all []Found
		for f, err := range listed(p.(Driver), x, ListOptions{Ordered: true}) {
			must.Do(t, err)
			all = append(all, f)
		}
		for _, n := range []int{1, 7, len(all), len(all) + 1} {
			x, p, err := bind(t, db, fmt.Sprintf("NEAREST(%s, %d)", what, n))
			must.Do(t, err)
			want := map[string]wanted{}
			for i, f := range all {
				verdict, err := p.Test(x, &Candidate{ID: f.ID})
				if err != nil || verdict.Holds != (i < n) || verdict.Holds && verdict.Match.Distance != f.Match.Distance {
					t.Errorf("%s: %s at place %d: %+v (%v)", p, f.ID, i, verdict, err)
				}
				if i < n {
					want[f.ID] = wanted{holds: true, distance: f.Match.Distance}
				}
			}
			compareListed(t, x, p.(Driver), want)
		}
	}
}

// TestErrors binds calls with wrong arguments.
func TestErrors(t *testing.T) {
	db, _ := testDB(t, 8, nil)
	bare, _ := testDB(t, 1, &engine.Options{NoSketch: true, NoText: true})
	for _, c := range []struct {
		db      *engine.DB
		query   string
		args    []any
		at      string // the text at the offset of the error
		class   syntax.Class
		message string
		is      error
	}{
		{db, "NEAR('d02')", nil, "NEAR", syntax.Malformed, "NEAR needs 2 arguments, not 1, as in NEAR('a', 3)", nil},
		{db, "NEAR('d02', 3, 4)", nil, "4)", syntax.Malformed, "NEAR needs 2 arguments, not 3, as in NEAR('a', 3)", nil},
		{db, "NEAR('d02', TEXT '3')", nil, "'3'", syntax.Malformed, "'3' should be a number such as 3", nil},
		{db, "NEAR('d02', 65)", nil, "65", syntax.BadValue, "k is 0..64, not 65, such as 3", nil},
		{db, "NEAR('none', 3)", nil, "'none'", syntax.NotFound, "there is no document 'none', SHOW id LIMIT 5 shows some ids, JACCARD(TEXT '...', 0.5) finds texts", engine.ErrNotFound},
		{db, "NEAR('9f3c5a0011223344', 3)", nil, "'9f3c", syntax.NotFound,
			"there is no document '9f3c5a0011223344', for a fingerprint write 9f3c5a0011223344 without quotes", engine.ErrNotFound},
		{db, "NEAR(TEXT 0xff, 3)", nil, "0xff", syntax.Malformed, `"0xff" should be a text in quotes`, nil},
		{db, "NEAR(80%, 3)", nil, "80%", syntax.Malformed, `"80%" should be ` + expectFingerprint, nil},
		{db, "NEAR(1.5, 3)", nil, "1.5", syntax.Malformed, `"1.5" should be ` + expectFingerprint, nil},
		{db, "NEAR(?, 3)", []any{-1.5}, "?", syntax.BadValue, "the value of parameter ? should be " + expectFingerprint, nil},
		{db, "NEAREST('d02', 0)", nil, "0)", syntax.BadValue, "the number of documents is at least 1, not 0, such as 10", nil},
		{db, "JACCARD('d02', 2)", nil, "2)", syntax.BadValue, "a share is more than 0 and at most 1, not 2, such as 0.8 or 80%", nil},
		{db, "JACCARD('none', 0.5)", nil, "'none'", syntax.NotFound, "there is no document 'none', SHOW id LIMIT 5 shows some ids, JACCARD(TEXT '...', 0.5) finds texts", engine.ErrNotFound},
		{db, "JACCARD(0xff, 0.5)", nil, "0xff", syntax.Malformed, "JACCARD compares texts, give a document id in quotes, or TEXT '...'", nil},
		{db, "COSINE(0xff, 0.5)", nil, "0xff", syntax.Malformed, "COSINE compares texts, give a document id in quotes, or TEXT '...'", nil},
		{db, "COSINE('none', 0.5)", nil, "'none'", syntax.NotFound, "there is no document 'none', SHOW id LIMIT 5 shows some ids, JACCARD(TEXT '...', 0.5) finds texts", engine.ErrNotFound},
		{db, "ID = ?", []any{3}, "?", syntax.BadValue, "the value of parameter ? should be a document id in quotes such as 'a'", nil},
		{db, "ID LIKE 'a' ESCAPE 'xy'", nil, "'xy'", syntax.Malformed, "'xy' should be one character in quotes", nil},
		{db, "ID LIKE 'a!' ESCAPE '!'", nil, "'a!'", syntax.Malformed, "the pattern ends in its escape character", nil},
		{db, "SINCE 3", nil, "3", syntax.BadValue, "3 needs a unit of time, write 3d for days, 3h for hours", nil},
		{bare, "JACCARD('d00', 0.5)", nil, "JACCARD", syntax.BadValue,
			"JACCARD needs a database with sketches, and this one has none, use NEAR", engine.ErrNoSketches},
		{bare, "LEVENSHTEIN('d00', 0.5)", nil, "LEVENSHTEIN", syntax.BadValue,
			"LEVENSHTEIN needs the texts of documents, and this database stores none", engine.ErrParams},
	} {
		x, _, err := bind(t, c.db, c.query, c.args...)
		e, ok := errors.AsType[*syntax.Error](x.Values.Locate(err))
		if !ok || e.Error() != c.message || e.Class != c.class || c.is != nil && !errors.Is(e, c.is) {
			t.Errorf("%s: %v, want %s", c.query, err, c.message)
		} else if !strings.HasPrefix(c.query[e.Offset:], c.at) {
			t.Errorf("%s: the error is at %d, want %q", c.query, e.Offset, c.at)
		}
	}
}

// TestBindCriterion resolves criteria as after PAIRS, and predicates that are not criteria.
func TestBindCriterion(t *testing.T) {
	db, _ := testDB(t, 1, nil)
	x := scopeOf(t, db)
	token := func(kind syntax.Kind, s string) syntax.Token { return syntax.Token{Type: kind, Value: s} }
	estimate := token(syntax.Keyword, "ESTIMATE")
	for _, c := range []struct {
		word, value string
		estimate    *syntax.Token
		want        engine.Criterion
		message     string
	}{
		{"NEAR", "3", nil, engine.Near(3), ""},
		{"JACCARD", "0.5", nil, engine.Jaccard(0.5), ""},
		{"JACCARD", "0.5", &estimate, engine.Jaccard(0.5).Estimated(), ""},
		{"NEAR", "3", &estimate, engine.Criterion{}, "ESTIMATE needs JACCARD, it makes JACCARD compare sketches"},
		{"NEAR", "65", nil, engine.Criterion{}, "k is 0..64, not 65, such as 3"},
		{"JACCARD", "0", nil, engine.Criterion{}, "a share is more than 0 and at most 1, not 0, such as 0.8 or 80%"},
		{"LEVENSHTEIN", "0.5", nil, engine.Levenshtein(0.5), ""},
		{"COSINE", "0.5", nil, engine.Cosine(0.5), ""},
		{"COSINE", "0", nil, engine.Criterion{}, "a share is more than 0 and at most 1, not 0, such as 0.8 or 80%"},
		{"COSINE", "0.5", &estimate, engine.Criterion{}, "ESTIMATE needs JACCARD, it makes JACCARD compare sketches"},
		{"NEAREST", "3", nil, engine.Criterion{}, `unexpected "NEAREST", expected ` + syntax.ExpectCriterion},
	} {
		e := &syntax.Criterion{Word: token(syntax.Predicate, c.word), Value: token(syntax.Number, c.value)}
		switch got, err := BindCriterion(x, e, c.estimate); {
		case c.message == "" && (err != nil || got != c.want):
			t.Errorf("%s %s is %v (%v), want %v", c.word, c.value, got, err, c.want)
		case c.message != "" && (err == nil || err.Error() != c.message):
			t.Errorf("%s %s: %v, want %s", c.word, c.value, err, c.message)
		}
	}
}

// TestCandidate checks that a candidate reads its entry and document once each, and in the state of
// the snapshot.
func TestCandidate(t *testing.T) {
	db, docs := testDB(t, 4, nil)
	x := scopeOf(t, db)
	must.Do(t, db.Delete(t.Context(), "d02"))
	c := Candidate{ID: "d02"}
	e, err := c.ReadEntry(x)
	if err != nil || e.ID != "d02" || e.Fingerprints == nil {
		t.Fatal(e, err)
	}
	d, err := c.ReadDoc(x)
	if err != nil || d.Text != docs[2].Text {
		t.Fatal(d, err)
	}
	again, _ := c.ReadEntry(x)
	if doc, _ := c.ReadDoc(x); again != e || doc != d {
		t.Error("they are read twice")
	}
	after := scopeOf(t, db)
	c.Reset(&Found{ID: "d02"})
	if _, err := c.ReadEntry(after); !errors.Is(err, ErrGone) {
		t.Errorf("entry of a deleted document: %v", err)
	}
	if _, err := c.ReadDoc(after); !errors.Is(err, ErrGone) {
		t.Errorf("a deleted document: %v", err)
	}
}

// TestHold holds as many bytes as the database allows, and one more.
func TestHold(t *testing.T) {
	db, _ := testDB(t, 1, &engine.Options{Memory: 1000})
	x := scopeOf(t, db)
	must.Do(t, errors.Join(x.Hold(600), x.Hold(400)))
	if err := x.Hold(1); !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("1001 of 1000 bytes: %v", err)
	}
}

// TestCounting counts documents, and checks that progress is reported from time to time.
func TestCounting(t *testing.T) {
	var reports []int64
	x := &Scope{Report: func(p engine.Progress) {
		if p.Stage != "list" || p.Unit != "documents" {
			t.Errorf("%+v", p)
		}
		reports = append(reports, p.Done)
	}}
	counted := x.Counting("list")
	for range 2*reportEvery + 5 {
		counted()
	}
	if !slices.Equal(reports, []int64{reportEvery, 2 * reportEvery}) {
		t.Error(reports)
	}
	(&Scope{}).Counting("list")() // without Report
}

func TestMeasuring(t *testing.T) {
	for _, c := range []struct {
		lo, hi Measure
		want   string
	}{
		{Distance, Distance, "NEAR and NEAREST"},
		{Distance, Score, "NEAR, NEAREST and JACCARD"},
		{Score, ExactScore, "JACCARD, LEVENSHTEIN, COSINE, CONTAINS and WITHIN"},
	} {
		if got := Measuring(c.lo, c.hi, "and"); got != c.want {
			t.Errorf("%d..%d: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestExplainParts(t *testing.T) {
	parts := []engine.PartPlan{
		{Part: "000001.sst", Method: "scan", Documents: 1},
		{Part: "000002.sst", Method: "postings", Probes: 2, Candidates: 1, Documents: 30},
		{Part: "memtable", Method: "probe", Probes: 1, Candidates: 3, Documents: 40, Radii: []int{1, 0, 0, -1}},
	}
	want := []string{
		"find", "  000001.sst: scan 1 document", "  000002.sst: 2 postings, about 1 candidate of 30 documents",
		"  memtable: 1 probe with radii [1 0 0 -1], about 3 candidates of 40 documents",
	}
	if got := explainParts("find", parts, nil); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := explainParts("find", nil, errors.New("no")); !slices.Equal(got, []string{"find", "  no"}) {
		t.Errorf("%q", got)
	}
	if cost := planCost([]engine.PartPlan{{Cost: 2}, {Cost: 3}}, nil); cost != 5 {
		t.Errorf("the cost is %g", cost)
	}
	if cost := planCost(nil, errors.New("no")); cost != 0 {
		t.Errorf("the cost of no plan is %g", cost)
	}
}

// TestCompareNumbers checks that a number is compared with numbers and nothing else.
func TestCompareNumbers(t *testing.T) {
	for value, want := range map[string]int{"1": 0, "1.0": 0, "0.1e1": 0, ".99e0": -1, "12345678901234567890": 1, "-1e1000": -1} {
		if got, ok := compareNumber("1")([]byte(value)); !ok || got != want {
			t.Errorf("%s with 1: %d, %v; want %d", value, got, ok, want)
		}
	}
	for _, none := range []string{"", "-", ".", "e5", "1e", "1e+", "1e+-5", "0x10", "1 ", "NaN", "Infinity", "1e5e5", "abc"} {
		if got, ok := compareNumber("1")([]byte(none)); ok {
			t.Errorf("%q compares: %d", none, got)
		}
	}
}
