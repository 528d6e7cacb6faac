package sstable

import (
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// Probes whose places are known exactly, by the lead index, are done many at a time: the spans of packed values that they have in their
// blocks are listed, asked for, and scanned by one call of the kernel.

const (
	// prefetchNear is how many keys that are near have the rest of them asked for at once.
	prefetchNear = 16
	// spanKeys is how many keys with one lead make it not worth knowing exactly where they lie, and fewSpanKeys if there are but a few
	// probes: to have asked for the unary parts as well is faster then, as a hit needs them.
	spanKeys, fewSpanKeys = 512, 64
	// stepKeys is how many keys are scanned before what is near is looked at, at least.
	stepKeys = 256
)

// A spanList has the spans of some probes of a plan. The tag of a span is the number of its probe << 32 | its block.
type spanList struct {
	spans []kernel.Span
	spanCounts
}

// spanCounts are the counts of a spanList.
type spanCounts struct {
	rest int // probes that are not in it
	keys int // of the spans
}

func (l *spanList) reset() { l.spans, l.spanCounts = l.spans[:0], spanCounts{} }

// ask adds the spans of probes [first, end) of the plan to l, and asks for what all of these probes need. (What others need than spans is asked
// for by findFlat if the plan is flat.)
func (x *Index) ask(s *Scratch, plan *searchPlan, first, end int, l *spanList) {
	start := len(l.spans)
	probes := s.probes[plan.first:]
	for i := first; i < end; {
		p := &probes[i]
		t := &x.tables[p.table]
		if p.spanned {
			next := i + 1
			for next < end && probes[next].spanned && probes[next].dist == p.dist && probes[next].table == p.table {
				next++
			}
			if i += t.addSpans(plan, probes[i:next], i, l); i == next {
				continue
			}
			p = &probes[i]
			t.find(p)
			t.prefetch(p)
		} else if !plan.flat {
			t.prefetch(p)
		}
		l.rest++
		i++
	}
	kernel.PrefetchSpans(l.spans[start:])
}

// addSpans adds the spans of probes of one shell, the first of which is number first of the plan. It stops before one with a block that has
// to be checked first, or decoded whole, and returns how many are done.
func (t *permuted) addSpans(plan *searchPlan, probes []leadProbe, first int, l *spanList) int {
	entries, data, key := t.run.entries, t.run.data, plan.keys[probes[0].table]
	// Of values that do not reach into the lead the rest of the distance is known; and how wide they have to be.
	bound := plan.k - int(probes[0].dist)
	least, most := int(leastWidths[bound]), 64-t.leadBits
	spans := l.spans
	for i := range probes {
		p, done := &probes[i], len(spans)
		for from := p.from; from < p.to; {
			b := from >> blockShift
			word := entries[b].info.Load()
			in := unpackInfo(word)
			near := bound
			if in.width > most {
				near = plan.k
			}
			if word&checkedBit == 0 || in.width < least || near > bound && in.width < int(leastWidths[near]) {
				l.spans = spans[:done]
				return i
			}
			if len(spans) == cap(spans) {
				spans = slices.Grow(spans, prefetchAheadMost)
			}
			spans = spans[:len(spans)+1]
			hi := min(p.to-b<<blockShift, blockKeys)
			spans[len(spans)-1].Set(data[in.off+8*in.high:], in.width, int(from&(blockKeys-1)), int(hi), key, near, uint64(first+i)<<32|uint64(b))
			from = b<<blockShift + hi
		}
		l.keys += int(p.to - p.from)
	}
	l.spans = spans
	return len(probes)
}

// scanSpans accepts the keys of the spans that are near. It goes on with what it finds after every few hundred keys.
func (x *Index) scanSpans(f *scanFor, rest []kernel.Span, s *Scratch) error {
	for len(rest) > 0 {
		n := 1
		for keys := rest[0].Len(); n < len(rest) && keys < stepKeys; n++ {
			keys += rest[n].Len()
		}
		spans := rest[:n]
		rest = rest[n:]
		pending, hits := len(s.pending), len(s.dst)
		s.scanned = max(s.scanned, int(spans[n-1].Tag>>32)+1)
		if s.near = kernel.ScanSpans(s.near[:0], spans); len(s.near) > 0 {
			// Most of what is near is a hit, and that of a table after the first.
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

// confirmSpans accepts those of the values s.near that are near as whole keys.
func (x *Index) confirmSpans(f *scanFor, spans []kernel.Span, s *Scratch) {
	for _, near := range s.near[:min(len(s.near), prefetchNear)] {
		p, b := f.spanOf(spans, near, s)
		in := f.aim(x, p).run.info(b)
		bit := p.unaryBit(f.permuted, b, in, int(uint32(near)))
		kernel.Prefetch(f.run.data[in.off+bit>>3:][:1])
		if f.table == 0 {
			x.names.touch(uint32(b<<blockShift) + uint32(near))
		}
	}
	for i := 0; i < len(s.near); {
		p, b := f.spanOf(spans, s.near[i], s)
		number := s.near[i] >> 32
		s.pos = s.pos[:0]
		for ; i < len(s.near) && s.near[i]>>32 == number; i++ {
			s.pos = append(s.pos, uint32(s.near[i]))
		}
		in := f.aim(x, p).run.info(b)
		lo, zero := p.unaryStart(f.permuted, b, in)
		hi := min(int(p.to)-b<<blockShift, blockKeys)
		x.confirm(f, b, in, lo, hi, zero, s)
	}
}

// spanOf returns the probe and the block of a value that ScanSpans has found.
func (f *scanFor) spanOf(spans []kernel.Span, near uint64, s *Scratch) (p *leadProbe, b int) {
	tag := spans[near>>32].Tag
	return &s.probes[f.plan.first+int(tag>>32)], int(uint32(tag))
}

// unaryStart returns a position lo of block b that is at or before the first key of p there: zero number zero of the block's unary part comes
// right before key lo, or both are 0.
func (p *leadProbe) unaryStart(t *permuted, b int, in blockInfo) (lo int, zero uint64) {
	shift := t.run.leads.shift
	first := p.first >> uint(shift) << uint(shift)
	if first <= t.run.base(b) || in.width > shift {
		return 0, 0
	}
	return int(p.from) - b<<blockShift, shr(first, in.width) - shr(t.run.base(b), in.width)
}

// unaryBit returns about where in the unary part of block b key i of p lies.
func (p *leadProbe) unaryBit(t *permuted, b int, in blockInfo, i int) int {
	if lo, zero := p.unaryStart(t, b, in); lo > 0 {
		i += int(min(zero, 1<<20))
	} else {
		i = i * in.high >> 3
	}
	return min(i, 64*in.high-1)
}
