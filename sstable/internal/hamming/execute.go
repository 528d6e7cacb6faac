package hamming

import (
	"math/bits"
)

// execute is the last step: it carries out a plan and appends the hits to dst.
func (x *Index) execute(s *Searcher, p *searchPlan, dst []Hit) ([]Hit, error) {
	var err error
	s.offered = len(dst)
	switch s.dst = dst; {
	case p.allocation == nil:
		err = x.damage
	case p.scan:
		s.stats.Scans++
		err = x.scanAll(p.q, p.k, s)
	default:
		err = x.probe(s, p)
	}
	dst, s.dst = s.dst, nil
	return dst, err
}

// probe carries out the probes of a plan in steps. The ranges of the next step are prefetched
// before those of the current one are scanned.
func (x *Index) probe(s *Searcher, plan *searchPlan) error {
	s.pending, s.settled, s.extra, s.scanned = s.pending[:0], 0, 0, 0
	var f scanFor
	f.plan, f.k, f.table, f.start, f.named = plan, plan.k, -1, len(s.dst), len(s.dst)
	probes := s.probes[plan.first:plan.end]
	spans := s.begun.spans[plan.spans:plan.spansEnd] // of the current probes
	rest, keys := plan.begun.rest, plan.begun.keys
	for from, to, turn := 0, plan.started, 0; from < len(probes); turn ^= 1 {
		ahead, next := &s.turns[turn], min(to+x.ahead, len(probes))
		if ahead.reset(); next > to {
			x.prefetchProbes(s, plan, to, next, ahead)
		}
		s.stats.Candidates += keys
		err := x.scanSpans(&f, spans, s)
		for i := from; rest > 0 && err == nil; i++ {
			if p := &probes[i]; !p.Exact {
				rest--
				pending, hits := len(s.pending), len(s.dst)
				s.scanned = max(s.scanned, i+1)
				if err = x.scanRange(f.pointAt(x, p), p, s); err == nil && f.found(s) {
					err = x.follow(&f, pending, hits, s)
				}
			}
		}
		if err == errScan {
			s.dst = s.dst[:f.start]
			s.offered = f.start
			s.stats.Probes += s.scanned
			s.stats.Scans++
			return x.scanAll(plan.q, plan.k, s)
		}
		if err != nil {
			return err
		}
		s.scanned = to
		from, to, spans, rest, keys = to, next, ahead.spans, ahead.rest, ahead.keys
	}
	s.stats.Probes += len(probes)
	if !f.found(s) {
		return nil
	}
	err := x.resolvePending(len(s.pending), s)
	x.prefetchIDs(&f, len(s.dst), s)
	return err
}

// found reports whether there is anything for follow to do.
func (f *scanFor) found(s *Searcher) bool {
	return s.extra > f.extra || s.settled < len(s.pending) || f.named < len(s.dst)
}

// follow goes on after some probes, before which there were that many pending hits and hits. What a
// hit needs next, its place in run 0 and its ID, is prefetched when it is found and used a step
// later, so that most of these cache misses pass behind the scan.
func (x *Index) follow(f *scanFor, pending, hits int, s *Searcher) error {
	if s.extra > f.extra {
		f.extra = s.extra
		if err := x.worthwhile(f.plan, s, 0); err != nil {
			return err
		}
	}
	if len(s.pending) > pending {
		x.locate(s.pending[pending:])
	}
	x.prefetchIDs(f, hits, s)
	return x.resolvePending(pending, s)
}

// prefetchIDs prefetches the IDs of the hits up to number end.
func (x *Index) prefetchIDs(f *scanFor, end int, s *Searcher) {
	for ; f.named < min(end, f.start+prefetchIDs); f.named++ {
		x.ids.Prefetch(s.dst[f.named].Doc)
	}
}

// accept adds a key of the current range, which is within the distance, to the hits, or to the
// pending hits if its documents have to be found first. It drops a key that is outside of the
// range, and one that an earlier table reports: the first table that finds a fingerprint reports
// it, so that no set of what has been reported is needed.
func (x *Index) accept(f *scanFor, pos int, key uint64, s *Searcher) {
	if key < f.first || key > f.last {
		return
	}
	t, diff := f.table, key^f.q
	hit := Hit{Doc: uint32(pos), Distance: uint8(bits.OnesCount64(diff)), Fingerprint: key}
	if t == 0 {
		s.dst = append(s.dst, hit)
		x.ids.PrefetchEntry(hit.Doc)
		return
	}
	diff = f.invert(diff) // bit by bit, so it is the difference of the fingerprints too
	for earlier := range t {
		if bits.OnesCount64(diff&x.tables[earlier].leadMask) <= int(f.plan.radius[earlier]) {
			return
		}
	}
	hit.Fingerprint = f.invert(key)
	s.pending = append(s.pending, pendingHit{hit: hit, table: uint8(t)})
}
