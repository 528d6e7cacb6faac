package hot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/minhash"
)

const sketchSize = 64

// family returns n variants of a sketch, with up to changes hashes changed in each. Some are full
// and some are not.
func family(r *rand.Rand, n, changes int) []minhash.Sketch {
	base := make([]uint32, 40+r.IntN(40))
	for i := range base {
		base[i] = r.Uint32()
	}
	all := make([]minhash.Sketch, n)
	for i := range all {
		s := slices.Clone(base[r.IntN(6):])
		for range r.IntN(changes + 1) {
			s[r.IntN(len(s))] = r.Uint32()
		}
		slices.Sort(s)
		s = slices.Compact(s)
		all[i] = s[:min(len(s), sketchSize)]
	}
	return all
}

// shape returns the shape of a sketch, and its cold hashes.
func shape(o *Order, s minhash.Sketch) (Shape, []uint32) {
	cold, n, keys := o.Prefix(nil, s, len(s)+1, nil)
	return NewShape(len(s), keys), cold[:n]
}

// TestGroups compares Groups with all pairs: all similar pairs without a common cold hash are
// found, once each. If each hot hash has a separate bit, no other pairs are found.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, families := range []int{1, 3, 15} {
		var all []minhash.Sketch
		for range families {
			all = append(all, family(r, 900/families, 12)...)
		}
		hashes, _ := Hashes(len(all), func(i int) ([]uint32, error) { return all[i], nil })
		order, groups := NewOrder(hashes), NewGroups(sketchSize)
		shapes, colds := make([]Shape, len(all)), make([][]uint32, len(all))
		for i, s := range all {
			shapes[i], colds[i] = shape(order, s)
			groups.Add(uint32(i), &shapes[i])
		}
		found, compared := 0, 0
		for _, at := range []float64{0.1, 0.6, 0.8, 1} {
			for q := 0; q < len(all); q += 23 {
				var got []uint32
				groups.Each(&shapes[q], at, nil, func(members []uint32) bool {
					got = append(got, members...)
					return false
				})
				slices.Sort(got)
				if len(slices.Compact(slices.Clone(got))) != len(got) {
					t.Fatal("a member is found twice")
				}
				for i, s := range all {
					_, is := slices.BinarySearch(got, uint32(i))
					_, similar := minhash.JaccardAtLeast(all[q], s, sketchSize, at)
					apart := !slices.ContainsFunc(colds[q], func(h uint32) bool { return slices.Contains(colds[i], h) })
					if similar && apart && !is {
						t.Fatalf("%d families at %v: %v is lost for %v", families, at, s, all[q])
					}
					if is && apart && !similar && len(hashes) <= maskBits && len(s) < sketchSize && len(all[q]) < sketchSize {
						t.Fatalf("%d families at %v: %v is found for %v", families, at, s, all[q])
					}
				}
				found += len(got)
				compared += len(all)
			}
		}
		if found == 0 || found == compared {
			t.Errorf("%d families, %d hot hashes: %d of %d found", families, len(hashes), found, compared)
		}
	}
}

// TestGroupsOfTemplate has pages of one template that are less similar than the threshold: none is
// compared.
func TestGroupsOfTemplate(t *testing.T) {
	groups := NewGroups(128)
	s := NewShape(98, make([]Key, 86))
	for i := range uint32(5000) {
		groups.Add(i, &s)
	}
	if compared, enough := groups.Each(&s, 0.8, nil, func([]uint32) bool { return true }); compared > 0 || enough {
		t.Errorf("%d compared, found some: %v", compared, enough)
	}
	if compared, enough := groups.Each(&s, 0.75, nil, func([]uint32) bool { return true }); compared > Together || !enough {
		t.Errorf("%d compared until the first is found: %v", compared, enough)
	}
	if groups.Members() != 5000 || groups.Bytes() < 5000*memberBytes || groups.Bytes() > 15000*memberBytes {
		t.Errorf("%d members, %d bytes", groups.Members(), groups.Bytes())
	}
}

// TestGroupsWhileAdding searches while another goroutine adds members.
func TestGroupsWhileAdding(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all := family(r, 4000, 8)
	hashes, _ := Hashes(len(all), func(i int) ([]uint32, error) { return all[i], nil })
	order, groups := NewOrder(hashes), NewGroups(sketchSize)
	var added atomic.Int64
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			for last := false; !last; {
				n := int(added.Load())
				last = n == len(all)
				q, _ := shape(order, all[n/2])
				seen := map[uint32]bool{}
				groups.Each(&q, 0.8, nil, func(members []uint32) bool {
					for _, m := range members {
						seen[m] = true
					}
					return false
				})
				if n > 0 && q.hot == q.size && !seen[uint32(n/2)] {
					t.Error(fmt.Sprint(n/2, " of ", n, " does not find itself"))
					return
				}
			}
		})
	}
	for i, s := range all {
		x, _ := shape(order, s)
		groups.Add(uint32(i), &x)
		added.Add(1)
	}
	work.Wait()
}
