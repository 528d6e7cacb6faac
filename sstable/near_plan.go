package sstable

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

const (
	// maxRadius bounds the radius of one table: beyond it a scan of table 0 is cheaper on anything that fits into memory.
	maxRadius = 8
	// maxShell bounds the probes at one distance in one table, and thereby the memory of a Scratch.
	maxShell = 1 << 18
	// hotBlocks is how many blocks may start in a range before it counts as hot, if it also has twice as many keys as the mean.
	hotBlocks = 4
	// overrun is how many times dearer than expected the looked-up ranges may be before the radii are chosen again.
	overrun = 1.5
	// longer is how many times dearer than expected ranges are if some of them are long.
	longer = 1.1
	// askAbove is the cost in nanoseconds of searches for which it is worth asking what a scan costs, though no range is hot.
	askAbove = 1000
	// surely is how much cheaper than a scan a search has to be that meets hot ranges: it may find more than it expects, a scan does not.
	surely = 0.3
	// lookUpShare is the part of what other radii may cost that may be spent on looking up their ranges.
	lookUpShare = 0.4
)

// allocation is a way of searching: a radius for each table, or a scan.
type allocation struct {
	scan   bool
	flat   bool            // no radius is above 0
	radius [maxTables]int8 // -1: the table is not probed
	ns     float64         // what it is expected to cost
}

// keyRange is one probe: the keys of a run in [first, last]. block and end are the numbers of blocks whose first key is less than
// first, and not greater than last.
type keyRange struct {
	first, last uint64
	run         *keyRun
	info        uint64 // the info word of the block it starts in
	block, end  uint32
	window      uint32 // where the search for it starts in the directory
	table, dist uint8  // of which shell it is
}

// start returns the block that the range starts in.
func (r *keyRange) start() int { return max(int(r.block), 1) - 1 }

// find looks the range up in the directory, from its window on.
func (r *keyRange) find() {
	block, end := r.run.blockRangeFrom(int(r.window), r.first, r.last)
	r.block, r.end = uint32(block), uint32(end)
	r.info = r.run.infoWord(r.start())
}

// planner chooses the radii of one search.
//
// The cost of radius r in table t is the sum over the shells 0..r. Until the ranges of a shell are looked up it is taken to be that
// of mean ranges. plan starts from the best radii for mean ranges, which depend on k alone and are kept. It looks up their ranges, which
// a search must do anyway; if they are not much dearer than expected (uniform keys; a cold place of skewed ones), that is it. Otherwise
// the query has met hot ranges: the radii are chosen again with what is known now, what they need is looked up, until a choice stands
// whose shells are all known, and is far cheaper than a scan. Each step looks up at least one more shell; the look-ups may cost no more than
// a part of the search.
type planner struct {
	ranges []keyRange
	shells [maxTables][maxRadius + 1]float64 // what the probes at one distance in one table cost, from real sizes
	known  [maxTables]int8                   // shells of a table that are looked up

	// Of the dynamic program: best[i][j] is the least cost of the first i disjoint tables with sum(radius+1) = j, and pick the
	// radius+1 of table i-1 in it.
	best [maxLayoutBlocks + 1][maxDistance + 2]float64
	pick [maxLayoutBlocks + 1][maxDistance + 2]int8
}

// A searchPlan is how one table file is searched.
type searchPlan struct {
	*allocation            // nil if nothing is searched
	own         allocation // where radii that were chosen for this query are kept
	first, end  int        // its ranges: planner.ranges[first:end]
	q           uint64     // what is searched for
	k           int
	scanNs      float64 // what a scan for it would cost, 0 while that is not known
}

// aim begins a plan: it asks for the places of the directories that plan will look at first.
func (x *Index) aim(q uint64, k int, s *Scratch, p *searchPlan) {
	if p.allocation = nil; k < 0 || x.tables[0].run.n == 0 || x.damage != nil {
		return
	}
	p.q, p.k, p.scanNs = q, min(k, maxDistance), 0
	p.allocation, p.first = x.standardPlan(p.k, s), len(s.ranges)
	if p.scan {
		return
	}
	s.ranges = slices.Grow(s.ranges, len(x.tables))[:p.first+len(x.tables)]
	p.end = p.first
	for t := range x.tables {
		if p.radius[t] < 0 {
			continue
		}
		table, r := &x.tables[t], &s.ranges[p.end]
		key := table.apply(q)
		r.run, r.first, r.last, r.table, r.dist = table.run, key&^table.rest, key|table.rest, uint8(t), 0
		r.window = uint32(table.run.touch(r.first))
		p.end++
	}
	s.ranges = s.ranges[:p.end]
}

// plan completes a plan and asks for what its search begins with. It reads directories only.
func (x *Index) plan(s *Scratch, p *searchPlan) {
	if p.allocation == nil || p.scan || p.flat && x.findFlat(s.ranges[p.first:p.end]) <= p.limit() {
		return
	}
	p.first = len(s.ranges)
	x.planShells(s, p)
	p.end = len(s.ranges)
	for i := p.first; i < min(p.first+prefetchAhead, p.end); i++ {
		x.prefetch(&s.ranges[i])
	}
}

// findFlat looks up and prefetches the ranges of an allocation without radius above 0, and returns their cost. There are so few of them
// that they are asked for at once.
func (x *Index) findFlat(ranges []keyRange) float64 {
	sum := 0.0
	for i := range ranges {
		r := &ranges[i]
		table := &x.tables[r.table]
		r.find()
		r.prefetch(table.ahead)
		sum += table.rangeCost(int(r.end) - int(r.block))
	}
	return sum
}

// prefetch asks for what the scan of a range begins with.
func (x *Index) prefetch(r *keyRange) { r.prefetch(x.tables[r.table].ahead) }

// limit is the cost of ranges from which on they are much dearer than was expected.
func (a *allocation) limit() float64 { return overrun*a.ns + cost.probe }

// planShells looks up what the standard allocation needs, and chooses another, or a scan, if that is cheaper.
func (x *Index) planShells(s *Scratch, p *searchPlan) {
	clear(s.known[:len(x.tables)])
	limit := p.limit()
	if p.ns > askAbove && x.cheapScan(p) {
		limit = min(limit, x.scanCostOf(p))
	}
	if limit > p.ns { // which is little more than the probes alone cost
		real := x.lookUp(p.allocation, p, limit, s)
		if real <= limit && (real <= askAbove || real <= longer*p.ns || real <= x.scanCostOf(p)) {
			return
		}
		x.planAgain(s, p)
	} else {
		p.own = allocation{scan: true, ns: x.scanCostOf(p)}
	}
	p.allocation = &p.own
	kept := slices.DeleteFunc(s.ranges[p.first:], func(r keyRange) bool { return p.scan || int8(r.dist) > p.radius[r.table] })
	s.ranges = s.ranges[:p.first+len(kept)]
}

// planAgain looks for radii that are far cheaper than a scan, knowing some of the ranges. It takes what is cheap without asking what a scan
// costs.
func (x *Index) planAgain(s *Scratch, p *searchPlan) {
	p.own = allocation{scan: true}
	best := min(askAbove, surely*x.scanCost(p.k))
	if p.scanNs > 0 {
		best = surely * p.scanNs
	}
	for {
		again := x.allocate(p.k, best, s)
		missing := 0.0
		for t := range x.tables {
			for d := int(s.known[t]); d <= int(again.radius[t]); d++ {
				missing += choose(x.tables[t].leadBits, d)
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
		case p.own.scan && p.scanNs == 0 && surely*x.scanCostOf(p) > best:
			best = surely * p.scanNs
			continue
		}
		if p.own.scan {
			p.own.ns = x.scanCostOf(p)
		}
		return
	}
}

// standardPlan returns the best allocation for ranges of mean size.
func (x *Index) standardPlan(k int, s *Scratch) *allocation {
	if a := x.standard[k].Load(); a != nil {
		return a
	}
	clear(s.known[:len(x.tables)])
	a := x.allocate(k, math.Inf(1), s)
	if every := x.everyTable(k); every.ns < a.ns {
		a = every
	}
	if scan := x.scanCost(k); a.ns >= scan {
		a = allocation{scan: true, ns: scan}
	}
	a.flat = !a.scan && slices.Max(a.radius[:len(x.tables)]) <= 0
	x.standard[k].Store(&a)
	return &a
}

// everyTable probes all tables with one radius: 0 for k <= m-c, which is how the layouts with c > 1 are meant.
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

// meanShell is the cost of the probes at distance d in table t if their ranges are of mean size; infinite if there are too many.
func (x *Index) meanShell(t, d int) float64 {
	lead := x.tables[t].leadBits
	if d > lead {
		return 0
	}
	probes := choose(lead, d)
	if d > maxRadius || probes > maxShell {
		return math.Inf(1)
	}
	return probes * x.tables[t].probe
}

// allocate finds the cheapest radii of the disjoint tables with sum(radius+1) = k+1 by dynamic programming over the tables.
// Radii of one table that cost the limit or more are left out; if nothing is left, the cost is infinite.
func (x *Index) allocate(k int, limit float64, s *Scratch) allocation {
	need := k + 1
	for j := 1; j <= need; j++ {
		s.best[0][j] = math.Inf(1)
	}
	for i, t := range x.disjoint {
		copy(s.best[i+1][:need+1], s.best[i][:need+1])
		clear(s.pick[i+1][:need+1])
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

// knownCost returns the real cost of an allocation whose shells are all looked up.
func (p *planner) knownCost(a *allocation, tables int) float64 {
	sum := 0.0
	for t := range tables {
		for d := range int(a.radius[t]) + 1 {
			sum += p.shells[t][d]
		}
	}
	return sum
}

// lookUp finds the ranges of the shells that an allocation needs and that are not known yet, the nearest of all tables first. It returns what
// the allocation really costs, or infinity, and stops, once that is more than the limit.
func (x *Index) lookUp(a *allocation, p *searchPlan, limit float64, s *Scratch) float64 {
	sum := 0.0
	for d, more := 0, true; more; d++ {
		more = false
		for t := range x.tables {
			if d > int(a.radius[t]) {
				continue
			}
			more = true
			if d == int(s.known[t]) {
				x.lookUpShell(t, d, p, s)
				s.known[t]++
			}
			if sum += s.shells[t][d]; sum > limit {
				return math.Inf(1)
			}
		}
	}
	return sum
}

// lookUpShell finds the ranges of table t whose lead is d bits away from the query's.
func (x *Index) lookUpShell(t, d int, plan *searchPlan, s *Scratch) {
	table := &x.tables[t]
	key := table.apply(plan.q)
	lead := table.leadBits
	s.shells[t][d] = 0
	if d > lead {
		return
	}
	start := len(s.ranges)
	first := key &^ table.rest
	flip := uint64(1)<<uint(d) - 1
	for n := choose(lead, d); n > 0; n-- {
		p := keyRange{run: table.run, table: uint8(t), dist: uint8(d), first: first ^ flip<<uint(64-lead)}
		p.last = p.first | table.rest
		p.window = uint32(table.run.touch(p.first))
		s.ranges = append(s.ranges, p)
		if d > 0 { // Gosper's hack: the next number with as many ones
			low := flip & -flip
			up := flip + low
			flip = up | (flip^up)>>2>>uint(bits.TrailingZeros64(low))
		}
	}
	sum := 0.0
	for i := start; i < len(s.ranges); i++ {
		p := &s.ranges[i]
		p.find()
		if p.end <= p.block+hotBlocks {
			sum += table.rangeCost(int(p.end) - int(p.block))
		} else {
			sum += x.hotCost(t, key, plan.k, p)
		}
	}
	s.shells[t][d] = sum
}

// choose returns the number of ways to choose k of n.
func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return math.Round(c)
}

// Plan says how a search would be done.
type Plan struct {
	Method     string  // "probe" or "scan"
	Radii      []int   // of each table, -1 where it is not probed; nil for a scan
	Probes     int     // ranges to look up
	Candidates int     // keys to compare, estimated from the real sizes of the ranges
	Cost       float64 // nanoseconds, estimated
}

// String returns one line: "probe 4:[0 0 0 0], 4 probes, about 610 candidates".
func (p Plan) String() string {
	if p.Method == "scan" {
		return fmt.Sprintf("scan, %d candidates", p.Candidates)
	}
	radii := strings.Trim(fmt.Sprint(p.Radii), "[]")
	return fmt.Sprintf("probe radii %s, %d probes, about %d candidates", radii, p.Probes, p.Candidates)
}

// Plan returns how Near(q, k) would search. It reads directories only.
func (x *Index) Plan(q uint64, k int, s *Scratch) Plan {
	if k < 0 || x.tables[0].run.n == 0 || x.damage != nil {
		return Plan{Method: "scan"}
	}
	a := &searchPlan{q: q, k: min(k, maxDistance)}
	s.ranges = s.ranges[:0]
	if a.allocation = x.standardPlan(a.k, s); !a.scan {
		x.planShells(s, a)
	}
	if a.scan {
		return Plan{Method: "scan", Candidates: x.tables[0].run.n, Cost: x.scanCostOf(a)}
	}
	p := Plan{Method: "probe", Cost: s.knownCost(a.allocation, len(x.tables))}
	for t := range x.tables {
		p.Radii = append(p.Radii, int(a.radius[t]))
	}
	p.Probes = len(s.ranges)
	keys := 0.0
	for _, r := range s.ranges {
		if r.end > r.block+1 {
			keys += float64((r.end - r.block) * blockKeys)
		} else {
			keys += x.tables[r.table].mean
		}
	}
	p.Candidates = int(math.Round(keys))
	return p
}
