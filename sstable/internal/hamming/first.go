package hamming

import "errors"

// errAccepted ends a search, one of whose hits has been accepted.
var errAccepted = errors.New("sstable: a hit has been accepted")

// First calls accept with documents whose fingerprint differs from q in at most k bits, until it returns true, and reports
// whether it has. It answers whether there is a match at all: a search ends with the block in which a hit is accepted,
// however many documents match. Tables are searched in order; accept may get a document twice.
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

// offer hands over the hits that have not been, if this is a search for the first one. errAccepted ends it.
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
