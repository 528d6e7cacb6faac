package loader

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine/internal/view"
)

// TestArrange arranges windows and compares with a model: documents are sorted by fingerprint, and
// each group follows its first member; a group consists of documents that share one of their two
// hashes with an earlier member.
func TestArrange(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	w := &window{}
	for round := range 300 {
		w.reset()
		hashes := 1 + r.IntN(1000)
		for i := range r.IntN(200) {
			w.add(i, &view.Doc{Text: fmt.Sprint("text ", i)})
			d := &w.docs[i]
			if d.hasFP = r.IntN(10) > 0; d.hasFP {
				d.fp = uint64(r.IntN(100))
			}
			if r.IntN(5) > 0 {
				d.code, d.least = 1, [2]uint32{uint32(r.IntN(hashes)), uint32(r.IntN(hashes))}
			}
		}
		var sorted []int
		for i := range w.docs {
			sorted = append(sorted, i)
		}
		slices.SortStableFunc(sorted, func(i, j int) int {
			key := func(i int) int {
				if !w.docs[i].hasFP {
					return 1000
				}
				return int(w.docs[i].fp)
			}
			return key(i) - key(j)
		})
		group, groups, alike := map[uint32]int{}, [][]uint32{}, 0
		for _, i := range sorted {
			d, to := &w.docs[i], len(groups)
			if d.code > 0 {
				for _, h := range []uint32{d.least[1], d.least[0]} { // the first hash has priority
					if g, ok := group[h]; ok {
						to = g
					}
				}
				for _, h := range d.least {
					if _, ok := group[h]; !ok {
						group[h] = to
					}
				}
			}
			if to == len(groups) {
				groups = append(groups, nil)
			} else {
				alike++
			}
			groups[to] = append(groups[to], uint32(i))
		}
		got := w.arrange()
		if want := slices.Concat(groups...); !slices.Equal(w.order, want) || got != alike {
			t.Fatalf("round %d: %d alike, in the order\n%d, want %d,\n%d", round, got, w.order, alike, want)
		}
	}
}
