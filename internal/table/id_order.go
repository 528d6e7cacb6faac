package table

import (
	"context"

	"github.com/simdb/simdb/internal/table/internal/format"
)

// An IDOrder lists the documents of a table in the order of their IDs, which is not the order of
// their numbers if they have fingerprints. A document has a position in it, 0 to NumDocs-1. Any
// number of goroutines may use it, until the reader is closed.
type IDOrder struct {
	r *Reader
	o *format.IDOrder
}

// IDOrder returns the order of the table's IDs. If the table does not store it, the first call reads
// and sorts all IDs.
func (r *Reader) IDOrder() (o *IDOrder, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order == nil {
		r.order, err = r.openIDOrder()
	}
	return r.order, err
}

// openIDOrder is IDOrder, for the first call.
func (r *Reader) openIDOrder() (o *IDOrder, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	in, err := r.t.IDOrder()
	if err != nil {
		return nil, err
	}
	return &IDOrder{r, in}, nil
}

// Seek returns the position of the first ID that is not less than id, NumDocs if there is none.
func (o *IDOrder) Seek(id []byte) (at int, err error) {
	defer o.r.t.Unguard(format.Guard(), &err)
	return o.o.Seek(id)
}

// Range returns the positions [from, end) of the IDs at or after first and before limit. An empty
// limit means no bound.
func (o *IDOrder) Range(first, limit []byte) (from, end int, err error) {
	if len(first) > 0 {
		from, err = o.Seek(first)
	}
	if err != nil || len(limit) == 0 {
		return from, o.o.Len(), err
	}
	end, err = o.Seek(limit)
	return from, max(from, end), err
}

// Docs sets docs to the documents at positions from at on, which must exist.
func (o *IDOrder) Docs(at int, docs []uint32) (err error) {
	defer o.r.t.Unguard(format.Guard(), &err)
	return o.o.Docs(at, docs)
}

// EachID calls fn for the documents at positions [from, end), in order. id is only valid during the
// call.
func (o *IDOrder) EachID(ctx context.Context, from, end int, fn func(doc uint32, id []byte) error) error {
	var docs [idBatch]uint32
	b := idBatches{r: o.r, fn: fn}
	for ; from < end; from += idBatch {
		some := docs[:min(idBatch, end-from)]
		if err := o.Docs(from, some); err != nil {
			return err
		}
		for _, doc := range some {
			if err := b.add(ctx, doc); err != nil {
				return err
			}
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
