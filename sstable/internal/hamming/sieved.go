package hamming

import (
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/sieve"
)

// A search within sievedDistance in a table with a sieve is planned by planSieved. It probes each
// table for all leads with the high bits of the query's own, a wide probe, and flippedTable for
// those flips that the sieve lets pass: package sieve says why that is enough. These are 9 probes
// of 50 million fingerprints instead of 24. What several of them find is reported by the first wide
// one, or if there is none, by that of the flip.
const (
	sievedDistance = 3
	flippedTable   = 1
)

// SetSieve gives the index of a table in the layout 3:1 its sieve, which may be nil. It must be
// called before the first search.
func (x *Index) SetSieve(s *sieve.Sieve) {
	if x.sieve = s; s == nil {
		return
	}
	n := len(x.tables)
	x.probed = slices.Clone(x.tables)
	for _, t := range x.tables {
		t.rest |= t.apply(s.LowMask() & t.leadMask)
		t.leadBits = bits.LeadingZeros64(t.rest)
		t.setMean()
		x.probed = append(x.probed, t)
	}
	x.tables = x.probed[:n:n]
}

// sieves reports whether a search within k is to look at the sieve.
func (x *Index) sieves(k int) bool { return x.sieve != nil && k == sievedDistance }

// prepareSieved is what prepare does for a plan that looks at the sieve: it adds the wide probes,
// and prefetches where they lie, and the sieve.
func (x *Index) prepareSieved(s *Searcher, p *searchPlan) {
	s.stats.SieveLines += x.sieve.Prefetch(p.q)
	for t := range x.tables {
		wide := t + len(x.tables)
		table, key := &x.probed[wide], p.keys[t]
		p.keys[wide] = key
		s.probes = append(s.probes, keyrun.Probe{First: key &^ table.rest, Table: uint8(wide)})
		table.run.PrefetchWide(key&^table.rest, key|table.rest)
	}
	p.end = len(s.probes)
}

// planSieved completes the plan of a search that looks at the sieve, and reports whether there is
// one. It does what choose does, and reads a page of the sieve besides, which was prefetched. A
// damaged page is no help, and no harm: the search goes on as without a sieve.
func (x *Index) planSieved(s *Searcher, p *searchPlan) bool {
	if !x.sieves(p.k) {
		return false
	}
	if p.end < len(s.probes) { // others were prepared since, and a plan's probes are side by side
		prepared := s.probes[p.first:p.end]
		p.first = len(s.probes)
		s.probes = append(s.probes, prepared...)
	}
	ns := 0.0
	for i := range x.tables {
		w := &s.probes[p.first+i]
		table := &x.probed[w.Table]
		table.run.LocateWide(w, table.rest, table.most)
		if !w.Exact { // from storage these come while the sieve is read
			table.prefetch(w)
		}
		ns += table.rangeCost(w)
	}
	p.fetched = len(s.probes) - p.first
	flips, err := x.sieve.Flips(p.q)
	if err != nil {
		return false
	}
	table, wide := &x.tables[flippedTable], len(s.probes)
	for flips = table.apply(flips); flips != 0; flips &= flips - 1 {
		lead := (p.keys[flippedTable] ^ flips&-flips) &^ table.rest
		s.probes = append(s.probes, keyrun.Probe{First: lead, Table: flippedTable, Dist: 1})
	}
	added := s.probes[wide:]
	if len(added) > 0 {
		table.run.PrefetchLeads(added)
	}
	// What was prefetched above has arrived by now, and what the flips need is coming.
	x.beginSpans(s, p)
	x.prefetchProbes(s, p, 0, p.fetched, &s.begun)
	if len(added) > 0 {
		ns += x.lookUpShell(flippedTable, p, added)
	}
	if ns > p.limit() { // the query meets hot ranges
		s.begun.spans = s.begun.spans[:p.spans]
		return false
	}
	p.end = len(s.probes)
	p.started = min(p.fetched+x.ahead, p.end-p.first)
	x.prefetchProbes(s, p, p.fetched, p.started, &s.begun)
	x.endSpans(s, p)
	p.own = allocation{ns: ns}
	p.own.radius[flippedTable] = 1
	p.allocation, p.sieved = &p.own, true
	return true
}

// foundWide reports whether the wide probe of table t finds what differs from the query in diff.
func (x *Index) foundWide(t int, diff base.Fingerprint) bool {
	return diff&x.tables[t].leadMask&^x.sieve.LowMask() == 0
}

// foundElsewhere reports whether what a probe of table t has found, and what differs from the query
// in diff, is reported by a probe of another table.
func (x *Index) foundElsewhere(t int, diff base.Fingerprint) bool {
	own := x.foundWide(t, diff)
	for other := range x.tables {
		if (other < t || !own) && x.foundWide(other, diff) {
			return true
		}
	}
	return false
}
