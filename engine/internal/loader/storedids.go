package loader

import (
	"context"
	"errors"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/idfilter"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// storedIDs reports to a load without Replace whether an ID is stored. It searches tables only for
// IDs that a filter does not rule out. It builds the filter after enough lookups to pay for it.
type storedIDs struct {
	snap    *view.View
	asked   int              // number of IDs looked up
	filter  *idfilter.Filter // all IDs in the snapshot and in the chunk that is being written; nil until it pays
	covered map[uint64]bool  // tables whose IDs are in the filter, by number
	most    int64            // limit of the filter's size in bytes
	hash    uint64           // hash of the ID passed to begin; valid if there is a filter
}

func (s *storedIDs) bytes() int64 {
	if s.filter == nil {
		return 0
	}
	return int64(s.filter.Bytes())
}

// hashID is table.HashID of a string.
func hashID(id string) uint64 { return table.HashID(unsafe.Slice(unsafe.StringData(id), len(id))) }

// begin prefetches data for the has call with the same ID; it must be called first.
func (s *storedIDs) begin(id string) {
	if s.filter != nil {
		s.hash = hashID(id)
		s.filter.Prefetch(s.hash)
	}
}

// has reports whether a document with this ID is stored, or in the chunk that is being written,
// which may be nil.
func (s *storedIDs) has(ctx context.Context, id string, writing *chunk) (bool, error) {
	const share = 8 // building the filter costs about as much as looking up an eighth of its IDs
	if s.asked++; s.filter == nil && s.asked > s.count()/share {
		if err := s.makeFilter(writing); err != nil {
			return false, err
		}
		s.hash = hashID(id)
	}
	if s.filter != nil && !s.filter.Has(s.hash) {
		return false, nil
	}
	if writing != nil {
		if pos, _ := writing.find(id, writing.begin(id)); pos >= 0 {
			return true, nil
		}
	}
	err := s.snap.Safely(ctx, func() error {
		_, err := s.snap.Locate(id)
		return err
	})
	if errors.Is(err, files.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// count returns how many documents the snapshot has, including dead ones.
func (s *storedIDs) count() (n int) {
	n = s.snap.Version.NumDocs()
	for _, m := range s.snap.Mems {
		n += len(m.Docs)
	}
	return n
}

// filterBits is how many bits of the filter an ID has, if memory suffices.
const filterBits = 16

// makeFilter builds a filter for twice the current number of IDs.
func (s *storedIDs) makeFilter(writing *chunk) error {
	n := s.count()
	if writing != nil {
		n += writing.len()
	}
	s.filter, s.covered = idfilter.New(min(int64(2*n)*filterBits/8, s.most)), map[uint64]bool{}
	if writing != nil {
		s.addIDs(writing)
	}
	return s.addSnapshot()
}

func (s *storedIDs) addSnapshot() error {
	for i := range s.snap.Version.Parts {
		p := &s.snap.Version.Parts[i]
		if s.covered[p.Meta.Number] {
			continue
		}
		err := p.IDHashBlocks(func(hashes []uint64) error {
			s.filter.Add(hashes...)
			return nil
		})
		if err != nil {
			return err
		}
		s.covered[p.Meta.Number] = true
	}
	for _, m := range s.snap.Mems {
		for _, d := range m.Docs {
			s.filter.Add(table.HashID(d.ID))
		}
	}
	return nil
}

func (s *storedIDs) addIDs(c *chunk) {
	const gathered = 64
	var hashes [gathered]uint64
	for from := 0; from < c.len(); from += gathered {
		n := min(gathered, c.len()-from)
		for i := range n {
			hashes[i] = table.HashID(c.id(from + i))
			s.filter.Prefetch(hashes[i])
		}
		s.filter.Add(hashes[:n]...)
	}
}

// addChunk adds the IDs of c, which is being written.
func (s *storedIDs) addChunk(c *chunk) error {
	if s.filter == nil {
		return nil
	}
	if n := s.count() + c.len(); int64(n)*filterBits/8 > s.bytes() && s.bytes() < s.most {
		return s.makeFilter(c)
	}
	s.addIDs(c)
	return nil
}

// covers records that a written chunk has added all IDs of a table.
func (s *storedIDs) covers(table uint64) {
	if s.filter != nil {
		s.covered[table] = true
	}
}

// renew replaces the snapshot by a newer one.
func (s *storedIDs) renew(snap *view.View) error {
	s.close()
	s.snap = snap
	if s.filter == nil {
		return nil
	}
	return s.addSnapshot()
}

func (s *storedIDs) close() {
	if s.snap != nil {
		s.snap.Close()
	}
}
