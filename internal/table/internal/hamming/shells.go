package hamming

import (
	"math"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// lookUp finds the ranges of those shells of an allocation that are not known yet, the nearest
// shells of all tables first. It returns the real cost of the allocation; as soon as that exceeds
// the limit, it stops and returns infinity.
func (x *Index) lookUp(a *allocation, p *searchPlan, limit float64, s *Searcher) float64 {
	// Two passes in the same order: the first adds the probes of all missing shells and prefetches
	// their directory entries; the second reads these entries, shell by shell.
	first := len(s.probes)
	x.eachShell(a, func(t, d int) bool {
		if d >= int(s.known[t]) {
			x.addShell(t, d, p, s)
		}
		return true
	})
	sum := 0.0
	x.eachShell(a, func(t, d int) bool {
		if d == int(s.known[t]) {
			n := x.tables[t].shell[d]
			s.shells[t][d] = x.lookUpShell(t, p, s.probes[first:first+n])
			first += n
			s.known[t]++
		}
		sum += s.shells[t][d]
		return sum <= limit
	})
	// Drop the probes of shells that were not reached: known does not count them.
	s.probes = s.probes[:first]
	if sum > limit {
		return math.Inf(1)
	}
	return sum
}

// eachShell calls f for the shells of an allocation, the nearest of all tables first, until f
// returns false.
func (x *Index) eachShell(a *allocation, f func(t, d int) bool) {
	for d, more := 0, true; more; d++ {
		more = false
		for t := range x.tables {
			if d > int(a.radius[t]) {
				continue
			}
			if more = true; !f(t, d) {
				return
			}
		}
	}
}

// addShell adds the probes of table t whose lead is d bits away from the query's, and prefetches
// the data for looking them up. There are ways(leadBits, d) probes. Multi-index hashing enumerates
// the same neighbours of each substring (Norouzi et al. 2014).
func (x *Index) addShell(t, d int, plan *searchPlan, s *Searcher) {
	table := &x.tables[t]
	n, start := table.shell[d], len(s.probes)
	if n == 0 {
		return
	}
	s.probes = slices.Grow(s.probes, n)[:start+n]
	added := s.probes[start:]
	first, shift := plan.keys[t]&^table.rest, uint(64-table.leadBits)
	flip := uint64(1)<<uint(d) - 1
	for i := range added {
		p := &added[i]
		p.First, p.Table, p.Dist = first^flip<<shift, uint8(t), uint8(d)
		if d > 0 { // the next number with as many ones: Gosper's hack, HAKMEM item 175
			low := flip & -flip
			up := flip + low
			flip = up | (flip^up)>>2>>uint(bits.TrailingZeros64(low))
		}
	}
	table.run.PrefetchLeads(added)
}

// lookUpShell looks up the probes of a shell of table t, and returns their cost.
func (x *Index) lookUpShell(t int, plan *searchPlan, probes []keyrun.Probe) float64 {
	table := &x.tables[t]
	ns := float64(len(probes))*cost.probe + float64(table.run.LocateAll(probes, table.rest, table.most))*cost.key
	for i := range probes {
		if p := &probes[i]; p.Exact {
			continue
		} else if p.To <= p.From+hotBlocks {
			ns += table.rangeCost(p) - cost.probe
		} else {
			ns += x.hotCost(t, plan.keys[t], plan.k, p) - cost.probe
		}
	}
	return ns
}

// prefetch prefetches the data with which the scan of p starts. p is not exact.
func (t *permuted) prefetch(p *keyrun.Probe) {
	var r keyrun.Range
	t.run.SetRange(&r, p, t.rest)
	r.Prefetch(t.ahead)
}
