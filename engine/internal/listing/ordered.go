package listing

import (
	"bytes"
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table"
)

// FirstPage is how many entries of a table are sorted before the first is yielded.
const FirstPage = 1024

// EachInOrder calls fn for every visible document that f selects, in order of ID, or in reverse,
// until fn returns false or an error. It merges one stream per table and one for all memtables,
// each in order. A table's stream follows the table's IDOrder, and reads some IDs at a time. The
// memtables, and the documents of a table that are found by their times or their fields, are sorted
// a page at a time: the first page has length first, later pages share others among all streams.
// Memory therefore does not depend on the number of documents, and few documents are read after the
// last one that fn accepts. id is only valid during the call.
func EachInOrder(ctx context.Context, v *view.View, f Filter, first, others int, fn func(id []byte, p view.Place) (bool, error)) error {
	streams, err := openStreams(ctx, v, f, first, others)
	if err != nil {
		return err
	}
	for seen := 1; ; seen++ {
		var least *stream
		for _, s := range streams {
			if !s.ended && (least == nil || f.compare(s.head.id, least.head.id) < 0) {
				least = s
			}
		}
		if least == nil {
			return ctx.Err()
		}
		ok, err := least.holds(ctx)
		if err == nil && ok {
			if ok, err = fn(least.head.id, least.head.Place); err == nil && !ok {
				return nil
			}
		}
		if err == nil && seen%rowsPerLook == 0 {
			err = ctx.Err()
		}
		if err == nil {
			err = least.next(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// A named place is a place with a copy of its document's ID.
type named struct {
	id []byte
	view.Place
}

// compare compares IDs in the order of the iteration.
func (f *Filter) compare(a, b []byte) int {
	if f.Reverse {
		a, b = b, a
	}
	return bytes.Compare(a, b)
}

// A stream yields the visible and selected documents of a table, or of all memtables, in order of
// ID. Where is evaluated when a document is the head: see holds.
type stream struct {
	v      *view.View
	Filter     // Life is within the view's
	length int // of the next page
	others int // of the later pages

	part    *view.Part      // nil for the memtables
	order   *table.IDOrder  // of part; nil if few or found is set
	names   names           // read from order
	found   []uint32        // documents found by indexes of fields
	decided bool            // all documents in found satisfy Where
	tries   int             // how many texts may still be read one by one
	chosen  *roaring.Bitmap // documents of part that satisfy Where; nil until computed
	few     bool            // few documents of the part are recent enough: find them by time

	page  *ordered.Runs[named] // without order: after the documents yielded before; nil before the first
	more  bool                 // there are more documents than the page has
	head  named                // the next document, unless ended
	ended bool
}

// openStreams returns the streams that are not empty, each at its first document.
func openStreams(ctx context.Context, v *view.View, f Filter, first, others int) (streams []*stream, err error) {
	others = max(others/(len(v.Version.Parts)+1), 1)
	if f.Limit > 0 && f.Where == nil {
		first = min(first, f.Limit)
	}
	f.Life = v.Within(f.Since)
	for i := range len(v.Version.Parts) + 1 { // the last stream is that of the memtables
		s := &stream{v: v, Filter: f, length: min(first, others), others: others}
		if i < len(v.Version.Parts) {
			err = s.open(ctx, &v.Version.Parts[i])
		}
		if err == nil {
			err = s.next(ctx)
		}
		if err != nil {
			return nil, err
		}
		if !s.ended {
			streams = append(streams, s)
		}
	}
	return streams, nil
}

// fewSince is the inverse of the fraction of a table's documents up to which the documents that are
// recent enough are found by the column of times rather than by the ID order.
const fewSince = 16

// open makes s the stream of a table, before its first document.
func (s *stream) open(ctx context.Context, p *view.Part) (err error) {
	s.part, s.tries = p, fewTries+int(p.Meta.Docs/triesShare)
	if s.found, s.decided, err = s.Filter.found(s.v, p, true); s.found != nil || err != nil {
		return err
	}
	if s.Since > p.Meta.MinTime {
		n, err := p.CountWritten(ctx, s.Written())
		if s.few = n <= int64(p.Meta.Docs)/fewSince; err != nil || s.few {
			return err
		}
	}
	if s.order, err = p.IDOrder(); err != nil {
		return err
	}
	s.names.together = leastNames + min(s.Limit/len(s.v.Version.Parts), mostNames-leastNames)
	s.names.from, s.names.end, err = s.order.Range([]byte(s.From), []byte(s.To))
	return err
}

// next makes the next document the head.
func (s *stream) next(ctx context.Context) error {
	if s.order != nil {
		return s.nextNamed(ctx)
	}
	for {
		if s.page != nil {
			if n, ok := s.page.Next(); ok {
				s.head = n
				return nil
			}
			if !s.more {
				s.ended, s.page = true, nil
				return nil
			}
		}
		if err := s.v.Safely(ctx, func() error { return s.turn(ctx) }); err != nil {
			return err
		}
	}
}

// A stream reads leastNames IDs of a table at first, then twice as many each time, up to mostNames,
// so that their cache misses overlap but a short page reads few that it does not need. With a limit
// it begins with its share of that and leastNames more.
const (
	leastNames = 16
	mostNames  = 256
)

// names are IDs that have been read from an order of IDs.
type names struct {
	from, end int // positions that have not been read; in reverse, the last are read first
	together  int // how many IDs are read next
	docs      []uint32
	ids       []byte
	ends      []int // ends of the IDs in ids
	at        int   // how many of docs have been passed
}

// nextNamed is next for a stream with an order of IDs.
func (s *stream) nextNamed(ctx context.Context) error {
	n := &s.names
	for {
		for n.at < len(n.docs) {
			i := n.at
			if n.at++; s.Reverse {
				i = len(n.docs) - n.at
			}
			doc, start := n.docs[i], 0
			if i > 0 {
				start = n.ends[i-1]
			}
			id := n.ids[start:n.ends[i]]
			if ok, err := s.selects(doc, id); err != nil {
				return err
			} else if ok {
				s.head = named{id, view.Place{Part: s.part, Doc: doc}}
				return nil
			}
		}
		if n.from == n.end {
			s.ended = true
			return nil
		}
		if err := s.v.Safely(ctx, func() error { return s.readNames() }); err != nil {
			return err
		}
	}
}

// readNames reads the next IDs of a table.
func (s *stream) readNames() (err error) {
	n := &s.names
	at, some := n.from, min(n.together, n.end-n.from)
	if s.Reverse {
		at = n.end - some
		n.end = at
	} else {
		n.from += some
	}
	n.docs, n.at, n.together = slices.Grow(n.docs[:0], some)[:some], 0, min(2*n.together, mostNames)
	if err = s.order.Docs(at, n.docs); err == nil {
		n.ids, n.ends, err = s.part.AppendIDs(n.ids[:0], n.ends[:0], n.docs)
	}
	return err
}

// selects reports whether a document of a table is visible and selected; of Where, it considers what
// is known.
func (s *stream) selects(doc uint32, id []byte) (bool, error) {
	if ok, err := s.matches(id); err != nil || !ok || s.chosen != nil && !s.chosen.Contains(doc) {
		return false, err
	}
	return s.part.AliveAt(doc, s.v.Seq, s.Life)
}

// A listing in order with Where first reads some texts of a table one by one, when their IDs come
// up, and only then all texts: it reads fewTries texts, plus one for each triesShare documents.
// Reading one by one decodes a block of records for each text; reading in storage order decodes
// each block once. A listing that matches often thus yields its first documents without a scan of
// the table. Other listings cost an eighth of a scan more, or up to a whole scan more if documents
// are very short.
const (
	fewTries   = 16
	triesShare = 512
)

// holds evaluates Where for the head. It reads single texts while tries are left, then those of the
// whole table, once.
func (s *stream) holds(ctx context.Context) (ok bool, err error) {
	if s.Where == nil || s.decided {
		return true, nil
	}
	if s.part != nil && s.chosen == nil && s.tries == 0 {
		s.chosen = roaring.New()
		err = s.v.Safely(ctx, func() error {
			return eachWhere(ctx, s.v, s.part, s.Filter, s.found, func(doc uint32, _ []byte) error { s.chosen.Add(doc); return nil })
		})
		if err != nil {
			return false, err
		}
	}
	if s.chosen != nil {
		return s.chosen.Contains(s.head.Doc), nil
	}
	s.tries--
	err = s.v.Safely(ctx, func() (err error) {
		var d table.Document
		if err = s.head.Unnamed(&d); err == nil {
			ok, err = s.Where(d.Text, d.Fields)
		}
		return err
	})
	return ok, err
}

// turn makes the next page, after the head if there is one.
func (s *stream) turn(ctx context.Context) (err error) {
	after, found := s.head.id, ordered.Limited[named]{Most: s.length, Compare: func(a, b named) int { return s.compare(a.id, b.id) }}
	var copies []byte // side by side: IDs that are compared while sorting share cache lines
	passed := func(id []byte) bool {
		last, full := found.Last()
		return after != nil && s.compare(id, after) <= 0 || full && s.compare(id, last.id) >= 0
	}
	ofPart := func(doc uint32, id []byte) error {
		if passed(id) {
			return nil
		}
		ok, err := s.selects(doc, id)
		if err == nil && ok {
			if cap(copies)-len(copies) < len(id) {
				copies = make([]byte, 0, max(idChunk, len(id)))
			}
			copies = append(copies, id...)
			found.Add(named{copies[len(copies)-len(id):], view.Place{Part: s.part, Doc: doc}})
		}
		return err
	}
	switch {
	case s.part == nil:
		err = s.eachMem(s.v, func(p view.Place) error {
			if id := p.Mem.ID; !passed(id) && s.Has(&p.Mem.Document) {
				if ok, err := s.matches(id); err != nil || !ok {
					return err
				}
				found.Add(named{id, p})
			}
			return nil
		})
	case s.found != nil:
		err = s.part.EachIDOf(ctx, s.found, ofPart)
	default:
		err = s.part.EachWrittenID(ctx, s.Written(), ofPart)
	}
	if err == nil {
		s.page, s.more, err = found.Sorted(ctx)
	}
	s.length = s.others
	return err
}

// idChunk is the size in bytes of the chunks that turn copies IDs to.
const idChunk = 1 << 12
