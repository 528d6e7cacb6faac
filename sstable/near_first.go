package sstable

import "errors"

// errAccepted ends a search, one of whose hits has been accepted.
var errAccepted = errors.New("sstable: a hit has been accepted")

// NearFirst hands documents whose fingerprint differs from q in at most k bits to accept, until that returns true, and says whether it
// has. It serves the question whether there is a match at all: a search goes no further than to the block in which one is found, however
// many documents match. It goes through the tables in their order; a document may be handed over twice.
func NearFirst(tables []*Reader, q uint64, k int, s *GroupScratch, accept func(table int, h Hit) (bool, error)) (found bool, err error) {
	s.accept = accept
	defer func() { s.accept = nil }()
	err = NearGroup(tables, q, k, s, func(_ int, hits []Hit, _ NearStats) error {
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
func (s *Scratch) offer() error {
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
