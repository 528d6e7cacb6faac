package hamming

import (
	"slices"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Probes whose positions the lead index knows exactly are executed many at a time: the spans of
// packed values of their blocks are listed, prefetched, and scanned by one call of the kernel.

// prefetchProbes adds the spans of probes [first, end) of the plan to l, and prefetches the data of
// all of these probes. (If the plan has no radius above 0, findFlat has already prefetched the data
// of inexact probes.)
func (x *Index) prefetchProbes(s *Searcher, plan *searchPlan, first, end int, l *spanList) {
	start := len(l.spans)
	probes := s.probes[plan.first:]
	for i := first; i < end; {
		p := &probes[i]
		t := &x.tables[p.Table]
		if p.Exact {
			next := i + 1
			for next < end && probes[next].Exact && probes[next].Dist == p.Dist && probes[next].Table == p.Table {
				next++
			}
			if i += t.addSpans(plan, probes[i:next], i, l); i == next {
				continue
			}
			p = &probes[i]
			t.run.Locate(p, t.rest)
			t.prefetch(p)
		} else if !plan.flat {
			t.prefetch(p)
		}
		l.rest++
		i++
	}
	kernel.PrefetchSpans(l.spans[start:])
}

// addSpans adds the spans of probes of one shell; probes[0] is number first of the plan. It stops
// before a probe with a block that must first be verified, or decoded whole, and returns the number
// of probes done.
func (t *permuted) addSpans(plan *searchPlan, probes []keyrun.Probe, first int, l *spanList) int {
	run, key := t.run, plan.keys[probes[0].Table]
	// If the stored low bits do not reach into the lead, the distance left for them is known, and
	// so is the width that they need.
	//
	// Below the width leastWidths[bound], many keys are near by chance, and decoding the whole
	// block is cheaper; scanRange does that.
	bound := plan.k - int(probes[0].Dist)
	least, most := int(leastWidths[bound]), 64-t.leadBits
	spans := l.spans
	for i := range probes {
		p, done := &probes[i], len(spans)
		for from := p.From; from < p.To; {
			b := from >> keyrun.BlockShift
			in, known := run.InfoKnown(int(b))
			near := bound
			if in.Width > most {
				near = plan.k
			}
			lo, hi := int(from&(keyrun.BlockLen-1)), int(min(p.To-b<<keyrun.BlockShift, keyrun.BlockLen))
			if !known.All() && !known.Keys(lo, hi) || in.Width < least || near > bound && in.Width < int(leastWidths[near]) {
				l.spans = spans[:done]
				return i
			}
			if len(spans) == cap(spans) {
				spans = slices.Grow(spans, prefetchAheadMost)
			}
			spans = spans[:len(spans)+1]
			spans[len(spans)-1].Set(run.Packed(in), in.Width, lo, hi, key, near, uint64(first+i)<<32|uint64(b))
			from = b<<keyrun.BlockShift + uint32(hi)
		}
		l.keys += int(p.To - p.From)
	}
	l.spans = spans
	return len(probes)
}

// scanSpans accepts the near keys of the spans. It processes its hits every few hundred keys.
func (x *Index) scanSpans(f *scanFor, rest []kernel.Span, s *Searcher) error {
	// Each call of the kernel scans several spans: enough to make the overhead of the call small,
	// and few enough that hits are processed soon.
	for len(rest) > 0 {
		// Enough spans for stepKeys keys.
		n := 1
		for keys := rest[0].Len(); n < len(rest) && keys < stepKeys; n++ {
			keys += rest[n].Len()
		}
		spans := rest[:n]
		rest = rest[n:]
		pending, hits := len(s.pending), len(s.dst)
		s.scanned = max(s.scanned, int(spans[n-1].Tag>>32)+1)
		if s.near = kernel.ScanSpans(s.near[:0], spans); len(s.near) > 0 {
			// Most near keys are hits, usually of a table after the first.
			if err := x.worthwhile(f.plan, s, float64(len(s.near))*(cost.confirm+x.resolveNs/2)); err != nil {
				return err
			}
			x.confirmSpans(f, spans, s)
		}
		if !f.found(s) {
			continue
		}
		if err := x.follow(f, pending, hits, s); err != nil {
			return err
		}
	}
	return nil
}

// confirmSpans compares the whole keys of the values s.near, and accepts the keys within the
// distance.
func (x *Index) confirmSpans(f *scanFor, spans []kernel.Span, s *Searcher) {
	// First prefetch the rest of the data of each key: the unary word with the prefix, and the
	// directory entry of the ID if the position is a document number.
	for _, near := range s.near[:min(len(s.near), prefetchNear)] {
		p, b := f.spanOf(spans, near, s)
		in := f.pointAt(x, p).run.Info(b)
		bit := f.run.UnaryBit(p, b, in, int(uint32(near)))
		f.run.PrefetchUnary(in, bit)
		if f.table == 0 {
			x.ids.PrefetchEntry(uint32(b<<keyrun.BlockShift) + uint32(near))
		}
	}
	// Then confirm them, the positions of one span together.
	for i := 0; i < len(s.near); {
		p, b := f.spanOf(spans, s.near[i], s)
		number := s.near[i] >> 32
		s.pos = s.pos[:0]
		for ; i < len(s.near) && s.near[i]>>32 == number; i++ {
			s.pos = append(s.pos, uint32(s.near[i]))
		}
		in := f.pointAt(x, p).run.Info(b)
		lo, zero := f.run.UnaryStart(p, b, in)
		hi := min(int(p.To)-b<<keyrun.BlockShift, keyrun.BlockLen)
		x.confirm(f, b, in, lo, hi, zero, s)
	}
}

// spanOf returns the probe and the block of a value that ScanSpans has found.
func (f *scanFor) spanOf(spans []kernel.Span, near uint64, s *Searcher) (p *keyrun.Probe, b int) {
	tag := spans[near>>32].Tag
	return &s.probes[f.plan.first+int(tag>>32)], int(uint32(tag))
}
