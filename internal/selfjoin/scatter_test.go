package selfjoin

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

// TestScatter checks that each bucket gets its fingerprints in the caller's order with their
// marks, with one part and with several, and with full, sparse and empty buckets.
func TestScatter(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{1, linePlaces, 1000, 3*scatterLeast + 5} {
		fps, marked := make([]base.Fingerprint, n), make([]bool, n)
		for i := range fps {
			fps[i], marked[i] = r.Uint64()>>(r.IntN(4)*8), r.IntN(3) == 0
		}
		slices.Sort(fps)
		for _, mask := range []uint64{1 << 63, 1<<63 | 1<<40 | 1, 0x1fff << 51, 0x1fff << 20} {
			j := newJoin(context.Background(), fps, 3, Options{Workers: 3}, marked, nil, nil)
			var l level
			b := newBlock(mask)
			l.scatter(j, b)
			if l.start[0] != 0 || int(l.start[b.size()]) != n {
				t.Fatalf("%d fingerprints by %x: buckets are [%d, %d)", n, mask, l.start[0], l.start[b.size()])
			}
			for bucket := range b.size() {
				before := -1
				for at := l.start[bucket]; at < l.start[bucket+1]; at++ {
					id, key := j.root.ids[at], j.root.keys[at]
					i := int(id &^ markBit)
					if i <= before || i >= n || id != j.id(i) || key != fps[i] || b.bucket(key) != uint32(bucket) {
						t.Fatalf("%d fingerprints by %x: bucket %d has %x, number %x, at %d", n, mask, bucket, key, id, at)
					}
					before = i
				}
			}
		}
	}
}
