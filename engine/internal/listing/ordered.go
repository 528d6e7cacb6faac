package listing

import (
	"bytes"
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/sstable"
)

// FirstPage is how many entries of a table are put in order before the first is given.
const FirstPage = 1024

// EachInOrder calls fn for every visible document that f selects, in order of ID, or the reverse,
// until it returns false or an error. Each table, and the memtables together, give theirs in order,
// which are merged. A table does so part by part of its IDOrder; what is held of a part is a page,
// the first one of first documents, later ones of others in all tables together. So what is held
// does not depend on how many documents there are, and those that follow the last that fn takes are
// not looked for.
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

// A named place is a place with its document's ID, which is a copy.
type named struct {
	id []byte
	view.Place
}

// compare compares IDs in the order in which they are given.
func (f *Filter) compare(a, b []byte) int {
	if f.Reverse {
		a, b = b, a
	}
	return bytes.Compare(a, b)
}

// A stream gives the documents of a table, or of all memtables, that are visible and selected, in
// order of ID. Whether Where selects one is decided when it is the head: see holds.
type stream struct {
	v      *view.View
	Filter     // Since is at least that of the view
	length int // of the next page
	others int // of those after it

	part      *view.Part       // nil for the memtables
	order     *sstable.IDOrder // of part; nil if few or found is set
	found     []uint32         // documents that indexes of fields have found
	decided   bool             // these satisfy Where
	tries     int              // texts and fields that may still be read one by one
	chosen    *roaring.Bitmap  // those of part that satisfy Where; nil until it is made
	few       bool             // the part has few documents that are young enough: find them by time
	step, end int              // parts of the order that are left, up or down to end; else 0 of 1

	page  *ordered.Runs[named] // of part step, after what was given before
	more  bool                 // part step has more than the page
	head  named                // the next document, unless ended
	ended bool
}

// openStreams returns the streams that have something, each at its first document.
func openStreams(ctx context.Context, v *view.View, f Filter, first, others int) (streams []*stream, err error) {
	others = max(others/(len(v.Version.Parts)+1), 1)
	if f.Limit > 0 && f.Where == nil {
		first = min(first, f.Limit)
	}
	f.Since = max(f.Since, v.Since)
	open := func(s stream) error {
		s.v, s.Filter, s.length, s.others = v, f, min(first, others), others
		if f.Reverse {
			s.step, s.end = s.end-1, s.step-1
		}
		if err := s.next(ctx); err != nil || s.ended {
			return err
		}
		streams = append(streams, &s)
		return nil
	}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		s, err := streamOf(ctx, v, p, f)
		if err == nil {
			err = open(s)
		}
		if err != nil {
			return nil, err
		}
	}
	err = open(stream{end: 1})
	return streams, err
}

// fewSince is the share of a table's documents up to which those that are young enough are found by
// the column of times rather than by the order of IDs.
const fewSince = 16

// streamOf returns the stream of a table that is not opened yet.
func streamOf(ctx context.Context, v *view.View, p *view.Part, f Filter) (s stream, err error) {
	s = stream{part: p, end: 1, tries: fewTries + int(p.Meta.Docs/triesShare)}
	if s.found, s.decided, err = f.found(v, p, true); s.found != nil || err != nil {
		return s, err
	}
	if f.Since > p.Meta.MinTime {
		n, err := p.CountWritten(ctx, view.Stored(f.Since))
		if s.few = n <= int64(p.Meta.Docs)/fewSince; err != nil || s.few {
			return s, err
		}
	}
	if s.order, err = p.IDOrder(); err == nil {
		s.step, s.end = s.order.Range([]byte(f.From), []byte(f.To))
	}
	return s, err
}

// next makes the next document the head.
func (s *stream) next(ctx context.Context) error {
	for {
		if s.page != nil {
			if n, ok := s.page.Next(); ok {
				s.head = n
				return nil
			}
			switch {
			case s.more:
			case s.Reverse:
				s.step--
			default:
				s.step++
			}
		}
		if s.step == s.end {
			s.ended, s.page = true, nil
			return nil
		}
		if err := s.v.Safely(ctx, func() error { return s.turn(ctx) }); err != nil {
			return err
		}
	}
}

// A listing in order reads some texts of a table one by one, where the ids come, before it reads
// those of all: fewTries, and of each triesShare documents another. One by one each decodes a block
// of records; in the order in which they lie each block is decoded once. So the first of what is
// not rare are found without a scan of the table, and others take an eighth of a scan more, or as
// much as one where documents are very short.
const (
	fewTries   = 16
	triesShare = 512
)

// holds decides on the head by its text and fields. It reads those of the head alone while there
// are tries left, then those of the whole table, once.
func (s *stream) holds(ctx context.Context) (ok bool, err error) {
	if s.Where == nil || s.decided {
		return true, nil
	}
	if s.part != nil && s.chosen == nil && s.tries == 0 {
		if s.chosen, err = chosenOf(ctx, s.v, s.part, s.Filter, s.found); err != nil {
			return false, err
		}
	}
	if s.chosen != nil {
		return s.chosen.Contains(s.head.Doc), nil
	}
	s.tries--
	err = s.v.Safely(ctx, func() (err error) {
		var d sstable.Document
		if err = s.head.WithoutSketch(&d); err == nil {
			ok, err = s.Where(d.Text, d.Fields)
		}
		return err
	})
	return ok, err
}

// turn makes the next page: of part step, what follows the head if that is of the part.
func (s *stream) turn(ctx context.Context) (err error) {
	after, found := s.head.id, ordered.Limited[named]{Most: s.length, Compare: func(a, b named) int { return s.compare(a.id, b.id) }}
	var copies arena
	add := func(id []byte, p view.Place) error {
		if after != nil && s.compare(id, after) <= 0 {
			return nil
		}
		if last, ok := found.Last(); ok && s.compare(id, last.id) >= 0 {
			return nil
		}
		if ok, err := s.matches(id); err != nil || !ok {
			return err
		}
		if p.Mem != nil {
			if p.Mem.Time < s.Since {
				return nil
			}
		} else {
			if s.chosen != nil && !s.chosen.Contains(p.Doc) {
				return nil
			}
			if alive, err := p.Part.AliveAt(p.Doc, s.v.Seq, s.Since); err != nil || !alive {
				return err
			}
			id = copies.clone(id)
		}
		found.Add(named{id, p})
		return nil
	}
	ofPart := func(doc uint32, id []byte) error { return add(id, view.Place{Part: s.part, Doc: doc}) }
	switch {
	case s.part == nil:
		err = s.eachMem(s.v, func(p view.Place) error { return add(p.Mem.ID, p) })
	case s.found != nil:
		err = s.part.EachIDOf(ctx, s.found, ofPart)
	case s.few:
		err = s.part.EachWrittenID(ctx, view.Stored(s.Since), ofPart)
	default:
		err = s.order.EachID(ctx, s.step, ofPart)
	}
	if err == nil {
		s.page, s.more, err = found.Sorted(ctx)
	}
	s.length = s.others
	return err
}

// An arena takes twice as many bytes at a time as the time before, between these.
const (
	firstArenaChunk = 1 << 10
	arenaChunk      = 1 << 16
)

// An arena keeps copies of IDs side by side: what is compared while they are sorted shares cache
// lines, and the garbage collector sees few objects.
type arena struct {
	free  []byte
	taken int // bytes, the last time
}

func (a *arena) clone(id []byte) []byte {
	if len(a.free) < len(id) {
		a.taken = min(max(2*a.taken, firstArenaChunk), arenaChunk)
		a.free = make([]byte, max(a.taken, len(id)))
	}
	n := copy(a.free, id)
	id, a.free = a.free[:n:n], a.free[n:]
	return id
}
