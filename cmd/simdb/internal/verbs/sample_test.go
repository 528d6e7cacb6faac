package verbs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine"
)

// A sample is the same in any order, has the last document of each ID, and every document is in one
// about as often as any other.
func TestSample(t *testing.T) {
	const documents, size = 200, 40
	r := rand.New(rand.NewPCG(3, 4))
	often := map[string]int{}
	for seed := range uint64(500) {
		var first []string
		for range 2 {
			s, last := newSample(size, seed, 1<<20), map[string]string{}
			for _, n := range slices.Concat(r.Perm(documents), r.Perm(documents)) {
				d := engine.Doc{ID: fmt.Sprint(n), Text: fmt.Sprint(r.Int())}
				last[d.ID] = d.Text
				if err := s.add(&d); err != nil {
					t.Fatal(err)
				}
			}
			var ids []string
			for _, d := range s.documents() {
				ids = append(ids, d.ID)
				if d.Text != last[d.ID] {
					t.Fatalf("seed %d: %s is not the last document with its id", seed, d.ID)
				}
			}
			slices.Sort(ids)
			if len(slices.Compact(ids)) != size || s.seen != 2*documents || first != nil && !slices.Equal(first, ids) {
				t.Fatalf("seed %d: %d documents of %d: %v, before %v", seed, len(ids), s.seen, ids, first)
			}
			first = ids
		}
		for _, id := range first {
			often[id]++
		}
	}
	for id, n := range often { // 100 on average, with a standard deviation of 9
		if n < 60 || n > 140 {
			t.Errorf("%s is in %d samples of 500", id, n)
		}
	}
	if len(often) != documents {
		t.Errorf("%d documents of %d are in samples", len(often), documents)
	}
	s := newSample(10, 1, 1000)
	if err := s.add(&engine.Doc{ID: "x", Text: string(make([]byte, 2000))}); !errors.Is(err, errLarge) {
		t.Error(err)
	}
}

// TestDistinct: documents that come again do not count.
func TestDistinct(t *testing.T) {
	s := newSample(5, 1, 1<<20)
	for i := range 8 {
		if err := s.add(&engine.Doc{ID: fmt.Sprint(i / 4)}); err != nil {
			t.Fatal(err)
		}
	}
	if s.distinct() != 2 || s.seen != 8 {
		t.Errorf("%d of %d documents", s.distinct(), s.seen)
	}
}
