package hamming

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// prepare is the first step of a search: it chooses the best radii for ranges of mean size and
// prefetches the parts of the directories that resolveLeads, or choose, read first.
func (x *Index) prepare(q base.Fingerprint, k int, s *Searcher, p *searchPlan) {
	if p.allocation = nil; k < 0 || x.tables[0].run.Len() == 0 || x.damage != nil {
		return
	}
	p.q, p.k, p.scanNs = q, min(k, maxDistance), 0
	x.permute(s, p)
	p.allocation, p.first = x.standardPlan(p.k, s), len(s.probes)
	if p.short = x.cached && p.flat; !p.scan && !p.short {
		x.prefetchLeads(s, p)
	}
}

// prefetchLeads adds the probes of the plan's leads.
func (x *Index) prefetchLeads(s *Searcher, p *searchPlan) {
	p.first = len(s.probes)
	s.probes = slices.Grow(s.probes, len(x.tables))[:p.first+len(x.tables)]
	p.end = p.first
	for t := range x.tables {
		if p.radius[t] < 0 {
			continue
		}
		// Short ranges are located through the lead index, longer ones by a search in a window of
		// the directory.
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

// permute computes the keys of a plan. The tables of a database usually have one layout, so the
// query of a group is permuted once and the keys are copied from the last plan. A pointer into
// another plan would not be safe, because later searches overwrite plans.
func (x *Index) permute(s *Searcher, p *searchPlan) {
	if last := s.permuted; last != nil && last != p && last.q == p.q && s.layout == x.layout {
		for t := range x.tables {
			p.keys[t] = last.keys[t]
		}
		return
	}
	for t := range x.tables {
		p.keys[t] = x.tables[t].apply(p.q)
	}
	s.permuted, s.layout = p, x.layout
}

// resolveLeads is the second step: for a plan without a radius above 0, it looks up the ranges and
// prefetches the directory entries of their blocks. Other plans have many ranges, which are looked
// up together in the third step.
func (x *Index) resolveLeads(s *Searcher, p *searchPlan) {
	if p.allocation != nil && p.flat && !p.short {
		p.flatNs, p.exact = x.findFlat(s.probes[p.first:p.end])
	}
}

// findFlat looks up the ranges of an allocation without a radius above 0, and returns their cost
// and the number of exact ones.
func (x *Index) findFlat(probes []keyrun.Probe) (sum float64, exact int) {
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
			exact++
		} else { // now, before the next look-up has to wait for its directory
			t.run.SetRange(&r, p, t.rest)
			r.Prefetch(t.ahead)
		}
		sum += t.rangeCost(p)
	}
	return sum, exact
}

// choose is the third step: it completes a plan and prefetches the data with which its execution
// starts. It reads directories only.
func (x *Index) choose(s *Searcher, p *searchPlan) {
	if p.allocation == nil || p.scan || p.short {
		return
	}
	if p.flat && p.flatNs <= max(p.limit(), p.acceptNs) {
		x.begin(s, p, p.end-p.first)
		return
	}
	// Drop the probes of prepare: planShells adds the probes of all shells, nearest first.
	p.first = len(s.probes)
	x.planShells(s, p)
	p.end = len(s.probes)
	x.begin(s, p, x.ahead)
}

// begin prefetches the data of the first probes of a plan. Without a radius above 0 there are so
// few probes that all are prefetched at once.
func (x *Index) begin(s *Searcher, p *searchPlan, probes int) {
	p.started, p.spans = min(probes, p.end-p.first), len(s.begun.spans)
	s.begun.rest, s.begun.keys = 0, 0
	if p.flat && p.exact == 0 { // findFlat has prefetched everything
		s.begun.rest = p.started
	} else {
		x.prefetchProbes(s, p, 0, p.started, &s.begun)
	}
	p.begun.rest, p.begun.keys, p.spansEnd = s.begun.rest, s.begun.keys, len(s.begun.spans)
}

// Plan says how a search would be executed.
type Plan struct {
	Method     string  // "probe" or "scan"
	Radii      []int   // of each table, -1 where it is not probed; nil for a scan
	Probes     int     // ranges to look up
	Candidates int     // keys to compare, estimated from the real sizes of the ranges
	Cost       float64 // nanoseconds, estimated
}

// String returns one line: "probe radii 0 0 0 0, 4 probes, about 610 candidates", or "scan, 1100000
// candidates".
func (p Plan) String() string {
	if p.Method == "scan" {
		return fmt.Sprintf("scan, %d candidates", p.Candidates)
	}
	radii := strings.Trim(fmt.Sprint(p.Radii), "[]")
	return fmt.Sprintf("probe radii %s, %d probes, about %d candidates", radii, p.Probes, p.Candidates)
}

// Plan returns how Near(x, q, k) would search. It reads directories only.
func (s *Searcher) Plan(x *Index, q base.Fingerprint, k int) Plan {
	a := s.planOne(x, q, k)
	if a.allocation == nil {
		return Plan{Method: "scan"}
	}
	if a.scan {
		return Plan{Method: "scan", Candidates: x.tables[0].run.Len(), Cost: x.scanCostOf(a)}
	}
	// The ranges were looked up either by findFlat or, for the shells of the chosen radii, by
	// lookUp.
	p := Plan{Method: "probe", Cost: a.flatNs}
	if !a.flat {
		p.Cost = s.knownCost(a.allocation, len(x.tables))
	}
	for t := range x.tables {
		p.Radii = append(p.Radii, int(a.radius[t]))
	}
	p.Probes = a.end - a.first
	// Directories give the exact number of keys of a range only where the lead index covers it.
	// Otherwise a range in one block counts as one of mean size, and a longer one as all keys of
	// its blocks.
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

// planOne executes the first three steps of a single search.
func (s *Searcher) planOne(x *Index, q base.Fingerprint, k int) *searchPlan {
	s.start()
	p := &s.plans[0]
	x.prepare(q, k, s, p)
	x.resolveLeads(s, p)
	x.choose(s, p)
	if p.allocation != nil && p.short {
		x.expand(s, p)
	}
	return p
}
