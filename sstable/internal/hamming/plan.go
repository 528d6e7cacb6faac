package hamming

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/simdb/simdb/sstable/internal/keyrun"
)

const (
	// maxRadius bounds the radius of one table: beyond it a scan of table 0 is cheaper on anything that fits into memory.
	maxRadius = 8
	// maxShell bounds the probes at one distance in one table, and thereby the memory of a Searcher.
	maxShell = 1 << 18
	// hotBlocks is how many blocks may start in a range before it counts as hot, if it also has twice as many keys as the mean.
	hotBlocks = 4
	// overrun is how many times dearer than expected the looked-up ranges may be before the radii are chosen again.
	overrun = 1.5
	// longer is how many times dearer than expected ranges are if some of them are long.
	longer = 1.1
	// askAbove is the cost in nanoseconds of searches for which it is worth asking what a scan costs, though no range is hot.
	askAbove = 1000
	// trifling is the part of a scan of uniform keys below which ranges are taken as they are.
	trifling = 0.5
	// clearly is how much cheaper than a scan a search of mean ranges has to be.
	clearly = 0.7
	// surely is how much cheaper than a scan a search has to be that meets hot ranges: it may find more than it expects, a scan does not.
	surely = 0.3
	// lookUpShare is the part of what other radii may cost that may be spent on looking up their ranges.
	lookUpShare = 0.4
)

// allocation is a way of searching: a radius for each table, or a scan.
type allocation struct {
	scan   bool
	flat   bool            // no radius is above 0
	radius [MaxTables]int8 // -1: the table is not probed
	ns     float64         // what it is expected to cost
	trifle float64         // what its ranges may cost without a look for others, which takes as long
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
	probes []keyrun.Probe
	shells [MaxTables][maxRadius + 1]float64 // what the probes at one distance in one table cost, from real sizes
	known  [MaxTables]int8                   // shells of a table that are looked up

	// Of the dynamic program: best[i][j] is the least cost of the first i disjoint tables with sum(radius+1) = j, and pick the
	// radius+1 of table i-1 in it.
	best [maxLayoutBlocks + 1][maxDistance + 2]float64
	pick [maxLayoutBlocks + 1][maxDistance + 2]int8
}

// A searchPlan is how one table file is searched.
type searchPlan struct {
	*allocation            // nil if nothing is searched
	own         allocation // where radii that were chosen for this query are kept
	first, end  int        // its probes: planner.probes[first:end]
	q           uint64     // what is searched for
	k           int
	keys        [MaxTables]uint64 // q permuted, for each table

	asked           int        // probes that it begins with
	spans, spansEnd int        // Searcher.begun[spans:spansEnd]
	flatNs          float64    // what its ranges cost, if it is flat
	spanned         int        // how many of them are spanned then
	begun           spanCounts // of these
	scanNs          float64    // what a scan for it would cost, 0 while that is not known
}

// prepare begins a plan: it asks for the places of the directories that plan will look at first.
func (x *Index) prepare(q uint64, k int, s *Searcher, p *searchPlan) {
	if p.allocation = nil; k < 0 || x.tables[0].run.Len() == 0 || x.damage != nil {
		return
	}
	p.q, p.k, p.scanNs = q, min(k, maxDistance), 0
	x.permute(s, p)
	p.allocation, p.first = x.standardPlan(p.k, s), len(s.probes)
	if p.scan {
		return
	}
	s.probes = slices.Grow(s.probes, len(x.tables))[:p.first+len(x.tables)]
	p.end = p.first
	for t := range x.tables {
		if p.radius[t] < 0 {
			continue
		}
		table, r := &x.tables[t], &s.probes[p.end]
		r.First, r.Table, r.Dist = p.keys[t]&^table.rest, uint8(t), 0
		if table.mean < fewSpanKeys {
			table.run.PrefetchLead(r.First)
		} else {
			r.From = uint32(table.run.PrefetchWindow(r.First))
		}
		p.end++
	}
	s.probes = s.probes[:p.end]
}

// resolveLeads goes on with a plan: it looks up the ranges of one without radius above 0, and asks for the places of the directories where the blocks
// are that they lie in.
func (x *Index) resolveLeads(s *Searcher, p *searchPlan) {
	if p.allocation != nil && p.flat {
		p.flatNs, p.spanned = x.findFlat(s.probes[p.first:p.end])
	}
}

// choose completes a plan and asks for what its search begins with. It reads directories only.
func (x *Index) choose(s *Searcher, p *searchPlan) {
	if p.allocation == nil || p.scan {
		return
	}
	if p.flat && p.flatNs <= max(p.limit(), p.trifle) {
		x.begin(s, p, p.end-p.first)
		return
	}
	p.first = len(s.probes)
	x.planShells(s, p)
	p.end = len(s.probes)
	x.begin(s, p, x.ahead)
}

// begin asks for what the first probes of a plan need. Without radius above 0 there are so few of them that all are asked for at once.
func (x *Index) begin(s *Searcher, p *searchPlan, probes int) {
	p.asked, p.spans = min(probes, p.end-p.first), len(s.begun.spans)
	s.begun.rest, s.begun.keys = 0, 0
	if p.flat && p.spanned == 0 { // findFlat has asked for all
		s.begun.rest = p.asked
	} else {
		x.ask(s, p, 0, p.asked, &s.begun)
	}
	p.begun.rest, p.begun.keys, p.spansEnd = s.begun.rest, s.begun.keys, len(s.begun.spans)
}

// findFlat looks up the ranges of an allocation without radius above 0, and returns their cost and how many are spanned.
func (x *Index) findFlat(probes []keyrun.Probe) (sum float64, spanned int) {
	var r keyrun.Range
	for i := range probes {
		p := &probes[i]
		t := &x.tables[p.Table]
		if t.mean < fewSpanKeys {
			t.run.LocateAll(probes[i:i+1], t.rest, t.most)
		} else {
			t.run.LocateFrom(p, t.rest, int(p.From))
		}
		if p.Exact {
			spanned++
		} else { // at once, before the next one has to wait for its directory
			t.run.SetRange(&r, p, t.rest)
			r.Prefetch(t.ahead)
		}
		sum += t.rangeCost(p)
	}
	return sum, spanned
}

// limit is the cost of ranges from which on they are much dearer than was expected.
func (a *allocation) limit() float64 { return overrun*a.ns + cost.probe }

// planShells looks up what the standard allocation needs, and chooses another, or a scan, if that is cheaper.
func (x *Index) planShells(s *Searcher, p *searchPlan) {
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
	kept := slices.DeleteFunc(s.probes[p.first:], func(r keyrun.Probe) bool { return p.scan || int8(r.Dist) > p.radius[r.Table] })
	s.probes = s.probes[:p.first+len(kept)]
}

// planAgain looks for radii that are far cheaper than a scan, knowing some of the ranges. It takes what is cheap without asking what a scan
// costs.
func (x *Index) planAgain(s *Searcher, p *searchPlan) {
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
func (x *Index) standardPlan(k int, s *Searcher) *allocation {
	if a := x.standard[k].Load(); a != nil {
		return a
	}
	clear(s.known[:len(x.tables)])
	a := x.allocate(k, math.Inf(1), s)
	if every := x.everyTable(k); every.ns < a.ns {
		a = every
	}
	// A scan has what is near at once; a search by probes mostly finds one fingerprint, in two tables, and looks for its documents.
	found := 2*cost.confirm + x.resolveNs
	if scan := x.scanCost(k); a.ns+found >= clearly*scan {
		a = allocation{scan: true, ns: scan}
	}
	a.trifle = min(askAbove, trifling*x.scanCost(k))
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
func (x *Index) allocate(k int, limit float64, s *Searcher) allocation {
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
func (x *Index) lookUp(a *allocation, p *searchPlan, limit float64, s *Searcher) float64 {
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
	s.probes = s.probes[:first]
	if sum > limit {
		return math.Inf(1)
	}
	return sum
}

// eachShell calls f for the shells of an allocation, the nearest of all tables first, until it returns false.
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

// addShell adds the probes of table t whose lead is d bits away from the query's, and asks for what looking them up reads.
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
		if d > 0 { // Gosper's hack: the next number with as many ones
			low := flip & -flip
			up := flip + low
			flip = up | (flip^up)>>2>>uint(bits.TrailingZeros64(low))
		}
	}
	table.run.PrefetchLeads(added)
}

// lookUpShell looks up the probes of a shell of table t, and returns what they cost.
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

// String returns one line: "probe radii 0 0 0 0, 4 probes, about 610 candidates", or "scan, 1100000 candidates".
func (p Plan) String() string {
	if p.Method == "scan" {
		return fmt.Sprintf("scan, %d candidates", p.Candidates)
	}
	radii := strings.Trim(fmt.Sprint(p.Radii), "[]")
	return fmt.Sprintf("probe radii %s, %d probes, about %d candidates", radii, p.Probes, p.Candidates)
}

// Plan returns how Near(x, q, k) would search. It reads directories only.
func (s *Searcher) Plan(x *Index, q uint64, k int) Plan {
	a := s.planOne(x, q, k)
	if a.allocation == nil {
		return Plan{Method: "scan"}
	}
	if a.scan {
		return Plan{Method: "scan", Candidates: x.tables[0].run.Len(), Cost: x.scanCostOf(a)}
	}
	p := Plan{Method: "probe", Cost: a.flatNs}
	if !a.flat {
		p.Cost = s.knownCost(a.allocation, len(x.tables))
	}
	for t := range x.tables {
		p.Radii = append(p.Radii, int(a.radius[t]))
	}
	p.Probes = a.end - a.first
	keys := 0.0
	for _, r := range s.probes[a.first:a.end] {
		if r.Exact {
			keys += float64(r.To - r.From)
		} else if r.To > r.From+1 {
			keys += float64((r.To - r.From) * keyrun.BlockLen)
		} else {
			keys += x.tables[r.Table].mean
		}
	}
	p.Candidates = int(math.Round(keys))
	return p
}
