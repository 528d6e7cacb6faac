package sstable

import (
	"context"

	"github.com/simdb/simdb/sstable/internal/idparts"
)

// IDs in order, or with a prefix, are anywhere in a table, whose documents are in the order of
// their fingerprints. So a table keeps an IDOrder, of parts of some two thousand documents (see
// idPartsWriter); a small one is one part.

// An IDOrder divides the documents of a table by the order of their IDs: every ID of a part is less
// than every ID of the next. It may be used by many goroutines, until the reader is closed.
type IDOrder struct {
	r       *Reader
	divider *idparts.Divider // nil if there is one part
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

// Range returns the parts that may have IDs with a prefix: from first to end-1.
func (o *IDOrder) Range(prefix []byte) (first, end int) {
	if o.divider == nil {
		return 0, 1
	}
	return o.divider.Range(prefix)
}

// EachID calls fn for the documents of a part, ascending by number. id aliases memory that is used
// again.
func (o *IDOrder) EachID(ctx context.Context, part int, fn func(doc uint32, id []byte) error) (err error) {
	defer o.r.unguard(guard(), &err)
	b := idBatches{r: o.r, fn: fn}
	add := func(doc uint32) error { return b.add(ctx, doc) }
	if o.divider == nil {
		for doc := range o.r.info.Docs {
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

// idBatch is how many IDs are read together.
const idBatch = 256

// EachWrittenID calls fn for the documents that w selects, ascending by number. id aliases memory
// that is used again.
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

// idBatches gives documents with their IDs, which it reads many at a time: then cache misses
// overlap.
type idBatches struct {
	r    *Reader
	fn   func(doc uint32, id []byte) error
	docs []uint32
	ends []int
	ids  []byte
}

// add adds a document.
func (b *idBatches) add(ctx context.Context, doc uint32) error {
	if b.docs == nil {
		b.docs = make([]uint32, 0, idBatch)
	}
	if b.docs = append(b.docs, doc); len(b.docs) < idBatch {
		return nil
	}
	return b.flush(ctx)
}

// flush gives what has been added.
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
