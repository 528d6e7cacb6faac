package hamming

// execute is the last step: it carries out a plan and appends the hits to dst.
func (x *Index) execute(s *Searcher, p *searchPlan, dst []Hit) ([]Hit, error) {
	var err error
	s.offered = len(dst)
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

// probe carries out the probes of a plan in steps. The ranges of the next step are prefetched
// before those of the current one are scanned.
func (x *Index) probe(s *Searcher, plan *searchPlan) error {
	s.pending, s.settled, s.extra, s.scanned = s.pending[:0], 0, 0, 0
	var f scanFor
	f.plan, f.k, f.table, f.start, f.named = plan, plan.k, -1, len(s.dst), len(s.dst)
	// A turn's list is refilled once its spans have been scanned, so two lists are enough.
	//
	// Probes [from, to) are current: spans has what the exact ones compare, rest is the number of
	// the others. Probes [to, next) come next; the two turns are used in alternation.
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
		// The probes that are not exact, or have a block that is not verified yet, one by one.
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
		// A scan finds everything, so it starts again: what was found so far is dropped, and is not
		// reported twice. A search for the first match may be offered a document again.
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
	// Nothing is left to scan while the cache misses of the last hits pass.
	err := x.resolvePending(len(s.pending), s)
	x.prefetchIDs(&f, len(s.dst), s)
	return err
}
