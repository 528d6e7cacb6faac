package hamming

import "github.com/simdb/simdb/internal/base"

// TakeStats returns the work of the searches since it was called last, except for those of Group
// and First.
func (s *Searcher) TakeStats() Stats {
	work := s.stats
	s.stats = Stats{}
	return work
}

// Near appends to dst every document of x whose fingerprint differs from q in at most k bits, each
// once and in no particular order.
func (s *Searcher) Near(x *Index, q base.Fingerprint, k int, dst []Hit) ([]Hit, error) {
	p := s.planOne(x, q, k)
	return x.execute(s, p, dst)
}

// group makes several searches. It calls fn once for each, in order, with its position, its hits
// (valid during the call) and the work that it took, and stops at the first error, which it
// returns. It takes each step for all searches before the next step, so that their cache misses
// overlap as those of one search do.
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

// first calls accept with what searches find, until it returns true, and reports whether it has. It
// answers whether there is a match at all: a search ends with the block in which a hit is accepted,
// however many documents match. They are made in order; accept may get a document twice.
func (s *Searcher) first(queries []query, accept func(i int, h Hit) (bool, error)) (found bool, err error) {
	s.accept = accept
	defer func() { s.accept = nil }()
	err = s.group(queries, func(_ int, hits []Hit, _ Stats) error {
		s.dst = hits
		defer func() { s.dst = nil }()
		return s.offer() // those that nothing has looked at since they were found
	})
	if err == errAccepted {
		return true, nil
	}
	return false, err
}
