package query

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
)

// openRules opens a database with the parameters of ruletest; index may be "".
func openRules(t *testing.T, index string) *engine.DB {
	o := &engine.Options{Shingle: ruletest.Params.Shingle, NoSync: true}
	if index != "" {
		o.Index = []string{index}
	}
	return openTest(t, o)
}

// storeRules replaces all documents. Some are flushed.
func storeRules(t *testing.T, rng *rand.Rand, db *engine.DB, docs []ruletest.Doc) {
	if _, err := Run(t.Context(), db, "DELETE WHERE ID LIKE '%'"); err != nil {
		t.Fatal(err)
	}
	first := rng.IntN(len(docs) + 1)
	for _, some := range [][2]int{{0, first}, {first, len(docs)}} {
		var b engine.Batch
		for i := some[0]; i < some[1]; i++ {
			b.Put(docs[i].Stored(fmt.Sprintf("%03d", i)))
		}
		err := db.Apply(t.Context(), &b)
		if err == nil && rng.IntN(2) == 0 { // else it stays in the memtable
			err = db.Flush(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// refused reports whether an error is one that random rules have.
func refused(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "only different") || strings.Contains(err.Error(), "contradicts"))
}

// scoreOf returns the score of a row: by NEAR alone, rows have a distance.
func scoreOf(row Row, at int) float64 {
	if d, is := row[at].(int); is {
		return 1 - float64(d)/64
	}
	return row[at].(float64)
}

// TestRandomRules compares PAIRS, CLUSTERS and UNLESS by random rules with brute force, on memtables,
// tables and both.
func TestRandomRules(t *testing.T) {
	dbs := []*engine.DB{openRules(t, ""), openRules(t, "year")}
	ran, matched, refusals := 0, 0, 0
	for i := range exhaustive.Some(t, 60, 20000) {
		rng := rand.New(rand.NewPCG(exhaustive.Seed(t), uint64(i)))
		text, holds := ruletest.Rule(rng, 1+rng.IntN(3), false)
		if rng.IntN(3) == 0 {
			text, holds = ruletest.Limited(rng, false)
		}
		docs := ruletest.Docs(rng, 2+rng.IntN(20))
		db := dbs[rng.IntN(2)]
		rows, err := Run(t.Context(), db, "PAIRS "+text)
		if refused(err) {
			continue
		} else if err != nil {
			t.Fatal(text, err)
		}
		rows.Close()
		last := docs[len(docs)-1]
		docs = docs[:len(docs)-1]
		storeRules(t, rng, db, docs)
		score := func(a, b int) float64 {
			s, _ := holds(&docs[a], &docs[b])
			return s
		}
		got, want := map[string]float64{}, map[string]float64{}
		for a := range docs {
			for b := a + 1; b < len(docs); b++ {
				if s := score(a, b); s >= 0 {
					want[fmt.Sprintf("%03d %03d", a, b)] = s
				}
			}
		}
		if rows, err = Run(t.Context(), db, "PAIRS "+text); err != nil {
			t.Fatal(text, err)
		}
		for _, row := range read(t, rows) {
			got[fmt.Sprint(row[0], " ", row[1])] = scoreOf(row, 2)
		}
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
		if !maps.EqualFunc(got, want, near) {
			t.Fatalf("%s\n%q\ngot  %v\nwant %v", text, docs, got, want)
		}
		if n := read(t, runs(t, db, "COUNT PAIRS "+text))[0][0]; n != int64(len(want)) {
			t.Fatalf("%s: %v pairs, want %d", text, n, len(want))
		}
		ran, matched = ran+1, matched+len(want)
		checkStars(t, db, text, len(docs), score)
		refusals += checkUnless(t, db, text, docs, last, holds)
	}
	t.Logf("%d rules were valid, and matched %d pairs; %d documents were refused", ran, matched, refusals)
	if ran < 20 || matched < 100 || refusals < 5 {
		t.Errorf("only %d rules were valid, matched %d pairs, and refused %d documents", ran, matched, refusals)
	}
}

// runs runs a statement.
func runs(t *testing.T, db *engine.DB, text string, args ...any) *Rows {
	t.Helper()
	rows, err := Run(t.Context(), db, text, args...)
	if err != nil {
		t.Fatal(text, err)
	}
	return rows
}

// checkStars compares CLUSTERS with stars by brute force: each document joins the most similar keeper
// before it.
func checkStars(t *testing.T, db *engine.DB, text string, n int, score func(a, b int) float64) {
	rule, err := pairrule.Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	if a := rule.Alone(); a != nil && a.Kind == pairrule.Near {
		return // the stars of a single NEAR have another order
	}
	keeper, sizes := make([]int, n), map[int]int{}
	var keepers []int
	for d := range n {
		best, most := d, -1.0
		for _, k := range keepers {
			if s := score(k, d); s >= 0 && s > most {
				best, most = k, s
			}
		}
		if keeper[d] = best; best == d {
			keepers = append(keepers, d)
		}
		sizes[best]++
	}
	got, want := map[string]int{}, map[string]int{}
	for d, k := range keeper {
		if sizes[k] > 1 {
			want[fmt.Sprintf("%03d", d)] = k
		}
	}
	keep := 0
	for _, row := range read(t, runs(t, db, "CLUSTERS "+text)) {
		if row[2].(bool) {
			keep, _ = strconv.Atoi(row[1].(string))
		}
		got[row[1].(string)] = keep
	}
	if !maps.Equal(got, want) {
		t.Fatalf("CLUSTERS %s: got %v, want %v", text, got, want)
	}
	for id, k := range want {
		count := 0
		for _, row := range read(t, runs(t, db, "CLUSTER OF '"+id+"' "+text)) {
			if want[row[1].(string)] != k {
				t.Fatalf("CLUSTER OF %s %s: %v", id, text, row)
			}
			count++
		}
		if count != sizes[k] {
			t.Fatalf("CLUSTER OF %s %s: %d members, want %d", id, text, count, sizes[k])
		}
		break
	}
}

// checkUnless puts a document unless another one matches it.
func checkUnless(t *testing.T, db *engine.DB, text string, docs []ruletest.Doc, last ruletest.Doc, holds ruletest.Model) (refusals int) {
	best, most := "", -1.0
	for i := range docs {
		if s, _ := holds(&docs[i], &last); s > most+1e-12 {
			best, most = fmt.Sprintf("%03d", i), s
		}
	}
	rows := runs(t, db, "PUT ? UNLESS "+text, last.Stored("new"))
	switch found := read(t, rows); {
	case best == "" && rows.Message() != "stored":
		t.Fatalf("%q UNLESS %s: not stored, but %v", last, text, found)
	case best != "" && (len(found) != 1 || found[0][0] != best || math.Abs(scoreOf(found[0], 1)-most) > 1e-9):
		t.Fatalf("%q UNLESS %s: %v %s, want %s with %v", last, text, found, rows.Message(), best, most)
	case best != "":
		return 1
	}
	if again := read(t, runs(t, db, "PUT ? UNLESS "+text, last.Stored("new"))); len(again) != 1 || again[0][0] != "new" {
		t.Fatalf("UNLESS %s: a document that is sent again matches %v", text, again)
	}
	return 0
}

// TestUnlessAtOnce submits near-duplicates at once: of each family, exactly one is stored.
func TestUnlessAtOnce(t *testing.T) {
	db := openRules(t, "")
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for family := range 20 {
				d := engine.Doc{ID: fmt.Sprint(family, "/", worker), Text: fmt.Sprint("text ", worker), Fields: fmt.Appendf(nil, `{"family":%d,"name":"the name of family %[1]d"}`, family)}
				rows, err := Run(t.Context(), db, "PUT ? UNLESS a.family = b.family AND LEVENSHTEIN(name) >= 0.9", d)
				if err != nil {
					t.Error(err)
					return
				}
				for row, err := range rows.All() {
					if id := fmt.Sprint(row[0]); err != nil || !strings.HasPrefix(id, fmt.Sprint(family, "/")) {
						t.Error(row, err)
					}
				}
			}
		})
	}
	all.Wait()
	if n, err := db.Count(t.Context(), engine.Range{}); err != nil || n != 20 {
		t.Errorf("%d documents, %v", n, err)
	}
}

// TestRuleCrowd has many equal documents with as many values, whose pairs do not fit into memory.
func TestRuleCrowd(t *testing.T) {
	const n = 2000
	db := openTest(t, &engine.Options{NoSync: true, Memory: 16 << 20})
	var b engine.Batch
	for i := range n {
		b.Put(engine.Doc{ID: fmt.Sprintf("%04d", i), Text: "one two three four five", Fields: fmt.Appendf(nil, `{"f":%d}`, i/2)})
	}
	if err := db.Apply(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if got := read(t, runs(t, db, "COUNT PAIRS JACCARD >= 0.8 AND a.f != b.f"))[0][0]; got != int64(n*(n-2)/2) {
		t.Errorf("%v pairs", got)
	}
	if got := read(t, runs(t, db, "COUNT PAIRS JACCARD >= 0.8 AND a.f = b.f"))[0][0]; got != int64(n/2) {
		t.Errorf("%v pairs of one value", got)
	}
	if rows := read(t, runs(t, db, "CLUSTERS JACCARD >= 0.8 AND a.f != b.f")); len(rows) != n-1 || rows[0][1] != "0000" { // 1 is a keeper, too
		t.Errorf("%d members, %v", len(rows), rows[0])
	}
}

// TestRuleForms runs rules with parameters, clauses and transactions.
func TestRuleForms(t *testing.T) {
	db := openRules(t, "")
	for i, d := range []string{`"lang":"en","text":"one two three four five"`, `"lang":"de","text":"one two three four six"`, `"lang":"en","text":"one two three four seven"`} {
		runs(t, db, fmt.Sprintf(`PUT {"id":"%d",%s}`, i, d))
	}
	ids := func(rows *Rows) (all []string) {
		for _, r := range read(t, rows) {
			all = append(all, fmt.Sprint(r...))
		}
		return all
	}
	for _, c := range []struct {
		text string
		args []any
		want []string
	}{
		{"PAIRS JACCARD >= ? AND a.lang != b.lang SHOW a, b", []any{0.5}, []string{"01", "12"}},
		{"PAIRS JACCARD ? AND a.lang != b.lang LIMIT 1 SHOW a, b", []any{0.5}, []string{"01"}},
		{"PAIRS JACCARD >= $t AND a.lang = b.lang OFFSET 0 SHOW a, b, lacks, adds", []any{Named{"t", 0.5}}, []string{"02fiveseven"}},
		{"PAIRS ? SHOW a, b", []any{"JACCARD >= 0.5 AND a.lang = b.lang"}, []string{"02"}},
		{"PAIRS JACCARD 0.5 SHOW adds, a, lacks", nil, []string{"six0five", "seven0five", "seven1six"}},
		{"PAIRS MATCHES(a, ?) = MATCHES(b, ?) AND a.lang = b.lang SHOW a, b;", []any{"o'e", "o'e"}, []string{"02"}},
		{"CLUSTERS /* all */ JACCARD >= 0.5 AND a.lang = b.lang -- rule\n SHOW id, keep", nil, []string{"0true", "2false"}},
		{"COUNT CLUSTERS a.lang = b.lang", nil, []string{"1"}},
		{`PUT {"id":"9","text":"one two three four five six"} UNLESS CONTAINS >= 0.9`, nil, []string{"01 0 true"}}, // which contains 0
		{"EXPLAIN PAIRS JACCARD >= 0.5 AND a.lang != b.lang OR a.lang = b.lang AND NOT DIFFERS('x')", nil, []string{
			"about 3 pairs are compared, those with JACCARD >= 0.5; tests: NOT a.lang = b.lang",
			"1 pair is compared, those with a.lang = b.lang AND NOT DIFFERS('x')"}},
		{"EXPLAIN PAIRS JACCARD >= 0.5", nil, []string{"join by JACCARD 0.5"}},
		{"EXPLAIN CLUSTERS JACCARD >= 0.5 AND a.lang = b.lang AND a.id != b.id", nil, []string{"join by JACCARD 0.5, only of documents with a.lang = b.lang AND NOT a.id = b.id"}},
	} {
		if got := ids(runs(t, db, c.text, c.args...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	if err := db.SetAllowed(t.Context(), true, engine.Pair{A: "0", B: "1"}); err != nil {
		t.Fatal(err)
	}
	if got := ids(runs(t, db, "CLUSTERS JACCARD >= 0.5 AND a.lang != b.lang SHOW id, keep")); !slices.Equal(got, []string{"1true", "2false"}) {
		t.Errorf("beside an allowed pair: %q", got)
	}
	built := Pairs("JACCARD >= ? AND a.lang = b.lang -- the same language", 0.5).Limit(1).Show("a", "b", "lacks")
	if rows, err := built.Run(t.Context(), db); err != nil || !slices.Equal(ids(rows), []string{"02five"}) {
		t.Error(err)
	}
	if n, err := Clusters("JACCARD 0.5").Count(t.Context(), db); err != nil || n != 1 {
		t.Error(n, err)
	}
	if _, err := Pairs("JACCARD 0.5").And(Near("1", 3)).Run(t.Context(), db); err == nil {
		t.Error("PAIRS was combined with a predicate")
	}
	s := &Session{}
	defer s.Close()
	for i, text := range []string{"BEGIN", `PUT {"id":"3","lang":"fr","text":"one two three four eight"}`, `PUT {"id":"4","lang":"fr","text":"x"} UNLESS a.lang = b.lang`, "DELETE '1'", "PAIRS JACCARD >= 0.5 AND a.lang != b.lang SHOW a, b"} {
		rows, err := s.Run(t.Context(), db, text)
		if err != nil {
			t.Fatal(text, err)
		}
		got := ids(rows)
		if i == 2 && !slices.Equal(got, []string{"31 0 true"}) || i == 4 && !slices.Equal(got, []string{"03", "23"}) {
			t.Errorf("%s: %q", text, got)
		}
	}
	if _, err := Prepare("PAIRS JACCARD >= 0.5 AND\n  JACARD >= 0.4"); err == nil || err.(*ParseError).Line != 2 || err.(*ParseError).Column != 3 {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"PAIRS FILE(a) = FILE(b) AND JACCARD 0.5": "does not record the files",
		"PAIRS JACCARD 0.5 AND NEAR <= 65":        "a fingerprint has 64 bits",
		"PAIRS a.lang = b.lang ESTIMATE":          "ESTIMATE needs a single JACCARD",
		"PAIRS a.lang = b.lang SINCE 2d":          "SINCE cannot be used with PAIRS",
	} {
		if _, err := Run(t.Context(), db, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if rows := runs(t, db, "PAIRS a.lnag = b.lnag"); len(read(t, rows)) > 0 || !strings.Contains(strings.Join(rows.Warnings(), ""), "did you mean lang?") {
		t.Error(rows.Warnings())
	}
}
