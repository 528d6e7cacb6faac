package hamming

import (
	"errors"
)

// groupTables is how many searches are planned together: what is prefetched for them has to stay in
// the first caches.
const groupTables = 16

// Group is Near in several tables. It calls fn once for each, in order, with the table's position,
// its hits (valid during the call) and the work that the search took, and stops at the first error,
// which it returns. It takes each step for all tables of a group before the next step, so that
// their cache misses overlap as those of one table do.
func (s *Searcher) Group(tables []*Index, q uint64, k int, fn func(table int, hits []Hit, work Stats) error) (err error) {
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

// errAccepted ends a search, one of whose hits has been accepted.
var errAccepted = errors.New("sstable: a hit has been accepted")

// First calls accept with documents whose fingerprint differs from q in at most k bits, until it
// returns true, and reports whether it has. It answers whether there is a match at all: a search
// ends with the block in which a hit is accepted, however many documents match. Tables are searched
// in order; accept may get a document twice.
func (s *Searcher) First(tables []*Index, q uint64, k int, accept func(table int, h Hit) (bool, error)) (found bool, err error) {
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

// offer passes the hits that it has not passed yet to accept, if this is a search for the first
// one. It returns errAccepted to end the search.
func (s *Searcher) offer() error {
	if s.accept == nil {
		return nil
	}
	for s.offered < len(s.dst) {
		h := s.dst[s.offered]
		s.offered++
		ok, err := s.accept(s.table, h)
		if err == nil && ok {
			err = errAccepted
		}
		if err != nil {
			return err
		}
	}
	return nil
}
