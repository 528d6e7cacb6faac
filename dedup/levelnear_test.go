package dedup

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// TestNearUnits compares jobs that remove lines and paragraphs that resemble others with brute force.
func TestNearUnits(t *testing.T) {
	r, changed, near := rand.New(rand.NewPCG(exhaustive.Seed(t), 5)), 0, 0
	for range 80 {
		var lines, docs []string
		for range 1 + r.IntN(20) {
			var text strings.Builder
			for range r.IntN(9) {
				words := strings.Fields("a b c d e f g h i j")[r.IntN(3):]
				r.Shuffle(3, func(i, j int) { words[i], words[j] = words[j], words[i] })
				line := strings.Join(words[:1+r.IntN(len(words))], " ")
				if len(lines) > 0 && r.IntN(3) > 0 {
					line = lines[r.IntN(len(lines))] + []string{"", " x", " y z"}[r.IntN(3)]
				}
				lines = append(lines, line)
				text.WriteString(line + []string{"\n", "\n\n", "\r\n \n"}[r.IntN(3)])
			}
			docs = append(docs, text.String())
		}
		job := Job{Level: []Level{Line, Paragraph}[r.IntN(2)], By: engine.Jaccard([]float64{0.4, 0.6, 0.8, 1}[r.IntN(4)]), DryRun: true, Drop: r.IntN(3) == 0, MinCount: []int{0, 0, 3}[r.IntN(3)]}
		job.Compared.Features.MinWords, job.Compared.Shingle, job.Memory = 1+r.IntN(4), 1+r.IntN(3), []int64{1 << 20, 0}[r.IntN(2)]
		if r.IntN(3) == 0 {
			job.Keep = Keep{None}
		}
		known := 0
		if r.IntN(3) == 0 {
			known = r.IntN(len(docs))
			job.Against = []string{writeTexts(t, docs[:known], 0)}
			job.OnlyAgainst = job.Keep == nil && job.MinCount == 0 && r.IntN(2) == 0
		}
		left := map[string]string{}
		job.Cut = func(rec *records.Record, text string) { left[rec.Doc.ID] = text }
		if _, err := job.Write(t.Context(), &inputs.Env{}, []string{writeTexts(t, docs[known:], known)}); err != nil {
			t.Fatal(err)
		}
		want, similar := job.nearByModel(docs, known)
		if changed, near = changed+len(want), near+similar; !maps.Equal(left, want) {
			t.Fatalf("%+v\n%q\ngot  %q\nwant %q", job, docs, left, want)
		}
	}
	if changed < 300 || near < 300 {
		t.Errorf("%d documents changed, by %d units that only resemble others: this tests too little", changed, near)
	}
}

// nearByModel returns what is left of the texts that change, and how many units go that are not equal
// to the one they resemble.
func (c *Job) nearByModel(docs []string, known int) (left map[string]string, similar int) {
	type unit struct {
		doc, n int
		set    []uint64
		text   string
		keeper int
	}
	hashed := corpus.Hashed(features.Params{Shingle: c.Compared.Shingle})
	var all []unit
	spans, first, often := make([][]units.Span, len(docs)), 0, map[int]int{}
	for d, text := range docs {
		if d == known {
			first = len(all)
		}
		spans[d] = units.Split(nil, text, c.Level)
		for n, s := range spans[d] {
			if part := text[s.From:s.To]; len(strings.Fields(part)) >= c.MinWords() {
				all = append(all, unit{d, n, hashed(part), part, len(all)})
			}
		}
	}
	for i := first; i < len(all); i++ {
		best := 0.0
		for k := range i {
			common := 0
			for _, e := range all[i].set {
				if slices.Contains(all[k].set, e) {
					common++
				}
			}
			score := float64(common) / float64(len(all[i].set)+len(all[k].set)-common)
			if all[k].keeper == k && score >= c.By.T() && score > best && (k < first || !c.OnlyAgainst) {
				best, all[i].keeper = score, k
			}
		}
		often[all[i].keeper]++
	}
	gone := map[int][]units.Removed{}
	for i, u := range all[first:] {
		i += first
		if u.keeper >= first && (often[u.keeper] < c.minCount() || u.keeper == i && !c.keepsNoUnit()) {
			continue
		}
		if all[u.keeper].text != u.text {
			similar++
		}
		gone[u.doc] = append(gone[u.doc], units.Removed{From: uint32(u.n), To: uint32(u.n) + 1})
	}
	left = map[string]string{}
	for d, removed := range gone {
		var keep []records.Span
		if !c.Drop {
			for _, s := range units.Keep(docs[d], spans[d], removed, nil) {
				keep = append(keep, records.Span(s))
			}
		}
		left[fmt.Sprint(d)] = records.Parts(docs[d], keep)
	}
	return left, similar
}
