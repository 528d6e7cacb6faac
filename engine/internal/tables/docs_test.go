package tables

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// TestSortDocs compares the order with a stable sort by comparison.
func TestSortDocs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 1000, 5000} {
		docs := make([]*view.MemDoc, n)
		for i := range docs {
			docs[i] = &view.MemDoc{Document: table.Document{ID: fmt.Append(nil, r.IntN(1e9), i), Seq: uint64(i), HasFingerprint: r.IntN(5) > 0}}
			if docs[i].HasFingerprint {
				docs[i].Fingerprint = r.Uint64() >> (r.IntN(2) * 56)
			}
		}
		want := slices.Clone(docs)
		slices.SortStableFunc(want, func(a, b *view.MemDoc) int { return a.Compare(&b.Document) })
		if SortDocs(docs); !slices.Equal(docs, want) {
			t.Errorf("%d documents are out of order", n)
		}
	}
}
