package table

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// The documents of a table are in the order of their fingerprints, so the IDs of a range or with a
// common prefix are scattered over the table. A table therefore stores an IDOrder, in parts of some
// two thousand documents (see idPartsWriter); a small table has one part.

// An IDOrder divides the documents of a table by the order of their IDs: every ID of a part is less
// than every ID of the next. Any number of goroutines may use it, until the reader is closed.
type IDOrder struct {
	r       *Reader
	divider *format.IDDivider // nil if there is one part
	stored  []stretch
}

// IDOrder returns the order of the table's IDs.
func (r *Reader) IDOrder() (*IDOrder, error) { return r.order() }

// Parts returns the number of parts, at least 1.
func (o *IDOrder) Parts() int {
	if o.divider == nil {
		return 1
	}
	return o.divider.Parts()
}

// Range returns the parts, first to end-1, that may have IDs at or after from and before to. An
// empty to means no upper bound.
func (o *IDOrder) Range(from, to []byte) (first, end int) {
	if o.divider == nil {
		return 0, 1
	}
	return o.divider.Range(from, to)
}

// EachID calls fn for the documents of a part, ascending by number. id is only valid during the
// call.
func (o *IDOrder) EachID(ctx context.Context, part int, fn func(doc uint32, id []byte) error) (err error) {
	defer o.r.t.Unguard(format.Guard(), &err)
	b := idBatches{r: o.r, fn: fn}
	add := func(doc uint32) error { return b.add(ctx, doc) }
	if o.divider == nil {
		for doc := range o.r.t.Info.Docs {
			if err := add(doc); err != nil {
				return err
			}
		}
	}
	for i := range o.stored {
		if err := o.stored[i].each(part, add); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// idBatch is the number of IDs that are read together.
const idBatch = 256

// EachWrittenID calls fn for the documents that w selects, ascending by number. id is only
// valid during the call.
func (r *Reader) EachWrittenID(ctx context.Context, w Written, fn func(doc uint32, id []byte) error) error {
	b := idBatches{r: r, fn: fn}
	err := r.EachWritten(ctx, w, func(docs []uint32) error {
		for _, doc := range docs {
			if err := b.add(ctx, doc); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.flush(ctx)
}

// EachIDOf calls fn for docs, which must ascend. id is only valid during the call.
func (r *Reader) EachIDOf(ctx context.Context, docs []uint32, fn func(doc uint32, id []byte) error) error {
	b := idBatches{r: r, fn: fn}
	for _, doc := range docs {
		if err := b.add(ctx, doc); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// idBatches calls fn for documents with their IDs. It reads many IDs at a time, so that cache
// misses overlap.
type idBatches struct {
	r    *Reader
	fn   func(doc uint32, id []byte) error
	docs []uint32
	ends []int
	ids  []byte
}

func (b *idBatches) add(ctx context.Context, doc uint32) error {
	if b.docs == nil {
		b.docs = make([]uint32, 0, idBatch)
	}
	if b.docs = append(b.docs, doc); len(b.docs) < idBatch {
		return nil
	}
	return b.flush(ctx)
}

// flush calls fn for the documents added since the last flush.
func (b *idBatches) flush(ctx context.Context) (err error) {
	if b.ids, b.ends, err = b.r.AppendIDs(b.ids[:0], b.ends[:0], b.docs); err != nil {
		return err
	}
	start := 0
	for i, end := range b.ends {
		if err := b.fn(b.docs[i], b.ids[start:end]); err != nil {
			return err
		}
		start = end
	}
	b.docs = b.docs[:0]
	return ctx.Err()
}

// A stretch is a run of consecutive documents with a key run that lists the documents of each part
// of an IDOrder: see idPartsWriter.
type stretch struct {
	run   *keyrun.Run
	first uint32 // first document of the stretch
	shift int
}

// storedOrder returns the order of IDs that the table stores; a single part if it stores none.
func (r *Reader) storedOrder() (o *IDOrder, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	s := r.t.Section(format.KindIDBounds, 0)
	if s == nil {
		if s := r.t.Section(format.KindIDParts, 0); s != nil {
			return nil, base.Corruptf(r.t.File, s.Name(), s.Offset, "parts of IDs without their bounds")
		}
		return &IDOrder{r: r}, nil
	}
	bounds, err := r.idBounds(s)
	if err != nil {
		return nil, err
	}
	o = &IDOrder{r: r, divider: format.DivideIDs(bounds)}
	first := uint32(0)
	for i := uint16(0); first < r.t.Info.Docs; i++ {
		s, err := r.t.Required(format.KindIDParts, i)
		if err != nil {
			return nil, err
		}
		if s.Count == 0 || s.Count > uint64(r.t.Info.Docs-first) {
			return nil, base.Corruptf(r.t.File, s.Name(), s.Offset, "%d documents from %d of %d", s.Count, first, r.t.Info.Docs)
		}
		run, err := r.t.Run(format.KindIDParts, i, s.Count)
		if err != nil {
			return nil, err
		}
		o.stored = append(o.stored, stretch{run, first, format.IDPartShift(run.Len())})
		first += uint32(s.Count)
	}
	if s := r.t.Section(format.KindIDParts, uint16(len(o.stored))); s != nil {
		return nil, base.Corruptf(r.t.File, s.Name(), s.Offset, "a stretch after all documents")
	}
	return o, nil
}

func (r *Reader) idBounds(s *format.Section) (bounds [][]byte, err error) {
	b := r.t.Bytes(s)
	end := len(b) - 4
	if end < 0 || s.Count == 0 || s.Count >= format.MaxIDParts || kernel.CRC32C(0, b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, base.Corruptf(r.t.File, s.Name(), s.Offset, "wrong checksum or size of %d bounds", s.Count)
	}
	b = bytes.Clone(b[:end])
	for len(b) > 0 && len(b) > int(b[0]) {
		after := 1 + int(b[0])
		bound := b[1:after]
		if n := len(bounds); n > 0 && bytes.Compare(bound, bounds[n-1]) <= 0 {
			return nil, base.Corruptf(r.t.File, s.Name(), s.Offset, "bound %d is not greater than the one before", n)
		}
		bounds, b = append(bounds, bound), b[after:]
	}
	if len(b) > 0 || uint64(len(bounds)) != s.Count {
		return nil, base.Corruptf(r.t.File, s.Name(), s.Offset, "%d bounds, not %d", len(bounds), s.Count)
	}
	return bounds, nil
}

// each calls fn for the documents of a part, ascending, and stops at its first error.
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
