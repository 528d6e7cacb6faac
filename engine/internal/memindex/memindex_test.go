package memindex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
)

// brute returns the positions of fps within k bits of q.
func brute(fps []uint64, q uint64, k int) (found []uint32) {
	for i, fp := range fps {
		if base.Distance(fp, q) <= k {
			found = append(found, uint32(i))
		}
	}
	return found
}

// near returns fp with at most n random bits flipped.
func near(r *rand.Rand, fp uint64, n int) uint64 {
	for range n {
		fp ^= 1 << r.IntN(64)
	}
	return fp
}

// corpora returns fingerprints of many kinds.
func corpora(n int) map[string][]uint64 {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	out := map[string][]uint64{}
	for range n {
		out["uniform"] = append(out["uniform"], r.Uint64())
		out["small"] = append(out["small"], uint64(r.IntN(1000)))
		out["equal"] = append(out["equal"], 42)
		out["edges"] = append(out["edges"], []uint64{0, ^uint64(0), 1, 1 << 63, 0xffff, 0xffff << 48}[r.IntN(6)])
		family := r.Uint64N(50) * 0x9e3779b97f4a7c15
		out["families"] = append(out["families"], near(r, family, r.IntN(16)))
		out["sparse"] = append(out["sparse"], r.Uint64()&r.Uint64()&r.Uint64())
	}
	return out
}

// TestFind compares all searches with brute force, at sizes around the points where the index
// starts and grows, and with more fingerprints added than the search sees.
func TestFind(t *testing.T) {
	queries := exhaustive.Size(3, 12)
	for _, n := range []int{0, 1, 100, MinSize - 1, MinSize, minEntries, minEntries + 1, 3 * minEntries} {
		for kind, fps := range corpora(n) {
			t.Run(fmt.Sprintf("%s/%d", kind, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(4, uint64(n)))
				x := New(fps[:n/3], r.IntN(2)*n)
				for _, fp := range fps[n/3:] {
					x.Add(fp)
				}
				var s Searcher
				for range queries {
					q := r.Uint64()
					if n > 0 && r.IntN(4) > 0 {
						q = near(r, fps[r.IntN(n)], r.IntN(14))
					}
					seen := n - r.IntN(n/3+1)
					for k := 0; k <= 64; k += 1 + r.IntN(3) {
						want := brute(fps[:seen], q, k)
						got, compared := s.Find([]uint32{7}, x, fps[:seen], q, k)
						if slices.Sort(got[1:]); got[0] != 7 || !slices.Equal(got[1:], want) {
							t.Fatalf("%d of %d, %x within %d: got %v, want %v", seen, n, q, k, got[1:], want)
						}
						if compared > 2*n+probes(n, k) {
							t.Fatalf("%x within %d compares %d of %d fingerprints", q, k, compared, n)
						}
						if probes(n, k) == 0 || k > 14 {
							continue
						}
						got, _, ok := s.visit([]uint32{7}, x, uint32(seen), q, k, 1<<30)
						if slices.Sort(got[1:]); !ok || got[0] != 7 || !slices.Equal(got[1:], want) {
							t.Fatalf("%d of %d, %x within %d by index: got %v, want %v", seen, n, q, k, got[1:], want)
						}
					}
				}
			})
		}
	}
}

// TestGivesUp checks that a search among fingerprints that share the values of blocks ends early
// and leaves nothing behind.
func TestGivesUp(t *testing.T) {
	fps := make([]uint64, 50_000)
	x := New(fps, 0)
	var s Searcher
	got, compared, ok := s.Look([]uint32{7}, x, len(fps), 0, 3)
	if ok || len(got) != 1 || compared > len(fps)/10 {
		t.Errorf("%v, %d positions, %d compared", ok, len(got), compared)
	}
	if got, _ := s.Find(nil, x, fps, 0, 3); len(got) != len(fps) {
		t.Errorf("found %d", len(got))
	}
}

// TestEstimate checks that small distances are looked up and large ones compared, and that Estimate
// and Probed agree.
func TestEstimate(t *testing.T) {
	for _, n := range []int{0, 1, MinSize - 1, MinSize, 50_000, 1 << 18, 1 << 22} {
		for k := range 65 {
			p := Estimate(n, k)
			if (p.Radii != nil) != Probed(n, k) {
				t.Errorf("%d within %d: %+v, but %v", n, k, p, Probed(n, k))
			}
			sum := 0
			for _, r := range p.Radii {
				sum += r + 1
			}
			if p.Radii != nil && sum != k+1 {
				t.Errorf("%d within %d: radii %v", n, k, p.Radii)
			}
		}
		if n >= MinSize && !Probed(n, 3) {
			t.Errorf("%d within 3 are all compared", n)
		}
		if Probed(n, 20) {
			t.Errorf("%d within 20 are looked up", n)
		}
	}
}

// TestWhileAdding searches while fingerprints are added, each time among those present at the
// start.
func TestWhileAdding(t *testing.T) {
	const n = 3*minEntries + 5
	r := rand.New(rand.NewPCG(5, 5))
	fps := make([]uint64, n)
	for i := range fps {
		fps[i] = near(r, r.Uint64N(300)*0x9e3779b97f4a7c15, r.IntN(8))
	}
	x := New(nil, 0)
	var added atomic.Int64
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			var s Searcher
			var got []uint32
			r := rand.New(rand.NewPCG(6, uint64(g)))
			for last := false; !last; {
				seen := int(added.Load())
				last = seen == n
				q, k := fps[r.IntN(n)], r.IntN(9)
				got, _, _ = s.visit(got[:0], x, uint32(seen), q, k, 1<<30)
				slices.Sort(got)
				if want := brute(fps[:seen], q, k); !slices.Equal(got, want) {
					t.Errorf("%x within %d of %d: got %v, want %v", q, k, seen, got, want)
					return
				}
			}
		})
	}
	for _, fp := range fps {
		x.Add(fp)
		added.Add(1)
	}
	wg.Wait()
}

// TestBytes checks that heads grow with the index: in a small index they need less memory than its
// entries.
func TestBytes(t *testing.T) {
	x := New(nil, 0)
	bytes := x.Bytes()
	for n := range 1 << 18 {
		bytes += x.Add(uint64(n))
		if room := len(x.chains.Load().entries); bytes != x.Bytes() || bytes > room*(entryBytes+4*blocks) || room > max(2*n, minEntries) {
			t.Fatalf("%d bytes for %d fingerprints, %d as added up", x.Bytes(), n+1, bytes)
		}
	}
	if heads := x.Bytes() - entryBytes<<18; heads != 1<<20 {
		t.Errorf("%d bytes of heads", heads)
	}
}
