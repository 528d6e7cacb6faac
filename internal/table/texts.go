package table

import (
	"context"
	"slices"

	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// Texts reads texts and fields of many documents. If documents are read in the order of
// EachInTextOrder, it decodes each block of records once. In ascending order of numbers this is
// nearly true, even if the table was merged from many, except for texts that lie next to a similar
// one. It caches up to 32 MiB of decoded blocks, plus one block.
//
// A Texts must not be used concurrently; a Reader can have any number of Texts.
type Texts struct {
	r      *Reader
	cursor *blobs.RecordCursor // nil if the table has no records
}

// Texts returns a reader of texts.
func (r *Reader) Texts() *Texts {
	t := &Texts{r: r}
	if r.t.Records != nil {
		t.cursor = r.t.Records.Cursor()
	}
	return t
}

// TextsInOrder is Texts for documents that are read in the order of SortInTextOrder; some may be
// left out. It holds only one decoded block, and decodes the next into the same memory; or, if keep
// is set, it adds blocks to the cache.
func (r *Reader) TextsInOrder(keep bool) *Texts {
	t := &Texts{r: r}
	if r.t.Records != nil {
		t.cursor = r.t.Records.CursorInOrder(keep)
	}
	return t
}

// Get returns the text and the fields of a document, empty if it has none. They are valid until the
// next call and must not be changed.
func (t *Texts) Get(doc uint32) (text, fields []byte, err error) {
	defer t.r.t.Unguard(format.Guard(), &err)
	return t.get(doc)
}

// get is Get without protection from faults.
func (t *Texts) get(doc uint32) (text, fields []byte, err error) {
	r := t.r
	if err := r.t.CheckDoc(doc); err != nil || t.cursor == nil {
		return nil, nil, err
	}
	place, err := r.t.Place(doc)
	if err != nil || place == r.t.Records.Len() {
		return nil, nil, err
	}
	return t.cursor.Get(place)
}

// EachUnnamed calls fn for each of docs, with its index in docs and with all that Unnamed returns,
// until fn returns an error. texts must be nil, or a result of TextsInOrder: then documents come in
// that order, with Text and Fields. What d points to is valid during the call and must not be
// changed.
func (r *Reader) EachUnnamed(docs []uint32, texts *Texts, fn func(i int, d *Document) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	var order []int
	if texts != nil && (r.t.Places != nil || !slices.IsSorted(docs)) {
		if order, err = r.TextOrder(docs); err != nil {
			return err
		}
	}
	var d Document
	for i := range docs {
		if i%Together == 0 && texts != nil && r.IsServed() {
			some := slices.Clone(docs[i:min(i+Together, len(docs))])
			for j := range some {
				if order != nil {
					some[j] = docs[order[i+j]]
				}
			}
			if err := r.announce(some, PartText); err != nil {
				return err
			}
		}
		if order != nil {
			i = order[i]
		}
		if err := r.entry(docs[i], &d); err != nil {
			return err
		}
		if texts != nil {
			if d.Text, d.Fields, err = texts.get(docs[i]); err != nil {
				return err
			}
		}
		if err := fn(i, &d); err != nil {
			return err
		}
	}
	return nil
}

// textOrderDocs is how many documents EachInTextOrder sorts at a time, at 8 bytes each.
const (
	textOrderDocs = 1 << 22
	textShare     = 1 << 14 // documents between two checks of the context
)

// EachInTextOrder calls fn for every document, until fn returns an error. Documents come in the
// order of their texts in the file, within each 4 million consecutive documents; those without a
// text come last.
func (r *Reader) EachInTextOrder(ctx context.Context, fn func(doc uint32) error) error {
	return r.eachInTextOrder(ctx, textOrderDocs, fn)
}

// eachInTextOrder is EachInTextOrder for most documents at a time.
func (r *Reader) eachInTextOrder(ctx context.Context, most uint32, fn func(doc uint32) error) (err error) {
	var order []uint64
	for from := uint32(0); from < r.t.Info.Docs; from += min(most, r.t.Info.Docs-from) {
		if order, err = r.appendTextOrder(order[:0], from, from+min(most, r.t.Info.Docs-from)); err != nil {
			return err
		}
		slices.Sort(order)
		for i, at := range order {
			if i%textShare == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := fn(uint32(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

// SortInTextOrder sorts documents of the table by the positions of their texts, as EachInTextOrder
// does. It needs 8 bytes of memory per document.
func (r *Reader) SortInTextOrder(docs []uint32) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.announce(docs, 0); err != nil {
		return err
	}
	order := make([]uint64, len(docs))
	for i, doc := range docs {
		if order[i], err = r.textKey(doc); err != nil {
			return err
		}
		order[i] |= uint64(doc)
	}
	slices.Sort(order)
	for i, at := range order {
		docs[i] = uint32(at)
	}
	return nil
}

// TextOrder returns the indexes of docs in the order of SortInTextOrder. docs may repeat documents.
// It needs 16 bytes of memory per document.
func (r *Reader) TextOrder(docs []uint32) (order []int, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.announce(docs, 0); err != nil {
		return nil, err
	}
	keys := make([]uint64, len(docs))
	for i, doc := range docs {
		if keys[i], err = r.textKey(doc); err != nil {
			return nil, err
		}
		keys[i] |= uint64(i)
	}
	slices.Sort(keys)
	order = make([]int, len(docs))
	for i, key := range keys {
		order[i] = int(uint32(key))
	}
	return order, nil
}

// textKey returns a key that sorts documents by the positions of their texts; its lower 32 bits are
// 0.
func (r *Reader) textKey(doc uint32) (uint64, error) {
	if err := r.t.CheckDoc(doc); err != nil {
		return 0, err
	}
	place, err := r.t.Place(doc)
	return uint64(place) << 32, err
}

// appendTextOrder appends record<<32 | document for the documents in [from, end).
func (r *Reader) appendTextOrder(order []uint64, from, end uint32) (_ []uint64, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	order = slices.Grow(order, int(end-from))
	for doc := from; doc < end; doc++ {
		place, err := r.t.Place(doc)
		if err != nil {
			return nil, err
		}
		order = append(order, uint64(place)<<32|uint64(doc))
	}
	return order, nil
}
