package memindex

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/minhash"
)

const sketchSize = 64

// randomSketches returns n sketches in families of similar ones, some with few hashes; each of hot
// hashes is in most sketches.
func randomSketches(r *rand.Rand, n, hot int) []minhash.Sketch {
	families := make([][]uint32, 1+n/20)
	for i := range families {
		for range 1 + r.IntN(2*sketchSize) {
			families[i] = append(families[i], r.Uint32())
		}
	}
	out := make([]minhash.Sketch, n)
	for i := range out {
		s := slices.Clone(families[r.IntN(len(families))])
		for range r.IntN(1 + len(s)/2) {
			s[r.IntN(len(s))] = r.Uint32()
		}
		for h := range hot {
			if r.IntN(10) > 0 {
				s = append(s, uint32(h)<<16)
			}
		}
		slices.Sort(s)
		s = slices.Compact(s)
		out[i] = s[:min(len(s), sketchSize)]
	}
	return out
}

// lost returns a sketch with a score of t or more that was not found.
func lost(sketches []minhash.Sketch, found []uint32, q minhash.Sketch, t float64) (at int, is bool) {
	for i, s := range sketches {
		if _, similar := minhash.JaccardAtLeast(q, s, sketchSize, t); similar && !slices.Contains(found, uint32(i)) {
			return i, true
		}
	}
	return 0, false
}

// TestGather checks that no similar sketch is missed, at any threshold, and that few others are
// found.
func TestGather(t *testing.T) {
	exhaustive.Sequential(t)
	for _, hot := range []int{0, 5} {
		for _, n := range []int{MinSketches, 6000} {
			r := rand.New(rand.NewPCG(uint64(hot), uint64(n)))
			sketches := randomSketches(r, n, hot)
			for _, least := range []float64{0, 0.5, 0.8, 1} {
				x := NewSketches(least, sketchSize)
				for _, s := range sketches {
					x.Add(s)
				}
				var s Searcher
				gathered := 0
				for range 40 {
					q := sketches[r.IntN(n)]
					seen, threshold := n-r.IntN(n-MinSketches+1), least+(1-least)*r.Float64()
					found, visits, ok := s.Gather([]uint32{7}, x, seen, q, threshold)
					if !ok {
						if len(found) != 1 {
							t.Fatal("a search that gives up leaves what it found")
						}
						continue
					}
					gathered++
					found = found[1:]
					slices.Sort(found)
					if visits > n || len(slices.Compact(slices.Clone(found))) != len(found) {
						t.Fatalf("%d visits, found %v", visits, found)
					}
					if len(found) > 0 && found[len(found)-1] >= uint32(seen) {
						t.Fatalf("found %d of %d", found[len(found)-1], seen)
					}
					if at, is := lost(sketches[:seen], found, q, threshold); is {
						t.Fatalf("hot %d, from %v: %d of %d is lost at %v", hot, least, at, seen, threshold)
					}
				}
				for at, q := range sketches {
					if found, _, ok := s.Gather(nil, x, n, q, 1); ok && !slices.Contains(found, uint32(at)) {
						t.Fatalf("hot %d, from %v: %d of %d does not find itself", hot, least, at, n)
					}
				}
				if hot == 0 && least >= 0.5 && gathered < 20 && n > MinSketches {
					t.Errorf("from %v, %d: %d of 40 searches by index", least, n, gathered)
				}
				if _, _, ok := s.Gather(nil, x, n, sketches[0], least-0.01); ok && least > 0 {
					t.Errorf("%v is served by an index from %v", least-0.01, least)
				}
			}
		}
	}
}

// TestGatherWhileAdding searches while sketches are added, each time among those present at the
// start.
func TestGatherWhileAdding(t *testing.T) {
	const n = 8000
	sketches := randomSketches(rand.New(rand.NewPCG(1, 1)), n, 0)
	x := NewSketches(0.7, sketchSize)
	var added atomic.Int64
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			var s Searcher
			r := rand.New(rand.NewPCG(2, uint64(g)))
			for last := false; !last; {
				seen := int(added.Load())
				last = seen == n
				q := sketches[r.IntN(n)]
				found, _, ok := s.Gather(nil, x, seen, q, 0.8)
				if !ok {
					continue
				}
				if at, is := lost(sketches[:seen], found, q, 0.8); is {
					t.Errorf("%d of %d is lost", at, seen)
					return
				}
			}
		})
	}
	for _, s := range sketches {
		x.Add(s)
		added.Add(1)
	}
	wg.Wait()
}
