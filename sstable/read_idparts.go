package sstable

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/idparts"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// A stretch of documents has a key run with the documents of each part of an IDOrder: see
// idPartsWriter.
type stretch struct {
	run   *keyrun.Run
	first uint32 // document
	shift int
}

// storedOrder returns the order of IDs that the table keeps, of one part if it keeps none.
func (r *Reader) storedOrder() (o *IDOrder, err error) {
	defer r.unguard(guard(), &err)
	s := r.section(KindIDBounds, 0)
	if s == nil {
		if s := r.section(KindIDParts, 0); s != nil {
			return nil, base.Corruptf(r.file, s.Name(), s.Offset, "parts of IDs, and no bounds of them are there")
		}
		return &IDOrder{r: r}, nil
	}
	bounds, err := r.idBounds(s)
	if err != nil {
		return nil, err
	}
	o = &IDOrder{r: r, divider: idparts.Divide(bounds)}
	first := uint32(0)
	for i := uint16(0); first < r.info.Docs; i++ {
		s, err := r.required(KindIDParts, i)
		if err != nil {
			return nil, err
		}
		if s.Count == 0 || s.Count > uint64(r.info.Docs-first) {
			return nil, base.Corruptf(r.file, s.Name(), s.Offset, "%d documents from %d of %d", s.Count, first, r.info.Docs)
		}
		run, err := r.run(KindIDParts, i, s.Count)
		if err != nil {
			return nil, err
		}
		o.stored = append(o.stored, stretch{run, first, idPartShift(run.Len())})
		first += uint32(s.Count)
	}
	if s := r.section(KindIDParts, uint16(len(o.stored))); s != nil {
		return nil, base.Corruptf(r.file, s.Name(), s.Offset, "a stretch after all documents")
	}
	return o, nil
}

// idBounds returns what is in a section of bounds.
func (r *Reader) idBounds(s *Section) (bounds [][]byte, err error) {
	b := r.bytes(s)
	end := len(b) - 4
	if end < 0 || s.Count == 0 || s.Count >= idparts.Most || crc.Sum(b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, base.Corruptf(r.file, s.Name(), s.Offset, "wrong checksum or size of %d bounds", s.Count)
	}
	b = bytes.Clone(b[:end])
	for len(b) > 0 && len(b) > int(b[0]) {
		after := 1 + int(b[0])
		bound := b[1:after]
		if n := len(bounds); n > 0 && bytes.Compare(bound, bounds[n-1]) <= 0 {
			return nil, base.Corruptf(r.file, s.Name(), s.Offset, "bound %d is not greater than the one before", n)
		}
		bounds, b = append(bounds, bound), b[after:]
	}
	if len(b) > 0 || uint64(len(bounds)) != s.Count {
		return nil, base.Corruptf(r.file, s.Name(), s.Offset, "%d bounds, not %d", len(bounds), s.Count)
	}
	return bounds, nil
}

// each calls fn for the documents of a part, ascending, until it returns an error.
func (s *stretch) each(part int, fn func(doc uint32) error) error {
	least := uint64(part) << s.shift
	most := least + (1<<s.shift - 1)
	at, err := s.run.LowerBound(least)
	if err != nil {
		return err
	}
	it := s.run.Iter(at)
	for it.Next() && it.Key() <= most {
		doc := it.Key() - least
		if doc >= uint64(s.run.Len()) {
			return s.run.Corrupt(0, "document %d of a stretch of %d", doc, s.run.Len())
		}
		if err := fn(s.first + uint32(doc)); err != nil {
			return err
		}
	}
	return it.Err()
}

// checkIDParts verifies that the order of IDs has each document once, in the part of its ID.
func (v *verifier) checkIDParts() error {
	o, err := v.storedOrder()
	if err != nil {
		return err
	}
	for i := range o.stored {
		if err := v.checkStretch(o, &o.stored[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkStretch is checkIDParts for the documents of a stretch.
func (v *verifier) checkStretch(o *IDOrder, s *stretch) error {
	const none = math.MaxUint16
	parts := make([]uint16, s.run.Len())
	for i := range parts {
		parts[i] = none
	}
	err := s.run.EachBlock(func(pos int, keys []uint64) error {
		for _, key := range keys {
			part, doc := key>>s.shift, key&(1<<s.shift-1)
			if part >= uint64(o.divider.Parts()) || doc >= uint64(len(parts)) || parts[doc] != none {
				return s.run.Corrupt(0, "document %d of %d in part %d of %d is there twice or should not be there", doc, len(parts), part, o.divider.Parts())
			}
			parts[doc] = uint16(part)
		}
		return v.advance(int64(s.run.BlockSize(pos / keyrun.BlockLen)))
	})
	if err != nil {
		return err
	}
	it := v.names.Iter(s.first)
	for doc, part := range parts {
		id, err := it.Next()
		if err != nil {
			return err
		}
		if o.divider.Part(id) != int(part) {
			return s.run.Corrupt(0, "document %d is in part %d of the order of IDs, and its ID belongs to %d", s.first+uint32(doc), part, o.divider.Part(id))
		}
	}
	return nil
}
