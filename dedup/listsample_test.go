package dedup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine"
)

// TestSample checks that a sample does not depend on the order, that it contains every document
// with the same probability, and that documents with the same ID count separately.
func TestSample(t *testing.T) {
	const documents, size = 200, 40
	r := rand.New(rand.NewPCG(3, 4))
	often := map[string]int{}
	for seed := range uint64(500) {
		var first []string
		for range 2 {
			s := &listSample{n: size, seed: seed, most: 1 << 20}
			for _, n := range r.Perm(documents) {
				if err := s.add(&engine.Doc{ID: fmt.Sprint(n)}); err != nil {
					t.Fatal(err)
				}
			}
			var ids []string
			for _, d := range s.documents() {
				ids = append(ids, d.ID)
			}
			slices.Sort(ids)
			if len(slices.Compact(ids)) != size || s.seen != documents || first != nil && !slices.Equal(first, ids) {
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
	again := &listSample{n: 3, seed: 1, most: 1 << 20}
	for i := range 8 {
		if err := again.add(&engine.Doc{ID: "x", Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if docs := again.documents(); len(docs) != 3 || docs[0].Text != "0" || docs[2].Text != "2" {
		t.Errorf("of documents with one ID: %v", docs)
	}
	s := &listSample{n: 10, seed: 1, most: 1000}
	if err := s.add(&engine.Doc{ID: "x", Text: string(make([]byte, 2000))}); err == nil {
		t.Error(err)
	}
}
