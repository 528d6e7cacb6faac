package engine

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// A reading in the order of IDs collects documents, reads their columns and texts in one pass over each
// table, and yields them: at first a few, or as many as a page has, up to pageWindow. So it reads
// its first directDocs documents, or one by one if conditions select them, and blocks of texts come
// from the cache. Then it collects more documents each time, and reads their texts in the order of
// storage, so that a block is decoded once for all its documents. It stops reading ahead when the
// documents, with aheadDoc bytes for each in addition to its text, occupy aheadBytes. IDs, texts and
// fields of several documents share chunks of chunkBytes, unless they are long: a document that the
// caller holds retains few bytes of others (BenchmarkOrder).
const (
	firstWindow, pageWindow = 8, 64
	directDocs              = 128
	mostEntries             = 512 // in a window without texts
	aheadDoc                = 256
	aheadBytes              = 16 << 20
	chunkBytes              = 4 << 10
)

// A reading yields the documents that are given to it.
type reading struct {
	ctx     context.Context
	s       *Snapshot
	load    bool                             // read texts and fields, too
	read    func(d *Doc, p view.Place) error // completes a document, if they are not read together
	yield   func(Doc, error) bool
	limit   int  // how many more documents the caller reads; negative for all
	stopped bool // the caller wants no more

	most    int // bytes of texts and fields read ahead
	direct  int // how many documents are still read through the cache
	window  int // how many documents are collected next
	docs    []collected
	numbers []uint32 // of a table, and where they are in docs
	at      []int
	texts   map[*view.Part]*table.Texts
	strings strings.Builder // the chunk of IDs and texts
	fields  []byte          // the chunk of fields
}

// collected is a document that has been collected.
type collected struct {
	Doc
	place view.Place
	has   bool // it is complete
}

// newReading returns the reading of documents that r selects; it may change r.Where.
func (s *Snapshot) newReading(ctx context.Context, r *Range, yield func(Doc, error) bool) *reading {
	a := &reading{ctx: ctx, s: s, load: r.Load, yield: yield, limit: r.Limit, direct: directDocs, window: firstWindow, most: int(min(aheadBytes, s.v.Memory/4))}
	switch {
	case r.Unordered || r.Where != nil || r.Match != nil:
		a.window = 1
	case r.Limit > 0:
		a.window = min(r.Limit, pageWindow)
	}
	if r.Limit == 0 {
		a.limit = -1
	}
	switch {
	case r.OnlyIDs:
		a.read = func(*Doc, view.Place) error { return nil }
	case r.Load && r.Unordered && s.v.Params.StoreText: // Where reads the texts in storage order
		a.read = r.loadByWhere(s)
	}
	if r.Unordered {
		a.direct = -1
	}
	return a
}

// add adds the next document, and reports whether the caller wants more.
func (a *reading) add(id []byte, p view.Place) (more bool, err error) {
	if a.docs == nil {
		a.docs = make([]collected, 0, a.window)
	}
	a.docs = append(a.docs, collected{Doc: Doc{ID: a.share(id)}, place: p})
	if len(a.docs) == a.window || len(a.docs) == a.limit {
		err = a.flush()
	}
	return !a.stopped, err
}

// flush yields the collected documents.
func (a *reading) flush() error {
	docs := a.docs
	if len(docs) == 0 {
		return nil
	}
	a.docs = docs[:0]
	if a.read == nil {
		if err := a.s.v.Safely(a.ctx, func() error { return a.complete(docs) }); err != nil {
			return err
		}
	} else if err := a.s.v.Usable(a.ctx); err != nil {
		return err
	}
	for i := range docs {
		d := &docs[i]
		if !d.has {
			if err := a.readOne(&d.Doc, d.place); err != nil {
				return err
			}
		} else if err := a.s.v.Usable(a.ctx); err != nil {
			return err
		}
		a.limit--
		a.stopped = !a.yield(d.Doc, nil) || a.limit == 0
		if *d = (collected{}); a.stopped {
			return nil
		}
	}
	if a.direct > 0 {
		a.direct -= len(docs)
		switch {
		case a.direct <= 0:
			a.window, a.texts = 2*directDocs, nil
		case a.window > 1:
			a.window = min(2*a.window, pageWindow)
		}
	}
	return nil
}

// readOne completes a document that has not been read with others.
func (a *reading) readOne(d *Doc, p view.Place) error {
	return a.s.v.Safely(a.ctx, func() error {
		switch {
		case a.read != nil:
			return a.read(d, p)
		case a.load:
			return a.s.readWhole(d, p)
		}
		return a.s.read(d, p)
	})
}

// complete reads documents, table after table in the order of storage, as far as memory allows. It
// leaves documents that it cannot read to readOne, which returns the error after the documents
// before them.
func (a *reading) complete(docs []collected) error {
	size := 0
	tried := map[*view.Part]bool{}
	for i := range docs {
		p := docs[i].place
		switch {
		case p.Mem != nil:
			if err := a.set(&docs[i], &p.Mem.Document, &size); err != nil {
				return err
			}
		case !tried[p.Part] && size < a.most:
			if err := a.readPart(docs[i:], &size); err != nil {
				return err
			}
			tried[p.Part] = true
		}
	}
	switch {
	case a.direct > 0:
	case size > a.most/2:
		a.window = max(a.window/2, 1)
	case a.window > 1 && size+len(docs)*aheadDoc <= a.most/2 && (a.load || a.window < mostEntries):
		a.window *= 2
	}
	return nil
}

// readPart reads those documents that are in the table of the first, until all occupy a.most bytes.
func (a *reading) readPart(docs []collected, size *int) error {
	part := docs[0].place.Part
	a.numbers, a.at = a.numbers[:0], a.at[:0]
	for i := range docs {
		if p := docs[i].place; p.Part == part {
			a.numbers, a.at = append(a.numbers, p.Doc), append(a.at, i)
		}
	}
	var texts *table.Texts
	if a.load {
		if texts = a.texts[part]; texts == nil {
			if a.texts == nil {
				a.texts = map[*view.Part]*table.Texts{}
			}
			texts = part.TextsInOrder(a.direct != 0)
			a.texts[part] = texts
		}
	}
	left := directDocs
	err := part.EachUnnamed(a.numbers, texts, func(i int, d *table.Document) error {
		if left--; left == 0 {
			if left = directDocs; a.ctx.Err() != nil {
				return a.ctx.Err()
			}
		}
		if *size >= a.most {
			return view.ErrStopped
		}
		d.Seq = part.ShiftSeq(d.Seq)
		return a.set(&docs[a.at[i]], d, size)
	})
	if err != nil {
		return a.ctx.Err() // readOne reports others
	}
	return nil
}

// set completes a document, and adds the size of its text and fields.
func (a *reading) set(to *collected, d *table.Document, size *int) error {
	more, err := a.s.v.Fingerprints(to.ID)
	if err != nil {
		return err
	}
	to.Fingerprints = fingerprintsOf(d.HasFingerprint, d.Fingerprint, d.Rest, more)
	to.Time, to.Expires, to.Seq, to.has = time.UnixMicro(d.Time), d.ExpiresAt(), d.Seq, true
	if a.load {
		to.Text, to.Fields = a.share(d.Text), a.shareFields(d.Fields)
		*size += len(d.Text) + len(d.Fields)
	}
	return nil
}

// share returns b as a string, which may be a part of a chunk.
func (a *reading) share(b []byte) string {
	c := &a.strings
	if len(b) > c.Cap()-c.Len() {
		if len(b) > chunkBytes/8 || a.window == 1 {
			return string(b)
		}
		c.Reset()
		c.Grow(chunkBytes)
	}
	at := c.Len()
	c.Write(b)
	return c.String()[at:]
}

// shareFields returns a copy of b, which may be a part of a chunk.
func (a *reading) shareFields(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	if len(b) > cap(a.fields)-len(a.fields) {
		if len(b) > chunkBytes/8 || a.window == 1 {
			return append(json.RawMessage(nil), b...)
		}
		a.fields = make([]byte, 0, chunkBytes)
	}
	at := len(a.fields)
	a.fields = append(a.fields, b...)
	return json.RawMessage(a.fields[at:len(a.fields):len(a.fields)])
}
