package hamming

import (
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// A short search is one of a few ranges in a table that stays in a near cache. Its steps one after
// the other, each over all ranges, cost more than the comparison of the keys, which are only some
// tens. Therefore they are one loop, which the processor overlaps by itself.

// lookUpAtOnce is all steps before the execution for a short plan. It returns false if any range is
// not known exactly, or all together cost more than expected: then expand plans the search.
func (x *Index) lookUpAtOnce(s *Searcher, p *searchPlan) bool {
	p.first, p.spans = len(s.probes), len(s.begun.spans)
	s.begun.keys = 0
	for t := range x.tables {
		if p.radius[t] < 0 {
			continue
		}
		table, n := &x.tables[t], len(s.probes)
		if s.probes = append(s.probes, keyrun.Probe{First: p.keys[t] &^ table.rest, Table: uint8(t)}); !table.run.LocateLead(&s.probes[n], table.most) {
			return false
		}
		if table.addSpans(p, s.probes[n:], n-p.first, &s.begun) == 0 {
			return false
		}
	}
	kernel.PrefetchSpans(s.begun.spans[p.spans:])
	p.end = len(s.probes)
	p.started, p.spansEnd, p.begun = p.end-p.first, len(s.begun.spans), spanCounts{keys: s.begun.keys}
	p.exact, p.flatNs = p.started, float64(p.started)*cost.probe+float64(s.begun.keys)*cost.key
	return p.flatNs <= max(p.limit(), p.acceptNs)
}

// expand plans a short search in the usual steps.
func (x *Index) expand(s *Searcher, p *searchPlan) {
	p.short = false
	x.prefetchLeads(s, p)
	x.resolveLeads(s, p)
	x.choose(s, p)
}
