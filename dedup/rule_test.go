package dedup

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/inputs"
)

func pairRule(t testing.TB, text string) *PairRule {
	t.Helper()
	r, err := ParsePairRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ruleDocs returns lines with documents of a few families, among which are copies.
func ruleDocs(rng *rand.Rand, id string, n int) string {
	var b strings.Builder
	for i := range n {
		words := strings.Fields(fmt.Sprintf("alpha%d beta gamma delta%[1]d epsilon zeta eta theta iota kappa", rng.IntN(4)))
		for range rng.IntN(4) {
			words[rng.IntN(len(words))] = fmt.Sprint("other", rng.IntN(3))
		}
		lang := ""
		if rng.IntN(5) > 0 {
			lang = fmt.Sprintf(`,"lang":"%c"`, "xyz"[rng.IntN(3)])
		}
		fmt.Fprintf(&b, "{\"id\":\"%s%d\",\"text\":%q%s}\n", id, i, strings.Join(words, " "), lang)
	}
	return b.String()
}

// equalRules are jobs by a criterion, and rules with the same meaning, which name a unit or a field
// so that the criterion does not decide.
var equalRules = []struct {
	job  Job
	rule string
}{
	{Job{By: engine.Jaccard(0.5)}, "JACCARD(words:3) >= 0.5"},
	{Job{By: engine.Jaccard(0.4), Across: "lang"}, "JACCARD(text) >= 0.4 AND a.lang IS DISTINCT FROM b.lang"},
	{Job{By: engine.Jaccard(0.4), WithinField: "lang"}, "JACCARD(words:3) >= 0.4 AND a.lang IS NOT DISTINCT FROM b.lang"},
	{Job{By: engine.Jaccard(0.4), Across: "folder"}, "JACCARD(words:3, text) >= 0.4 AND FOLDER(a) != FOLDER(b)"},
	{Job{By: engine.Levenshtein(0.8), Across: "file"}, "LEVENSHTEIN(text) >= 0.8 AND FILE(a) != FILE(b)"},
	{Job{By: engine.Cosine(0.7), WithinField: "lang"}, "COSINE(text) >= 0.7 AND a.lang IS NOT DISTINCT FROM b.lang"},
	{Job{By: engine.Near(20), Across: "lang"}, "NEAR <= 20 AND a.lang IS DISTINCT FROM b.lang"},
}

// TestRuleEqualsCriterion compares jobs and listings by rules with those by a criterion that has the
// same meaning, and whose results other tests compare with brute force.
func TestRuleEqualsCriterion(t *testing.T) {
	rng, dir := rand.New(rand.NewPCG(1, 2)), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := []string{write("x/a.jsonl", ruleDocs(rng, "a", 40)), write("y/b.jsonl", ruleDocs(rng, "b", 40))}
	known := write("known.jsonl", ruleDocs(rng, "k", 20))
	decisions := write("decisions.jsonl", `{"decision":"allow","a":"a1","b":"b2"}`+"\n"+`{"decision":"keep","a":"a3","b":"k0"}`+"\n"+`{"decision":"drop","a":"a4","b":"a5"}`+"\n")
	for _, e := range equalRules {
		for _, o := range []Job{{}, {Keep: Keep{Last}}, {Keep: Keep{None}}, {Against: []string{known}}, {Against: []string{known}, OnlyAgainst: true}, {Against: []string{known}, Decisions: decisions}} {
			one := o
			one.By, one.Across, one.WithinField = e.job.By, e.job.Across, e.job.WithinField
			o.Rule = pairRule(t, e.rule)
			want, got := outcomeOf(t, one, in), outcomeOf(t, o, in)
			if !reflect.DeepEqual(got, want) || len(want) < 10 && o.Keep == nil {
				t.Errorf("%s, %+v: got\n%v\nwant\n%v", e.rule, o, got, want)
			}
		}
		for _, components := range []bool{false, true} {
			one := Listing{By: e.job.By, Across: e.job.Across, WithinField: e.job.WithinField, Components: components, TempDir: dir}
			want := listingOf(t, one, in)
			got := listingOf(t, Listing{Rule: pairRule(t, e.rule), Components: components, TempDir: dir}, in)
			if !reflect.DeepEqual(got, want) || len(want) < 20 {
				t.Errorf("%s, components %v: got\n%v\nwant\n%v", e.rule, components, got, want)
			}
		}
	}
}

// outcomeOf returns the keeper of each dropped document.
func outcomeOf(t *testing.T, job Job, in []string) map[string]string {
	r, err := job.Run(t.Context(), Files(in...))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found := map[string]string{}
	for row, err := range r.Dropped(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Keeper != nil {
			found[*row.ID] = *row.Keeper
			if row.Score != nil && job.By.Kind() != "near" && !strings.HasPrefix(job.Rule.String(), "NEAR") {
				found[*row.ID] += fmt.Sprintf(" %.9f", *row.Score)
			}
		}
	}
	kept := 0
	for range r.Kept() {
		kept++
	}
	found["kept"] = fmt.Sprint(kept, r.Report.Clusters)
	return found
}

func openListing(t *testing.T, job Listing, in []string) *Documents {
	t.Helper()
	env := &inputs.Env{}
	src, err := env.NewCollection(t.Context(), in, inputs.Options{}, inputs.Access{OrFile: true})
	if err != nil {
		t.Fatal(err)
	}
	of, err := job.Open(t.Context(), env, src)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// listingOf returns pairs, members of clusters, and their numbers.
func listingOf(t *testing.T, job Listing, in []string) (rows []string) {
	of := openListing(t, job, in)
	near := job.By.Kind() == "near" || strings.HasPrefix(job.Rule.String(), "NEAR")
	match := func(m engine.Match) string {
		if near {
			return ""
		}
		return fmt.Sprintf(" %.9f", m.Score)
	}
	last := 0.0
	for p, err := range of.Pairs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Score > last && rows != nil {
			t.Errorf("pairs are not in order: %v after %v", p, last)
		}
		last = p.Score
		rows = append(rows, p.A+" "+p.B+match(p.Match))
	}
	pairs, err := of.CountPairs(t.Context())
	if err != nil || int(pairs) != len(rows) {
		t.Errorf("%d pairs are counted, %d listed: %v", pairs, len(rows), err)
	}
	for m, err := range of.Clusters(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		row := fmt.Sprint(m.Cluster, m.ID, m.Keep)
		if !job.Components { // there a rule has no score for documents that do not match
			row += match(m.Match)
		}
		rows = append(rows, row)
	}
	clusters, err := of.CountClusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := of.Close(nil); err != nil {
		t.Fatal(err)
	}
	return append(rows, fmt.Sprint(clusters))
}

// TestRuleJoin compares joins of files and databases by rules with brute force.
func TestRuleJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	stored, docs := lookupDocs(rng, "s", 80), lookupDocs(rng, "q", 60)
	docs = append(docs, stored[3], stored[5])
	db := lookupDB(t, stored)
	group := map[string]string{}
	for _, d := range append(docs, stored...) {
		group[d.ID] = string(d.Fields)
	}
	for _, e := range []struct {
		by   engine.Criterion
		o    JoinOptions
		want func(g, h string) bool
	}{
		{engine.Jaccard(0.4), JoinOptions{Rule: pairRule(t, "JACCARD >= 0.4 AND a.g = b.g")}, func(g, h string) bool { return g == h }},
		{engine.Levenshtein(0.75), JoinOptions{Rule: pairRule(t, "LEVENSHTEIN >= 0.75"), Across: "g"}, func(g, h string) bool { return g != h }},
	} {
		var want []string
		matched := map[string]bool{}
		for _, d := range docs {
			for m, err := range db.Search(t.Context(), engine.Doc{Text: d.Text}, e.by, nil) {
				if err != nil {
					t.Fatal(err)
				}
				if e.want(group[d.ID], group[m.ID]) {
					want, matched[d.ID] = append(want, lookupRow(d.ID, m)), true
				}
			}
		}
		if len(want) < 50 {
			t.Fatalf("only %d rows", len(want))
		}
		for _, files := range []bool{false, true} {
			src, _ := lookupFile(t, docs, true)
			o := e.o
			if o.Memory, o.Stored = 1<<28, db; files {
				of, _ := lookupFile(t, stored, false)
				p, err := db.Params()
				if err != nil {
					t.Fatal(err)
				}
				o.Stored, o.Files, o.Params, o.Of = nil, of, p, lookupRead()
			}
			got, j := joined(t, src, o)
			if !reflect.DeepEqual(got, want) || int(j.Matched) != len(matched) || int(j.Read) != len(docs) {
				t.Errorf("%v, files %v: got\n%s\nwant\n%s", o.Rule, files, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestAgree checks that the short forms of rules add to a criterion and to a rule.
func TestAgree(t *testing.T) {
	texts := `{"id":"a","text":"invoice no 1 of 2026-01-02 for a chair and a table AB-1","src":"x"}
{"id":"b","text":"invoice no 1 of 2026-01-02 for a chair and a table CD-1","src":"x"}
{"id":"c","text":"invoice no 1 of 2026-01-03 for a chair and a table AB-1","src":"x"}
{"id":"d","text":"invoice no 2 of 2026-01-02 for a chair and a table AB-1","src":"y"}
`
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(texts), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, job := range map[string]Job{
		"map[kept:4 0]":                                 {Agree: []string{"numbers", "[A-Z]+-"}, By: engine.Jaccard(0.3)},
		"map[c:a 1.000000000 kept:3 1]":                 {Agree: []string{"[A-Z]+-"}, Rule: nil, By: engine.Jaccard(1), Compared: inputs.Compared{Features: engine.Features{Mask: []string{"dates"}}}},
		"map[b:a 0.733333333 d:a 0.625000000 kept:2 1]": {Agree: []string{"dates"}, By: engine.Jaccard(0.3)},
	} {
		if got := fmt.Sprint(outcomeOf(t, job, []string{path})); got != want {
			t.Errorf("%v %v: %s, want %s", job.By, job.Agree, got, want)
		}
	}
}

// TestRuleErrors checks that options that do not compose with rules, fields that no document has,
// and rules that need too much memory are errors.
func TestRuleErrors(t *testing.T) {
	r := pairRule(t, "JACCARD >= 0.1")
	for _, job := range []Job{
		{Rule: r, By: engine.Near(3)}, {Rule: r, Verify: 0.5}, {Rule: r, Seen: 0.5}, {Rule: r, Level: Line}, {Rule: r, Compared: inputs.Compared{Bits: 128}},
		{Agree: []string{"numbers"}, By: engine.Within(0.5)}, {Agree: []string{"("}}, {Agree: []string{""}}, {Rule: &PairRule{}},
		{Distinct: []string{"two words"}}, {Distinct: []string{}}, {Distinct: []string{"recurring"}, By: engine.Within(0.5)}, {Distinct: []string{"recurring"}, Level: Line},
	} {
		if err := job.Check(); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%+v: %v", job, err)
		}
	}
	if err := (&Job{Rule: pairRule(t, "COSINE >= 0.1"), Output: t.TempDir() + "/"}).CheckWorkers(); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("workers: %v", err)
	}
	if _, err := ParsePairRule("JACCARD >= 0.8 AND\n a.x ="); !errors.Is(err, engine.ErrInvalid) || !strings.HasSuffix(err.Error(), "\n   a.x =\n        ^") {
		t.Error(err)
	}
	if _, err := (Listing{Rule: pairRule(t, "JACCARD >= 0.1 AND a.x = b.x"), Sample: 3}).Open(t.Context(), &inputs.Env{}, &inputs.Sources{}); !errors.Is(err, engine.ErrInvalid) {
		t.Errorf("a sample has no fields: %v", err)
	}
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(ruleDocs(rand.New(rand.NewPCG(5, 6)), "a", 300)), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, job := range map[string]Job{
		`Rule: no document has a field "language" (the fields are "lang")`: {Rule: pairRule(t, "JACCARD >= 0.5 AND a.language = b.language")},
		`Across: "language": no document has a field`:                      {Across: "language", Agree: []string{"numbers"}},
		"Memory": {Rule: pairRule(t, "JACCARD(chars:5) >= 0.1"), Memory: 1},
	} {
		if _, err := job.Run(t.Context(), Files(path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", job.Rule, err)
		}
	}
}

// TestRuleDecisions checks that pairs of equal documents can be kept apart.
func TestRuleDecisions(t *testing.T) {
	dir := t.TempDir()
	path, decisions := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "decisions.jsonl")
	lines := `{"id":"a","text":"one two three"}
{"id":"b","text":"one two three"}
{"id":"c","text":"one two three"}
`
	apart := `{"decision":"allow","a":"a","b":"b"}
{"decision":"allow","a":"a","b":"c"}
`
	if err := errors.Join(os.WriteFile(path, []byte(lines), 0o600), os.WriteFile(decisions, []byte(apart), 0o600)); err != nil {
		t.Fatal(err)
	}
	job := Job{Rule: pairRule(t, "JACCARD(words:2) >= 0.5"), Decisions: decisions}
	if got := fmt.Sprint(outcomeOf(t, job, []string{path})); got != "map[c:b 1.000000000 kept:2 1]" {
		t.Error(got)
	}
}

// TestSettle checks which rules a criterion decides, and with which limits.
func TestSettle(t *testing.T) {
	for text, want := range map[string]string{
		"JACCARD >= 0.5": "JACCARD 0.5", "a.lang IS DISTINCT FROM b.lang AND COSINE >= 0.5": "COSINE 0.5, NOT a.lang IS NOT DISTINCT FROM b.lang",
		"JACCARD >= 0.5 AND a.lang = b.lang AND NUMBERS(a) = NUMBERS(b)": "JACCARD 0.5, a.lang = b.lang, NUMBERS(a) = NUMBERS(b)", "LEVENSHTEIN >= 0.5 AND a.lang = b.lang": "",
		"JACCARD >= 0.5 AND FOLDER(a) != FOLDER(b)":              "JACCARD 0.5, NOT FOLDER(a) = FOLDER(b)",
		"JACCARD >= 0.5 AND NOT DIFFERS('draft') AND a.x != b.x": "JACCARD 0.5, NOT DIFFERS('draft'), NOT a.x = b.x",
		"NEAR <= 3": "", "JACCARD(chars:5) >= 0.5": "", "JACCARD(text) >= 0.5": "", "JACCARD >= 0.5 OR COSINE >= 0.5": "", "a.x = b.x": "",
		"JACCARD < 0.5 AND a.lang IS NOT DISTINCT FROM b.lang": "", "JACCARD >= 0.5 AND COSINE < 0.5": "", "JACCARD >= 0.5 AND NOT DIFFERS('a/b')": "",
		"JACCARD >= 0.5 AND a.x IS DISTINCT FROM b.x AND a.y IS DISTINCT FROM b.y": "", "CONTAINS >= 0.5 AND a.x = b.x": "",
	} {
		x := &agreement{rule: pairRule(t, text)}
		rule, limits, err := x.settle()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if rule == nil {
			got = x.by.String()
			for i := 0; limits != nil && i < len(limits.Branches[0]); i++ {
				got += ", " + limits.Literal(limits.Branches[0][i])
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
