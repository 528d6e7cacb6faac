package hamming

import "github.com/simdb/simdb/internal/base"

// TakeStats returns the work of the searches since it was called last. Group passes the work of its
// searches to its callback instead.
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

// planOne takes the first three steps of a single search.
func (s *Searcher) planOne(x *Index, q base.Fingerprint, k int) *searchPlan {
	s.start()
	p := &s.plans[0]
	x.prepare(q, k, s, p)
	x.resolveLeads(s, p)
	x.choose(s, p)
	return p
}

// start forgets the plans that have been made.
func (s *Searcher) start() {
	s.probes = s.probes[:0]
	s.begun.reset()
}

// Group is Near in several tables. It calls fn once for each, in order, with the table's position,
// its hits (valid during the call) and the work that the search took, and stops at the first error,
// which it returns. It takes each step for all tables of a group before the next step, so that
// their cache misses overlap as those of one table do.
func (s *Searcher) Group(tables []*Index, q base.Fingerprint, k int, fn func(table int, hits []Hit, work Stats) error) (err error) {
	for first := 0; first < len(tables); first += groupTables {
		some := tables[first:min(first+groupTables, len(tables))]
		s.start()
		for i, x := range some {
			x.prepare(q, k, s, &s.plans[i])
		}
		for i, x := range some {
			x.resolveLeads(s, &s.plans[i])
		}
		for i, x := range some {
			x.choose(s, &s.plans[i])
		}
		for i, x := range some {
			s.stats, s.table = Stats{}, first+i
			if s.group, err = x.execute(s, &s.plans[i], s.group[:0]); err != nil {
				return err
			}
			if err := fn(first+i, s.group, s.stats); err != nil {
				return err
			}
		}
	}
	return nil
}

// First calls accept with documents whose fingerprint differs from q in at most k bits, until it
// returns true, and reports whether it has. It answers whether there is a match at all: a search
// ends with the block in which a hit is accepted, however many documents match. Tables are searched
// in order; accept may get a document twice.
func (s *Searcher) First(tables []*Index, q base.Fingerprint, k int, accept func(table int, h Hit) (bool, error)) (found bool, err error) {
	s.accept = accept
	defer func() { s.accept = nil }()
	err = s.Group(tables, q, k, func(_ int, hits []Hit, _ Stats) error {
		s.dst = hits
		defer func() { s.dst = nil }()
		return s.offer() // those that nothing has looked at since they were found
	})
	if err == errAccepted {
		return true, nil
	}
	return false, err
}
