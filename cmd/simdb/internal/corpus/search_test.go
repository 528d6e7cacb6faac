package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/fingerprint"
)

// TestSearch compares what is found with all comparisons: of texts that are much alike, of empty
// ones, and of documents with a fingerprint of their own, in several batches.
func TestSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	p := fingerprint.Params{Shingle: 2}
	o := SearchOptions{Within: 16, Least: 0.5, Memory: 1 << 20}
	var docs, drawn []engine.Doc
	var numbers []int64
	for i, text := range shortTexts(r, 600) {
		d := engine.Doc{ID: fmt.Sprint(i), Text: text}
		if i%7 == 0 {
			d.Fingerprint = new(base.Fingerprint(1) << r.IntN(64))
		}
		if docs = append(docs, d); i < 10 || r.IntN(30) == 0 {
			drawn, numbers = append(drawn, d), append(numbers, int64(i))
		}
	}
	h := newHasher(p)
	a := features.NewSetHasher(p.Features, p.Shingle, p.Seed)
	jaccard := func(x, y string) float64 {
		b := map[uint64]bool{}
		xs := a.Append(nil, x)
		for _, e := range xs {
			b[e] = true
		}
		common, all := 0, len(xs)
		for _, e := range a.Append(nil, y) {
			if all++; b[e] {
				common, all = common+1, all-1
			}
		}
		return float64(common) / float64(max(all, 1))
	}
	type key struct {
		place int
		id    string
	}
	type how struct {
		bits  int
		score float64
	}
	want, words := map[key]how{}, 0
	for i := range docs {
		fp, ok := h.print(&docs[i])
		if ok {
			words++
		}
		for place, n := range numbers {
			m := how{-1, -1}
			if other, has := h.print(&drawn[place]); has && ok && base.Distance(fp, other) <= o.Within {
				m.bits = base.Distance(fp, other)
			}
			if s := jaccard(docs[i].Text, drawn[place].Text); s >= o.Least {
				m.score = s
			}
			if m != (how{-1, -1}) && n != int64(i) {
				want[key{place, docs[i].ID}] = m
			}
		}
	}
	s, err := NewSearch(p, drawn, numbers, o)
	if err != nil {
		t.Fatal(err)
	}
	for place := range drawn {
		if _, ok := h.print(&drawn[place]); s.Comparable(place) != ok {
			t.Errorf("%q: comparable %v", drawn[place].Text, !ok)
		}
	}
	got := map[key]how{}
	x := s.Extractor(t.Context(), p, func(some bool) {
		if some {
			words--
		}
	}, func(m Met) error {
		k := key{m.Place, strings.Clone(m.Doc.ID)}
		if _, twice := got[k]; twice || docs[0].Text != "" || m.Doc.Text == "" && m.Doc.Fingerprint == nil {
			t.Errorf("%v: again, or without its text", k)
		}
		got[k] = how{m.Distance, m.Score}
		return nil
	})
	defer x.Stop()
	for i := range docs {
		if err := x.Add(&docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Finish(); err != nil {
		t.Fatal(err)
	}
	both := 0
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%v: %v, want %v", k, got[k], w)
		}
		if w.bits >= 0 && w.score >= 0 {
			both++
		}
	}
	if len(got) != len(want) || words != 0 || both == 0 || both == len(want) {
		t.Errorf("%d found, want %d, %d of them both ways; %d documents with words too few", len(got), len(want), both, words)
	}
	o.Memory = 1000
	if _, err := NewSearch(p, drawn, numbers, o); !errors.Is(err, ErrFewLarge) {
		t.Errorf("without memory: %v", err)
	}
}
