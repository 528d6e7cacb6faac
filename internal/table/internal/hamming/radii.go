package hamming

import (
	"math"
	"slices"

	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// knownCost returns the real cost of an allocation whose shells have all been looked up.
func (p *planner) knownCost(a *allocation, tables int) float64 {
	sum := 0.0
	for t := range tables {
		for d := range int(a.radius[t]) + 1 {
			sum += p.shells[t][d]
		}
	}
	return sum
}

// planShells looks up the ranges of the standard allocation, and chooses other radii, or a scan, if
// that is cheaper.
func (x *Index) planShells(s *Searcher, p *searchPlan) {
	// The ranges of the standard radii may cost up to limit; a scan known to be cheaper lowers it.
	// Nothing is estimated if even a scan that skips all blocks would take longer.
	clear(s.known[:len(x.tables)])
	limit := p.limit()
	if p.ns > scanEstimateAbove && x.leastScan < limit && x.cheapScan(p) {
		limit = min(limit, x.scanCostOf(p))
	}
	if limit > p.ns { // otherwise the probes alone cost nearly as much
		real := x.lookUp(p.allocation, p, limit, s)
		if real <= limit && (real <= scanEstimateAbove || real <= longRangeRatio*p.ns || real <= x.scanCostOf(p)) {
			return
		}
		x.planAgain(s, p)
	} else {
		p.own = allocation{scan: true, ns: x.scanCostOf(p)}
	}
	// Drop the probes of shells that the new radii do not include.
	p.allocation = &p.own
	kept := slices.DeleteFunc(s.probes[p.first:], func(r keyrun.Probe) bool { return p.scan || int8(r.Dist) > p.radius[r.Table] })
	s.probes = s.probes[:p.first+len(kept)]
}

// planAgain looks for radii that are far cheaper than a scan, with the real costs of some ranges
// known by now. It accepts very cheap radii without estimating the scan.
func (x *Index) planAgain(s *Searcher, p *searchPlan) {
	// best is the cost that radii must beat: first a share of a scan of uniform keys, then a share
	// of this query's scan, and the best radii so far. Every round but the last looks up an unknown
	// shell, or estimates the scan, which happens once; so the loop ends.
	p.own = allocation{scan: true}
	best := min(scanEstimateAbove, hotPlanMargin*x.scanCost(p.k))
	if p.scanNs > 0 {
		best = hotPlanMargin * p.scanNs
	}
	for {
		again := x.allocate(p.k, best, s)
		// The number of ranges to look up before the real cost of these radii is known.
		missing := 0.0
		for t := range x.tables {
			for d := int(s.known[t]); d <= int(again.radius[t]); d++ {
				missing += ways(x.tables[t].leadBits, d)
			}
		}
		switch {
		case again.ns < best && missing*cost.lookUp <= lookUpShare*best:
			if again.ns = x.lookUp(&again, p, best, s); again.ns < best {
				p.own, best = again, again.ns
			}
			if missing > 0 {
				continue
			}
		case p.own.scan && p.scanNs == 0 && hotPlanMargin*x.scanCostOf(p) > best:
			best = hotPlanMargin * p.scanNs
			continue
		}
		if p.own.scan {
			p.own.ns = x.scanCostOf(p)
		}
		return
	}
}

// standardPlan returns the best allocation for ranges of mean size. It depends only on k and is
// cached; searches that compute it at the same time store equal values.
func (x *Index) standardPlan(k int, s *Searcher) *allocation {
	if a := x.standard[k].Load(); a != nil {
		return a
	}
	clear(s.known[:len(x.tables)])
	a := x.allocate(k, math.Inf(1), s)
	if every := x.everyTable(k); every.ns < a.ns {
		a = every
	}
	// A scan has the documents at once; a search by probes usually finds one fingerprint, in two
	// tables, and then looks up its documents.
	found := 2*cost.confirm + x.resolveNs
	if scan := x.scanCost(k); a.ns+found >= scanMargin*scan {
		a = allocation{scan: true, ns: scan}
	}
	a.acceptNs = min(scanEstimateAbove, acceptShare*x.scanCost(k))
	a.flat = !a.scan && slices.Max(a.radius[:len(x.tables)]) <= 0
	x.standard[k].Store(&a)
	return &a
}

// everyTable probes all tables with one radius: 0 for k <= m-c, as layouts with c > 1 are meant to
// be used (Manku et al. 2007, section 3). k differing bits are in at most k of the m blocks, so
// some c of the others agree.
func (x *Index) everyTable(k int) allocation {
	r := x.layout.radius(k)
	var a allocation
	for t := range x.tables {
		a.radius[t] = int8(min(r, maxRadius))
		for d := range r + 1 {
			a.ns += x.meanShell(t, d)
		}
	}
	return a
}

// meanShell is the cost of the probes at distance d in table t if their ranges are of mean size;
// infinite if there are too many.
func (x *Index) meanShell(t, d int) float64 {
	lead := x.tables[t].leadBits
	if d > lead {
		return 0
	}
	probes := ways(lead, d)
	if d > maxRadius || probes > maxShell {
		return math.Inf(1)
	}
	return probes * x.tables[t].probe
}

// allocate finds the cheapest radii of the disjoint tables with sum(radius+1) = k+1 by dynamic
// programming over the tables, as GPH allocates its thresholds (Qin et al. 2018). A smaller sum
// could miss a fingerprint, a greater one only costs more. Radii of one table that cost the limit
// or more are left out; if none remain, the cost is infinite. It needs tables x radii x k steps, so
// only searches that meet hot ranges pay for it.
func (x *Index) allocate(k int, limit float64, s *Searcher) allocation {
	// No tables: sum 0 costs nothing, and no other sum is possible.
	need := k + 1
	for j := 1; j <= need; j++ {
		s.best[0][j] = math.Inf(1)
	}
	for i, t := range x.disjoint {
		copy(s.best[i+1][:need+1], s.best[i][:need+1])
		clear(s.pick[i+1][:need+1])
		// Table t with radius r adds r+1 to the sum of radii+1, and costs its shells 0..r.
		sum := 0.0
		for r := range min(maxRadius, k) + 1 {
			if r < int(s.known[t]) {
				sum += s.shells[t][r]
			} else {
				sum += x.meanShell(t, r)
			}
			if sum >= limit {
				break
			}
			for j := r + 1; j <= need; j++ {
				if c := s.best[i][j-r-1] + sum; c < s.best[i+1][j] {
					s.best[i+1][j], s.pick[i+1][j] = c, int8(r+1)
				}
			}
		}
	}
	// Walk back through the choices.
	a := allocation{ns: s.best[len(x.disjoint)][need]}
	for t := range x.tables {
		a.radius[t] = -1
	}
	for i := len(x.disjoint); i > 0; i-- {
		p := s.pick[i][need]
		a.radius[x.disjoint[i-1]] = p - 1
		need -= int(p)
	}
	return a
}

// limit is the cost above which looked-up ranges count as much larger than expected.
func (a *allocation) limit() float64 { return overrunRatio*a.ns + cost.probe }
