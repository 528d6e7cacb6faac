package format

import (
	"bytes"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// An IDOrder has the documents of a table in the order of their IDs. Documents with a fingerprint
// are numbered in the order of their fingerprints, so consecutive IDs, or those with a prefix, are
// scattered over the table: a column, log2 n bits a document, says which documents they are.
// Documents without a fingerprint are numbered in the order of their IDs, and a table that has no
// others needs no column.
type IDOrder struct {
	t *Table
	// Column has the number of each document, in the order of IDs; it is nil if each number is the
	// document's position.
	Column *keyrun.Column
}

// IDOrder returns the order of the table's IDs. If the table does not store it, because it is small
// or because an earlier program wrote it, IDOrder reads all IDs and sorts them; the order then
// occupies up to 4 bytes a document.
func (r *Table) IDOrder() (*IDOrder, error) {
	s := r.Section(KindIDOrder, 0)
	if s == nil {
		return r.sortIDs()
	}
	docs := uint64(r.Info.Docs)
	if s.Count == 0 {
		docs = 0
	}
	c, err := r.Column(KindIDOrder, 0, docs)
	switch {
	case err != nil:
		return nil, err
	case docs == 0:
		return &IDOrder{t: r}, nil
	case c.Max() >= docs:
		return nil, c.Corrupt(0, "document %d of %d", c.Max(), docs)
	}
	return &IDOrder{r, c}, nil
}

// sortIDs returns the order of the IDs of a table that does not store it.
func (r *Table) sortIDs() (*IDOrder, error) {
	n := r.Info.Docs
	p := ordered.Pairs{Vals: ordered.Numbers(int(n))}
	ascend, last := true, []byte(nil)
	for it, doc := r.Names.Iter(0), uint32(0); doc < n; doc++ { // verifies all blocks
		id, err := it.Next()
		if err != nil {
			return nil, err
		}
		ascend, last = ascend && bytes.Compare(last, id) < 0, id
	}
	if ascend {
		return &IDOrder{t: r}, nil
	}
	p.Keys = make([]uint64, n)
	docs := ordered.SortStrings(p, ordered.MakePairs(int(n)), func(doc uint32) []byte {
		id, _ := r.Names.Get(doc) // its block has been verified
		return id
	})
	for i, doc := range docs {
		p.Keys[i] = uint64(doc)
	}
	body, dir := keyrun.EncodeColumn(p.Keys)
	c, err := keyrun.OpenColumn(keyrun.Section{File: r.File, Name: KindIDOrder.String(), Body: body, Dir: dir})
	return &IDOrder{r, c}, err
}

// Len returns the number of documents.
func (o *IDOrder) Len() int { return int(o.t.Info.Docs) }

// Doc returns the document at a position, 0 to Len-1.
func (o *IDOrder) Doc(at int) (uint32, error) {
	if o.Column == nil {
		return uint32(at), nil
	}
	doc, err := o.Column.Get(at)
	return uint32(doc), err
}

// Docs sets docs to the documents at the positions from at on, which must exist.
func (o *IDOrder) Docs(at int, docs []uint32) (err error) {
	for i := range docs {
		if docs[i], err = o.Doc(at + i); err != nil {
			return err
		}
	}
	return nil
}

// Seek returns the first position whose ID is not less than id, Len if there is none.
func (o *IDOrder) Seek(id []byte) (int, error) {
	lo, hi := 0, o.Len()
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		doc, err := o.Doc(mid)
		if err != nil {
			return 0, err
		}
		name, err := o.t.Names.Get(doc)
		if err != nil {
			return 0, err
		}
		if bytes.Compare(name, id) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// nameBatch is how many IDs a NameCursor reads at a time, so that their cache misses overlap.
const nameBatch = 64

// A NameCursor reads the IDs of a table in their order.
type NameCursor struct {
	order   *IDOrder
	at, end int // positions that have not been read
	docs    [nameBatch]uint32
	ids     [nameBatch][]byte
	next, n int // of the batch

	Doc  uint32 // the current document, after Next has returned true
	ID   []byte // its ID; it aliases the table
	Head uint64 // the bytes of the ID after those that all IDs of the range share: see ordered.Head
	skip int
}

// Cursor returns a cursor before position at, which ends before position end. All IDs between them
// must have the first skip bytes in common.
func (o *IDOrder) Cursor(at, end, skip int) *NameCursor {
	return &NameCursor{order: o, at: at, end: end, skip: skip}
}

// Next moves to the next document, and returns false if there is none.
func (c *NameCursor) Next() (ok bool, err error) {
	if c.next == c.n {
		if c.at == c.end {
			return false, nil
		}
		if err := c.fill(); err != nil {
			return false, err
		}
	}
	c.Doc, c.ID = c.docs[c.next], c.ids[c.next]
	if len(c.ID) < c.skip {
		return false, c.order.Misplaced(c.Doc)
	}
	c.Head = ordered.Head(c.ID[c.skip:])
	c.next++
	return true, nil
}

// fill reads the next batch.
func (c *NameCursor) fill() error {
	docs := c.docs[:min(nameBatch, c.end-c.at)]
	if err := c.order.Docs(c.at, docs); err != nil {
		return err
	}
	names := c.order.t.Names
	if c.order.Column != nil {
		names.Fetch(docs)
		for _, doc := range docs {
			names.PrefetchEntry(doc)
		}
		for _, doc := range docs {
			names.Prefetch(doc)
		}
	}
	for i, doc := range docs {
		id, err := names.Get(doc)
		if err != nil {
			return err
		}
		c.ids[i] = id
	}
	c.at, c.next, c.n = c.at+len(docs), 0, len(docs)
	return nil
}

// Misplaced returns the error for a document whose ID is not in order.
func (o *IDOrder) Misplaced(doc uint32) error {
	if o.Column == nil {
		return base.Corruptf(o.t.File, KindNames.String(), 0, "the ID of document %d is out of order", doc)
	}
	return o.Column.Corrupt(0, "document %d is out of the order of IDs", doc)
}
