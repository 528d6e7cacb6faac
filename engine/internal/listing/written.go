package listing

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// Limits of the memory of EachWritten: it holds the texts of one lot, a quarter of the memory of a
// query up to lotBytes, or one larger text, and some bytes per document; and for all tables
// together, up to orderedDocs documents in the order of writing.
const (
	lotShare    = 4
	lotBytes    = 128 << 20
	lotDocs     = 1 << 18
	orderedDocs = 1 << 22
	leastOfPart = 1 << 14
	textsBlock  = 1 << 20
)

// EachWritten is Each in the order of writing, the oldest document first; it ignores f.Fields. If
// load is set it reads texts and fields, which are valid during the call of fn. Each table stores
// the order of writing, and these orders are merged. But texts are stored by fingerprint, within
// groups of some megabytes that were written together. EachWritten therefore reads the texts of a
// lot of documents in storage order, so that mostly each block of texts is decoded once.
func EachWritten(ctx context.Context, v *view.View, f Filter, load bool, fn func(id []byte, p view.Place, text, fields []byte) error) error {
	f.Life = v.Within(f.Since)
	w := &writtenOrder{ctx: ctx, v: v, Filter: f, load: load || f.Where != nil, fn: fn, most: max(min(v.Memory/lotShare, lotBytes), 1)}
	err := v.Safely(ctx, func() error {
		streams, err := w.open()
		for err == nil {
			var lot []view.Place
			if lot, err = w.lot(streams); err != nil || len(lot) == 0 {
				break
			}
			err = w.give(lot)
		}
		return err
	})
	if errors.Is(err, view.ErrStopped) {
		return nil
	}
	return err
}

type writtenOrder struct {
	ctx context.Context
	v   *view.View
	Filter
	load   bool
	fn     func(id []byte, p view.Place, text, fields []byte) error
	most   int64 // limit of the texts of a lot, in bytes
	places []view.Place
	texts  []loaded // of the documents of a lot
	blocks [][]byte // buffers for texts
	used   int      // number of blocks in use
}

// loaded is the text and fields of a document, or omit if Where rejects it.
type loaded struct {
	text, fields []byte // adjacent in a block
	omit         bool
}

// A writtenStream yields the documents of a table, or of all memtables, in the order of writing.
type writtenStream struct {
	part *view.Part // nil for the memtables
	mems []view.Place
	docs []uint32 // the next documents
	from int      // position in the order after docs
	step int      // how many positions are read at a time
	size int64    // approximate size of a text

	head view.Place // the next document, unless ended
	seq  uint64     // sequence number of head
	done bool
}

func (w *writtenOrder) open() ([]*writtenStream, error) {
	mems := &writtenStream{}
	for _, m := range w.v.Mems {
		first := sort.Search(len(m.Docs), func(i int) bool { return m.Docs[i].Seq > w.After })
		for _, d := range m.Docs[first:] {
			if w.v.Lists(d) {
				mems.mems = append(mems.mems, view.Place{Mem: d})
			}
		}
	}
	streams, parts := []*writtenStream{mems}, w.v.Version.Parts
	for i := range parts {
		p := &parts[i]
		s := &writtenStream{part: p, step: max(orderedDocs/len(parts), leastOfPart), size: p.TextBytes()}
		if p.Meta.MinSeq <= w.After {
			var err error
			if s.from, err = p.WrittenUpTo(min(w.After, p.Meta.MaxSeq) - p.Shift); err != nil {
				return nil, err
			}
		}
		streams = append(streams, s)
	}
	for _, s := range streams {
		if err := w.advance(s); err != nil {
			return nil, err
		}
	}
	return streams, nil
}

// advance makes the next document of a stream its head.
func (w *writtenOrder) advance(s *writtenStream) (err error) {
	for {
		switch {
		case len(s.mems) > 0:
			s.head, s.mems = s.mems[0], s.mems[1:]
			if s.seq = s.head.Mem.Seq; w.Has(&s.head.Mem.Document) {
				return nil
			}
			continue
		case s.part == nil || len(s.docs) == 0 && s.from == int(s.part.Meta.Docs):
			s.done = true
			return nil
		case len(s.docs) == 0:
			to := min(s.from+s.step, int(s.part.Meta.Docs))
			if s.docs, err = s.part.AppendInOrder(s.docs[:0], s.from, to); err != nil {
				return err
			}
			s.from = to
		}
		doc := s.docs[0]
		s.docs = s.docs[1:]
		if ok, err := s.part.AliveAt(doc, w.v.Seq, w.Life); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		s.head = view.Place{Part: s.part, Doc: doc}
		s.seq, err = s.head.Seq()
		return err
	}
}

// lot returns the next documents.
func (w *writtenOrder) lot(streams []*writtenStream) ([]view.Place, error) {
	w.places = w.places[:0]
	for size := int64(0); len(w.places) < lotDocs && size < w.most; {
		var least *writtenStream
		for _, s := range streams {
			if !s.done && (least == nil || s.seq < least.seq) {
				least = s
			}
		}
		if least == nil {
			break
		}
		w.places = append(w.places, least.head)
		if size += least.size; least.head.Mem != nil {
			size += int64(len(least.head.Mem.Text) + len(least.head.Mem.Fields))
		}
		if err := w.advance(least); err != nil {
			return nil, err
		}
	}
	return w.places, w.ctx.Err()
}

// give reads the texts of a lot and calls fn for the documents that the filter selects. If the
// texts are larger than expected, it divides the lot into halves.
func (w *writtenOrder) give(lot []view.Place) error {
	if w.load {
		fits, err := w.read(lot)
		if err != nil {
			return err
		}
		if !fits {
			if err := w.give(lot[:len(lot)/2]); err != nil {
				return err
			}
			return w.give(lot[len(lot)/2:])
		}
	}
	for i, p := range lot {
		id, err := p.ID()
		if err != nil {
			return err
		}
		if ok, err := w.matches(id); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		var t loaded
		if w.load {
			t = w.texts[i]
		}
		if !t.omit {
			err = w.fn(id, p, t.text, t.fields)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads the texts of a lot. fits is false if they are much larger than expected.
func (w *writtenOrder) read(lot []view.Place) (fits bool, err error) {
	w.used, w.texts = 0, slices.Grow(w.texts[:0], len(lot))[:len(lot)]
	size := int64(0)
	at := map[*view.Part][]int{}
	for i, p := range lot {
		at[p.Part] = append(at[p.Part], i)
	}
	for part, indexes := range at {
		docs := make([]uint32, len(indexes))
		for i, at := range indexes {
			docs[i] = lot[at].Doc
		}
		var texts *table.Texts
		order := indexes // for a memtable
		if part != nil {
			if order, err = part.TextOrder(docs); err != nil {
				return false, err
			}
			texts = part.TextsInOrder(false)
		}
		for n, i := range order {
			var text, fields []byte
			if part == nil {
				text, fields = lot[i].Mem.Text, lot[i].Mem.Fields
			} else if text, fields, err = texts.Get(docs[i]); err != nil {
				return false, err
			} else {
				i = indexes[i]
			}
			take := true
			if w.Where != nil {
				if take, err = w.Where(text, fields); err != nil {
					return false, err
				}
			}
			if w.texts[i] = (loaded{omit: true}); !take {
				continue
			}
			w.texts[i] = w.keep(text, fields)
			if size += int64(len(text) + len(fields)); size > 2*w.most && len(lot) > 1 {
				return false, nil
			}
			if n%rowsPerLook == 0 && w.ctx.Err() != nil {
				return false, w.ctx.Err()
			}
		}
	}
	return true, nil
}

// keep copies text and fields.
func (w *writtenOrder) keep(text, fields []byte) loaded {
	n := len(text) + len(fields)
	if w.used == 0 || cap(w.blocks[w.used-1])-len(w.blocks[w.used-1]) < n {
		if w.used == len(w.blocks) {
			w.blocks = append(w.blocks, nil)
		}
		if w.blocks[w.used] = w.blocks[w.used][:0]; cap(w.blocks[w.used]) < n {
			w.blocks[w.used] = make([]byte, 0, max(n, textsBlock))
		}
		w.used++
	}
	b := &w.blocks[w.used-1]
	*b = append(append(*b, text...), fields...)
	at := (*b)[len(*b)-n:]
	return loaded{text: at[:len(text):len(text)], fields: at[len(text):n:n]}
}
