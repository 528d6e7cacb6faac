package hamming

import "github.com/simdb/simdb/internal/base"

// TakeStats returns the work of the searches since the last call, except for those of Group and
// First.
func (s *Searcher) TakeStats() Stats {
	work := s.stats
	s.stats = Stats{}
	return work
}

// Near appends to dst every document of x whose fingerprint differs from q in at most k bits, each
// once and in no particular order.
func (s *Searcher) Near(x *Index, q base.Fingerprint, k int, dst []Hit) ([]Hit, error) {
	s.start()
	p := &s.plans[0]
	x.prepare(q, k, s, p)
	x.resolveLeads(s, p)
	x.choose(s, p)
	return x.execute(s, p, dst)
}

// group executes several searches. It calls fn once for each, in order, with its index, its hits
// (valid during the call) and its work. It stops at fn's first error and returns it. It executes
// each step for all searches before the next step, so that their cache misses overlap, as they do
// within one search.
func (s *Searcher) group(queries []query, fn func(i int, hits []Hit, work Stats) error) (err error) {
	for first := 0; first < len(queries); first += groupTables {
		some := queries[first:min(first+groupTables, len(queries))]
		s.start()
		for i := range some {
			some[i].prepare(some[i].q, int(some[i].k), s, &s.plans[i])
		}
		for i := range some {
			some[i].resolveLeads(s, &s.plans[i])
		}
		for i := range some {
			some[i].choose(s, &s.plans[i])
		}
		for i := range some {
			s.stats, s.table = Stats{}, first+i
			if s.found, err = some[i].execute(s, &s.plans[i], s.found[:0]); err != nil {
				return err
			}
			if err := fn(first+i, s.found, s.stats); err != nil {
				return err
			}
		}
	}
	return nil
}

// first calls accept with the hits of searches until accept returns true, and reports whether it
// did. It is made for asking whether any match exists: a search ends with the block of the accepted
// hit, however many documents match. Searches are executed in order; accept may be called twice
// with the same document.
func (s *Searcher) first(queries []query, accept func(i int, h Hit) (bool, error)) (found bool, err error) {
	s.accept = accept
	defer func() { s.accept = nil }()
	err = s.group(queries, func(_ int, hits []Hit, _ Stats) error {
		s.dst = hits
		defer func() { s.dst = nil }()
		return s.offer() // the hits that have not been offered yet
	})
	if err == errAccepted {
		return true, nil
	}
	return false, err
}
