package memindex

import (
	"math/bits"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/kernel"
)

// A Plan says how a search is carried out.
type Plan struct {
	Radii  []int   // of each block, -1 if it is not looked up; nil if all fingerprints are compared
	Probes int     // values to look up
	Visits int     // expected number of fingerprints to compare, if their bits are independent
	Cost   float64 // estimated nanoseconds on one core
}

// Costs in nanoseconds: of a search, of each value of a block, and of comparing one fingerprint in
// a scan. Visiting an entry costs visitCost while the index fits into the second-level cache, plus
// visitMore for each fingerprint beyond cachedSize.
const (
	callCost   = 20
	probeCost  = 2
	scanCost   = 0.085
	visitCost  = 4
	visitMore  = 0.00015
	cachedSize = 1 << 16
)

// visit returns the cost of visiting an entry in an index of n fingerprints.
func visit(n int) float64 { return visitCost + visitMore*float64(max(0, n-cachedSize)) }

// masks[b] are the b-bit values with at most maxRadius bits set, those with fewer bits first; the
// first maskEnds[b][r] have at most r.
var masks, maskEnds = func() (masks [blockBits + 1][]uint16, ends [blockBits + 1][maxRadius + 1]int) {
	for r := range maxRadius + 1 {
		for m := range 1 << blockBits {
			if bits.OnesCount(uint(m)) != r {
				continue
			}
			for b := bits.Len(uint(m)); b <= blockBits; b++ {
				masks[b] = append(masks[b], uint16(m))
				ends[b][r] = len(masks[b])
			}
		}
	}
	return masks, ends
}()

// radii returns the radii of the blocks for a distance of k: the sum of each radius plus one is
// k+1.
func radii(k int) (r [blocks]int) {
	for b := range r {
		r[b] = (k+blocks-b)/blocks - 1
	}
	return r
}

// probes returns how many values a search of n fingerprints looks up, or 0 if they are too many.
func probes(n, k int) (all int) {
	r := radii(k)
	if r[0] > maxRadius { // the largest radius
		return 0
	}
	ends := &maskEnds[valueBits(n)]
	for _, r := range r {
		if r >= 0 {
			all += ends[r]
		}
	}
	return all
}

// Estimate returns the plan of a search within k bits among n fingerprints, 0 <= k <= 64.
func Estimate(n, k int) Plan {
	p := Plan{Probes: probes(n, k)}
	p.Visits = p.Probes * n >> valueBits(n)
	p.Cost = callCost + probeCost*float64(p.Probes) + visit(n)*float64(p.Visits)
	if scan := scanCost * float64(n); n < MinSize || p.Probes == 0 || p.Cost > scan {
		return Plan{Visits: n, Cost: scan}
	}
	r := radii(k)
	p.Radii = r[:]
	return p
}

// Probed reports whether Estimate would look up values.
func Probed(n, k int) bool {
	if n < MinSize {
		return false
	}
	p := probes(n, k)
	return p > 0 && callCost+probeCost*float64(p)+visit(n)*float64(p*n>>valueBits(n)) <= scanCost*float64(n)
}

// A Searcher holds the buffers of searches, one at a time. The zero value is ready to use.
type Searcher struct {
	chains  []chain
	seen    positionSet // empty between searches
	prefix  prefix
	members [hot.Together]uint32
}

// A chain is the current position of a search in a chain of a block, or of a tag: one plus the
// position of the next entry to visit.
type chain struct{ at, block uint32 }

// Find appends to dst the positions of fps within k bits of q, 0 <= k <= 64, each once and in no
// particular order, and returns how many fingerprints it compared. fps are the first fingerprints
// of x, which may be nil.
func (s *Searcher) Find(dst []uint32, x *Index, fps []base.Fingerprint, q base.Fingerprint, k int) (found []uint32, compared int) {
	if found, compared, ok := s.Look(dst, x, len(fps), q, k); ok {
		return found, compared
	}
	return kernel.ScanFlat(dst, fps, q, k), len(fps)
}

// Look is Find among the first n fingerprints of x by looking up values only. ok is false, and
// nothing is found, if comparing all fingerprints is cheaper.
func (s *Searcher) Look(dst []uint32, x *Index, n int, q base.Fingerprint, k int) (found []uint32, compared int, ok bool) {
	if x == nil || !Probed(n, k) {
		return dst, 0, false
	}
	// Estimates are far too low if many fingerprints share the values of blocks. Visiting ends when
	// it has cost as much as comparing all.
	return s.visit(dst, x, uint32(n), q, k, probes(n, k)+int(scanCost*float64(n)/visit(n)))
}

// visit is Look, which gives up after about most visits.
func (s *Searcher) visit(dst []uint32, x *Index, n uint32, q base.Fingerprint, k, most int) (found []uint32, visits int, ok bool) {
	first, radius := len(dst), radii(k)
	c := x.chains.Load()
	chains, entries, mask := s.heads(c, q, &radius), c.entries, c.mask()
	for len(chains) > 0 {
		if visits += len(chains); visits > most {
			return dst[:first], visits, false
		}
		left := 0
		for _, c := range chains {
			e := &entries[c.at-1]
			if diff := e.fp ^ q; bits.OnesCount64(diff) <= k && c.at <= n && firstIn(diff, c.block, mask, &radius) {
				dst = append(dst, c.at-1)
			}
			c.at = e.next[c.block%blocks]
			chains[left] = c
			left += nonzero(c.at)
		}
		chains = chains[:left]
	}
	return dst, visits, true
}

// heads returns the chains of all values within the radii of the values of q.
func (s *Searcher) heads(c *chains, q base.Fingerprint, radius *[blocks]int) []chain {
	masks, ends := masks[c.bits], &maskEnds[c.bits]
	chains, n := s.buffers(blocks*len(masks)), 0
	for b, r := range radius {
		if r < 0 {
			continue
		}
		own, heads := uint16(q>>(b*blockBits))&c.mask(), c.headsOf(b)
		for _, m := range masks[:ends[r]] {
			at := heads[own^m].Load()
			chains[n] = chain{at, uint32(b)}
			n += nonzero(at)
		}
	}
	return chains[:n]
}

// buffers returns space for n chains and one more.
func (s *Searcher) buffers(n int) []chain {
	if len(s.chains) <= n {
		s.chains = make([]chain, n+1)
	}
	return s.chains
}

// nonzero returns 1 if v is not 0, else 0, without a branch: lengths of chains are unpredictable.
func nonzero(v uint32) int { return int((v | -v) >> 31) }

// firstIn reports whether block is the first whose difference from the query is within its radius.
// diff is the difference of the whole fingerprint; mask selects the bits of a block that count.
// Only the first such block yields a hit, so that each fingerprint is found once.
func firstIn(diff uint64, block uint32, mask uint16, radius *[blocks]int) bool {
	for b := range block {
		if bits.OnesCount16(uint16(diff>>(b*blockBits))&mask) <= radius[b] {
			return false
		}
	}
	return true
}
