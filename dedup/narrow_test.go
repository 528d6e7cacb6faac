package dedup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/inputs"
	_ "github.com/simdb/simdb/records/lines"
)

// TestNarrow searches a database for inputs. The result must include all documents that are
// similar to an input, and hardly any others. If the search cannot guarantee that, or is slower
// than the join, all documents are joined.
func TestNarrow(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 5))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%d ", r.IntN(3000))
		}
		return b.String()
	}
	db, err := engine.Create(filepath.Join(dir, "db"), &engine.Options{Sketch: 128, MinJaccard: 0.65})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	texts := map[string]string{}
	var batch engine.Batch
	put := func(id, text string) {
		texts[id] = text
		batch.Put(engine.Doc{ID: id, Text: text})
	}
	for i := range 400 {
		put(fmt.Sprint("d", i), words(6+r.IntN(60)))
	}
	for i := range 40 {
		put(fmt.Sprint("equal", i), "one page of which there are many copies")
	}
	var few []string // edits of stored texts
	for i := range 30 {
		of := strings.Fields(texts[fmt.Sprint("d", i)])
		few = append(few, strings.Join(of, " "), strings.Join(append(of, "more"), " "))
		put(fmt.Sprint("longer", i), strings.Join(append(of, "another", "word"), " "))
	}
	few = append(few[:20], "", "...", "word")
	var sets []map[string]bool
	for _, text := range few {
		sets = append(sets, shingles(text))
	}
	if err := db.Apply(t.Context(), &batch); err != nil {
		t.Fatal(err)
	}
	narrow := func(t float64, memory int64, inputs []string, change func(*Job)) *source {
		c := &Job{By: engine.Jaccard(t), Memory: memory, NoAudit: true, Output: "out.jsonl"}
		if change != nil {
			change(c)
		}
		return narrowed(dir, db, c, inputs)
	}
	nearest := map[string]float64{} // by document: its similarity with the nearest input
	for id, text := range texts {
		set := shingles(text)
		for _, in := range sets {
			nearest[id] = max(nearest[id], jaccard(in, set))
		}
	}
	for _, threshold := range []float64{0.78, 0.8, 0.9, 1} {
		s := narrow(threshold, 64<<20, few, nil)
		if only := s.Stored.Only; only == nil || len(only) > 70 {
			t.Fatalf("%v: %d of %d documents", threshold, len(s.Stored.Only), len(texts))
		}
		for id, similarity := range nearest {
			if similarity >= threshold && !s.Stored.Only[id] {
				t.Errorf("%v: %s is passed over", threshold, id)
			}
		}
	}
	whole := map[string]*source{
		"a text with a full sketch":   narrow(0.8, 64<<20, append(slices.Clone(few), words(110)), nil),
		"a threshold below the index": narrow(0.7, 64<<20, few, nil),
		"many inputs":                 narrow(0.8, 64<<20, slices.Repeat([]string{"word"}, 59), nil),
		"copies found":                narrow(0.8, 64<<20, []string{"one page of which there are many copies", "one page of which there are many copies"}, nil),
		"texts compared":              narrow(0.8, 64<<20, few, func(c *Job) { c.By = engine.Levenshtein(c.By.T()) }),
		"decisions":                   narrow(0.8, 64<<20, few, func(c *Job) { c.Decisions = "d.jsonl" }),
		"little memory":               narrow(0.8, 32<<10, few, nil),
	}
	for name, s := range whole {
		if s == nil || s.some() {
			t.Errorf("%s: not all documents are joined", name)
		}
	}
}

// narrowed returns a database as a source of Against, after the search for inputs.
func narrowed(dir string, db *engine.DB, c *Job, texts []string) *source {
	var lines strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&lines, `{"id":"%d","text":%q}`+"\n", i, text)
	}
	path := filepath.Join(dir, "in.jsonl")
	snapshot, err := db.Snapshot()
	if err != nil || os.WriteFile(path, []byte(lines.String()+"no document\n"), 0o600) != nil {
		return nil
	}
	defer snapshot.Close()
	stored := &inputs.Stored{Snapshot: snapshot, DB: db, Path: "db"}
	d := &job{ctx: context.Background(), env: &inputs.Env{}, c: c, criteria: c.criteria(), Sources: &inputs.Sources{Names: []string{path}, Files: []string{path}}, against: []source{{path: "db", Sources: stored.Sources()}}}
	d.flawed, d.keep = make([]bool, 1), newRankings(c.Rules())
	if d.narrow() != nil {
		return nil
	}
	return &d.against[0]
}

// shingles returns the set of runs of three words; a shorter text is one run.
func shingles(text string) map[string]bool {
	words, all := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '.' }), map[string]bool{}
	for i := range words {
		if i+3 <= len(words) || i == 0 {
			all[strings.Join(words[i:min(i+3, len(words))], " ")] = true
		}
	}
	return all
}

// jaccard returns the similarity of two sets.
func jaccard(x, y map[string]bool) float64 {
	common := 0
	for s := range x {
		if y[s] {
			common++
		}
	}
	return float64(common) / float64(max(len(x)+len(y)-common, 1))
}
