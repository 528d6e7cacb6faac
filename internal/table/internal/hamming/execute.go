package hamming

// execute is the last step: it executes a plan and appends the hits to dst.
func (x *Index) execute(s *Searcher, p *searchPlan, dst []Hit) ([]Hit, error) {
	var err error
	s.offered = len(dst)
	if p.allocation != nil && p.short && !x.lookUpAtOnce(s, p) {
		x.expand(s, p)
	}
	switch s.dst = dst; {
	case p.allocation == nil: // no key can match, or the index is damaged
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

// probe executes the probes of a plan in steps. It prefetches the ranges of the next step before it
// scans the ranges of the current one.
func (x *Index) probe(s *Searcher, plan *searchPlan) error {
	s.pending, s.settled, s.extra, s.scanned = s.pending[:0], 0, 0, 0
	var f scanFor
	f.plan, f.k, f.table, f.start, f.named = plan, plan.k, -1, len(s.dst), len(s.dst)
	// Probes [from, to) are current: spans has the spans of the exact ones, rest is the number of
	// the others. Probes [to, next) come next. The two turns alternate: the list of a turn is
	// refilled after its spans have been scanned, so two lists are enough.
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
		// Scan the probes that are not exact, or have an unverified block, one by one.
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
		// A scan finds everything, so the search starts again: drop the hits found so far, so that
		// none is reported twice. A search for the first match may offer a document again.
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
	// Nothing is left to scan that could hide the cache misses of the last hits.
	err := x.resolvePending(len(s.pending), s)
	x.prefetchIDs(&f, len(s.dst), s)
	return err
}
