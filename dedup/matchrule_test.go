package dedup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// matched runs a Match of a file, and returns the best match of each line that is known.
func matched(t *testing.T, db *engine.DB, path string, o MatchOptions) map[string]engine.Match {
	t.Helper()
	src, err := inputs.FileSources([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	best := map[string]engine.Match{}
	o.Memory, o.Named, o.Read = 1<<20, true, records.Options{MakeID: true}
	o.Known = func(rec *records.Record, n engine.Novelty) error {
		best[rec.Doc.ID] = n.Match
		return nil
	}
	m, err := NewMatch(t.Context(), &inputs.Env{}, src, db, o)
	if err == nil {
		err = m.Run(t.Context())
	}
	if m.Close(err); err != nil {
		t.Fatal(err)
	}
	return best
}

// writeDocs writes documents of the model. Some IDs repeat.
func writeDocs(t *testing.T, name string, docs []ruletest.Doc, ids int) string {
	t.Helper()
	var b strings.Builder
	for i := range docs {
		d := docs[i].Stored(fmt.Sprintf("d%03d", i%ids))
		fields := strings.TrimPrefix(string(d.Fields), "{")
		if fields == "" {
			fields = "}"
		} else {
			fields = "," + fields
		}
		fmt.Fprintf(&b, "{\"id\":%q,\"text\":%q%s\n", d.ID, d.Text, fields)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadDocs loads a file as a Match of it does, and returns the database and its path.
func loadDocs(t *testing.T, path string, of inputs.Compared) (*engine.DB, string) {
	t.Helper()
	src, err := inputs.FileSources([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	env, at := &inputs.Env{}, filepath.Join(t.TempDir(), "x.simdb")
	err = LoadFiles(t.Context(), env, src, at, inputs.Access{Compared: of}, inputs.Reading{Options: records.Options{MakeID: true}}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	db, err := env.OpenDB(at, inputs.Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, at
}

// TestMatchFilesByRule matches lines with the documents of a file, some of which repeat an ID, by random
// rules, and compares the best matches with brute force.
func TestMatchFilesByRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	some := 0
	for range 40 {
		docs := ruletest.Docs(rng, 60)
		for i := range docs {
			docs[i].File = ""
		}
		stored, lines := docs[:30], docs[30:]
		text, model := ruletest.Rule(rng, 2, false)
		rule, err := ParsePairRule(text)
		if err != nil || strings.Contains(text, "RECURRING") {
			continue // no branch has a similarity or an equality
		}
		db, _ := loadDocs(t, writeDocs(t, "stored.jsonl", stored, 20), inputs.Compared{Shingle: ruletest.Params.Shingle})
		got := matched(t, db, writeDocs(t, "lines.jsonl", lines, len(lines)), MatchOptions{Rule: rule, Loaded: true})
		for b := range lines {
			best, id := -1.0, ""
			for a := range stored {
				if score, _ := model(&stored[a], &lines[b]); score > best || score == best && score >= 0 && fmt.Sprintf("d%03d", a%20) < id {
					best, id = score, fmt.Sprintf("d%03d", a%20)
				}
			}
			m, known := got[fmt.Sprintf("d%03d", b)]
			if known != (best >= 0) || known && (m.ID != id || math.Abs(m.Score-best) > 1e-9) {
				t.Fatalf("%s: line %d: %v %+v, want %s %v", text, b, known, m, id, best)
			}
			if known {
				some++
			}
		}
	}
	if some < 60 {
		t.Errorf("only %d lines are known", some)
	}
}

// TestMatchShortForms checks that Agree, Distinct, Across and WithinField of a Match mean the rule
// that they stand for.
func TestMatchShortForms(t *testing.T) {
	docs := ruletest.Docs(rand.New(rand.NewPCG(9, 10)), 300)
	db, _ := loadDocs(t, writeDocs(t, "stored.jsonl", docs[:200], 200), inputs.Compared{Shingle: 2})
	lines := writeDocs(t, "lines.jsonl", docs[200:], 100)
	all := len(matched(t, db, lines, MatchOptions{By: engine.Jaccard(0.4)}))
	for text, o := range map[string]MatchOptions{
		"NEAR <= 20 AND NUMBERS(a) = NUMBERS(b)":                             {By: engine.Near(20), Agree: []string{"numbers"}},
		"JACCARD >= 0.4 AND NUMBERS(a) = NUMBERS(b) AND DATES(a) = DATES(b)": {By: engine.Jaccard(0.4), Agree: []string{"numbers", "dates"}},
		"LEVENSHTEIN >= 0.7 AND MATCHES(a, 'eps') = MATCHES(b, 'eps')":       {By: engine.Levenshtein(0.7), Agree: []string{"eps"}},
		"JACCARD >= 0.4 AND NOT DIFFERS('draft', 'final/beta')":              {By: engine.Jaccard(0.4), Distinct: []string{"draft", "final/beta"}},
		"JACCARD >= 0.4 AND NOT a.year IS NOT DISTINCT FROM b.year":          {By: engine.Jaccard(0.4), Across: "year"},
		"COSINE >= 0.6 AND a.year IS NOT DISTINCT FROM b.year":               {By: engine.Cosine(0.6), WithinField: "year"},
	} {
		rule, err := ParsePairRule(text)
		if err != nil {
			t.Fatal(err)
		}
		got, want := matched(t, db, lines, o), matched(t, db, lines, MatchOptions{Rule: rule})
		if fmt.Sprint(got) != fmt.Sprint(want) || len(got) < 10 || o.By.Kind() == "jaccard" && len(got) >= all {
			t.Errorf("%s: %d lines are known, want %d, below %d", text, len(got), len(want), all)
		}
	}
	for text, o := range map[string]MatchOptions{
		"Within cannot be used with Agree":               {By: engine.Within(0.5), Agree: []string{"numbers"}},
		"which differences recur is known of all pairs":  {By: engine.Jaccard(0.5), Distinct: []string{"recurring"}},
		"a database does not record the files":           {By: engine.Jaccard(0.5), Across: "file"},
		`Agree: "(": mask "("`:                           {By: engine.Jaccard(0.5), Agree: []string{"("}},
		"Rule is empty":                                  {Rule: &PairRule{}},
		"Distinct: one word, or two as in left/right, n": {By: engine.Jaccard(0.5), Distinct: []string{"a b"}},
	} {
		src, err := inputs.FileSources([]string{lines})
		if err != nil {
			t.Fatal(err)
		}
		o.Memory = 1 << 20
		if _, err := NewMatch(t.Context(), &inputs.Env{}, src, db, o); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %s", err, text)
		}
	}
}
