package dedup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// TestAllOccurrences compares jobs that remove every occurrence of a line or passage, or drop whole
// documents, with brute force: a unit is a line, or a window of words.
func TestAllOccurrences(t *testing.T) {
	r, changes := rand.New(rand.NewPCG(11, 12)), 0
	for round := range 70 {
		var docs []string
		for range 1 + r.IntN(25) {
			var text strings.Builder
			for range r.IntN(12) {
				text.WriteString([]string{"a b", "b a c", "c d e a", "b"}[r.IntN(4)])
				fmt.Fprintf(&text, "%s%d%s", []string{" ", " x"}[r.IntN(2)], r.IntN(60), []string{"\n", " "}[r.IntN(2)])
			}
			docs = append(docs, text.String())
		}
		job := Job{Level: []Level{Line, Passage}[round%2], DryRun: true, Drop: r.IntN(2) == 0, MinCount: []int{0, 0, 3}[r.IntN(3)]}
		job.Compared.Features.MinWords = 1 + r.IntN(4)
		if r.IntN(3) > 0 {
			job.Keep = Keep{None}
		}
		known := 0
		if r.IntN(3) == 0 {
			known = r.IntN(len(docs))
			job.Against = []string{writeTexts(t, docs[:known], 0)}
			job.OnlyAgainst = job.Keep == nil && job.MinCount == 0 && r.IntN(2) == 0
		}
		left := map[string]string{}
		job.Cut = func(rec *records.Record, text string) { left[rec.Doc.ID] = strings.Join(strings.Fields(text), " ") }
		report, err := job.Write(t.Context(), &inputs.Env{}, []string{writeTexts(t, docs[known:], known)})
		if err != nil {
			t.Fatal(err)
		}
		want := job.leftByModel(docs, known)
		changes += len(want)
		dropped := int64(0)
		for id, text := range want {
			if text == "" {
				dropped++
			}
			if got, ok := left[id]; !ok || got != text {
				t.Fatalf("%+v: of document %s there is %q, %t; want %q of %q", job, id, got, ok, text, docs)
			}
		}
		if len(left) != len(want) || report.Dropped != dropped {
			t.Fatalf("%+v: %d changed, %d dropped; want %d and %d", job, len(left), report.Dropped, len(want), dropped)
		}
	}
	if changes < 300 {
		t.Errorf("%d documents changed: this tests too little", changes)
	}
}

// writeTexts writes documents, whose ids are numbers from first on.
func writeTexts(t *testing.T, texts []string, first int) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", first+i, text)
	}
	path := filepath.Join(t.TempDir(), "texts.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// leftByModel returns the words that documents keep which lose any, by brute force.
func (c *Job) leftByModel(docs []string, known int) map[string]string {
	type window struct{ doc, from, to int } // in words
	n := c.MinWords()
	var all []window
	words := make([][]string, len(docs))
	for d, text := range docs {
		words[d] = strings.Fields(text)
		if c.Level == Passage {
			for i := range max(0, len(words[d])-n+1) {
				all = append(all, window{d, i, i + n})
			}
			continue
		}
		at := 0
		for line := range strings.SplitSeq(text, "\n") {
			size := len(strings.Fields(line))
			if size >= max(n, 1) {
				all = append(all, window{d, at, at + size})
			}
			at += size
		}
	}
	key := func(w window) string { return strings.Join(words[w.doc][w.from:w.to], " ") }
	first, times := map[string]window{}, map[string]int{}
	for _, w := range all {
		if _, ok := first[key(w)]; !ok {
			first[key(w)] = w
		}
		times[key(w)]++
	}
	gone := make([]map[int]bool, len(docs))
	for _, w := range all {
		f := first[key(w)]
		again := times[key(w)] >= c.minCount() && (f != w || c.keepsNoUnit())
		if w.doc < known || !(f.doc < known || again && !c.OnlyAgainst) {
			continue
		}
		if gone[w.doc] == nil {
			gone[w.doc] = map[int]bool{}
		}
		from := w.from
		if f.doc == w.doc && c.Level == Passage && !c.keepsNoUnit() {
			from = max(from, f.to) // of a text that repeats itself, the first window stays
		}
		for i := from; i < w.to; i++ {
			gone[w.doc][i] = true
		}
	}
	left := map[string]string{}
	for d, g := range gone {
		if g == nil {
			continue
		}
		var stay []string
		for i, w := range words[d] {
			if !g[i] && !c.Drop {
				stay = append(stay, w)
			}
		}
		left[fmt.Sprint(d)] = strings.Join(stay, " ")
	}
	return left
}

// TestDropDoesNotCompose checks options that exclude each other.
func TestDropDoesNotCompose(t *testing.T) {
	for i, job := range []Job{
		{Drop: true}, {Level: Line, Keep: Keep{None}, Seen: 0.8}, {Level: Line, Keep: Keep{None}, OnlyAgainst: true, Against: []string{"a"}},
		{Level: Line, Keep: Keep{None, Last}}, {Level: Line, Where: inputs.Options{Files: true}},
	} {
		if err := job.Check(); err == nil {
			t.Errorf("job %d: no error", i)
		}
	}
	for i, job := range []Job{{Level: Passage, Drop: true, Where: inputs.Options{Files: true}}, {Level: Line, Keep: Keep{None}, MinCount: 3}, {Level: Line, Drop: true, Seen: 0.5}} {
		if err := job.Check(); err != nil {
			t.Errorf("job %d: %v", i, err)
		}
	}
}
