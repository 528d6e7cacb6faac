package engine

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// A reading in the order of IDs reads its first directDocs documents one by one, as a page of few
// documents needs: blocks of texts come from the cache. Then it collects documents, at first twice
// as many and then more each time, and reads their texts in the order of storage, so that a block is
// decoded once for all of them. It stops reading ahead when the documents, with aheadDoc bytes for
// each in addition to its text, occupy aheadBytes (BenchmarkOrder).
const (
	directDocs = 128
	aheadDoc   = 256
	aheadBytes = 16 << 20
)

// A reading yields the documents that are given to it.
type reading struct {
	ctx     context.Context
	s       *Snapshot
	read    func(d *Doc, p view.Place) error // completes a document that has not been read ahead
	yield   func(Doc, error) bool
	limit   int  // how many more documents the caller reads; negative for all
	stopped bool // the caller wants no more

	most   int            // bytes of texts and fields read ahead
	doc    Doc            // the document read last, one by one
	buffer table.Document // for it
	direct int            // how many documents are still read one by one; negative for all
	window int            // how many documents are collected after that
	ahead  []aheadDocument
	texts  map[*view.Part]*table.Texts
}

// aheadDocument is a document that has been collected.
type aheadDocument struct {
	Doc
	place view.Place
	has   bool // it has its text and fields
}

// newReading returns the reading of documents that r selects; it may change r.Where.
func (s *Snapshot) newReading(ctx context.Context, r *Range, yield func(Doc, error) bool) *reading {
	a := &reading{ctx: ctx, s: s, read: s.read, yield: yield, limit: r.Limit, direct: -1, window: 2 * directDocs, most: int(min(aheadBytes, s.v.Memory/4))}
	if r.Limit == 0 {
		a.limit = -1
	}
	switch {
	case r.OnlyIDs:
		a.read = func(*Doc, view.Place) error { return nil }
	case r.Load && r.Unordered && s.v.Params.StoreText: // Where reads the texts in storage order
		a.read = r.loadByWhere(s)
	case r.Load:
		a.read = func(d *Doc, p view.Place) error { return s.readWith(d, p, &a.buffer) }
		if !r.Unordered {
			a.direct = directDocs
		}
	}
	return a
}

// add adds the next document, and reports whether the caller wants more.
func (a *reading) add(id []byte, p view.Place) (more bool, err error) {
	if a.direct != 0 {
		a.direct--
		a.doc = Doc{ID: string(id)}
		err = a.give(&a.doc, p, false)
		return !a.stopped, err
	}
	if a.ahead = append(a.ahead, aheadDocument{Doc: Doc{ID: string(id)}, place: p}); len(a.ahead) == a.window || len(a.ahead) == a.limit {
		err = a.flush()
	}
	return !a.stopped, err
}

// give yields a document; has says that it has its text and fields.
func (a *reading) give(d *Doc, p view.Place, has bool) error {
	read := a.read
	if has {
		read = a.s.read
	}
	if err := a.s.v.Safely(a.ctx, func() error { return read(d, p) }); err != nil {
		return err
	}
	a.limit--
	a.stopped = !a.yield(*d, nil) || a.limit == 0
	return nil
}

// flush yields the collected documents.
func (a *reading) flush() error {
	docs := a.ahead
	if len(docs) == 0 {
		return nil
	}
	a.ahead = docs[:0]
	if err := a.s.v.Safely(a.ctx, func() error { return a.readAhead(docs) }); err != nil {
		return err
	}
	for i := range docs {
		if err := a.give(&docs[i].Doc, docs[i].place, docs[i].has); err != nil || a.stopped {
			return err
		}
		docs[i] = aheadDocument{}
	}
	return nil
}

// readAhead reads texts and fields of the documents, table after table in the order of
// storage, as far as memory allows. It leaves documents that it cannot read to give, which returns
// the error after the documents before them.
func (a *reading) readAhead(docs []aheadDocument) error {
	size := 0
	tried := map[*view.Part]bool{}
	for i := range docs {
		if part := docs[i].place.Part; part != nil && !tried[part] && size < a.most {
			n, err := a.readPart(docs[i:], a.most-size)
			if err != nil {
				return err
			}
			size, tried[part] = size+n, true
		}
	}
	switch {
	case size > a.most/2:
		a.window = max(a.window/2, 1)
	case size+len(docs)*aheadDoc <= a.most/2:
		a.window *= 2
	}
	return nil
}

// readPart reads those documents that are in the table of the first, until they occupy most bytes.
// It returns how many they occupy.
func (a *reading) readPart(docs []aheadDocument, most int) (size int, err error) {
	part := docs[0].place.Part
	var numbers []uint32
	var at []int
	for i := range docs {
		if p := docs[i].place; p.Part == part {
			numbers, at = append(numbers, p.Doc), append(at, i)
		}
	}
	order, err := part.TextOrder(numbers)
	if err != nil {
		return 0, nil // give reports it
	}
	texts := a.texts[part]
	if texts == nil {
		if texts = part.TextsInOrder(); a.texts == nil {
			a.texts = map[*view.Part]*table.Texts{}
		}
		a.texts[part] = texts
	}
	for n, j := range order {
		if n%directDocs == 0 && a.ctx.Err() != nil {
			return size, a.ctx.Err()
		}
		text, fields, err := texts.Get(numbers[j])
		if err != nil || size >= most {
			return size, nil
		}
		d := &docs[at[j]]
		d.Text, d.Fields, d.has = string(text), json.RawMessage(bytes.Clone(fields)), true
		size += len(text) + len(fields)
	}
	return size, nil
}
