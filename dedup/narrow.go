package dedup

import (
	"context"
	"errors"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// To join all documents of a large database takes long where the inputs are few and small. So first
// the sketches of the database are searched for the texts of the inputs, and only what is found is
// read and joined. Nothing is missed where each of the texts has so few shingles that no document
// whose sketch is full can be as similar: other sketches are the whole sets of shingle hashes, but
// for hashes of 64 bits that share the 32 bits of a sketch. The search allows for one such pair.

const (
	// A database is joined whole if the inputs have more than one document for narrowShare of its
	// own, or if more than one for narrowShare of its own are found.
	narrowShare = 8
	// idBytes is about what a document that is found takes.
	idBytes = 128
	// A search is for up to narrowDocs documents, or narrowBytes of text, together.
	narrowDocs  = 4096
	narrowBytes = 1 << 20
)

// errWhole ends the search of a database that is to be joined whole.
var errWhole = errors.New("all documents are to be joined")

// narrow finds out which documents of the databases of Against the inputs may be like, where that
// takes less time than to join all.
func (d *job) narrow() error {
	for i := range d.against {
		s := &d.against[i]
		if s.Stored == nil {
			continue
		}
		err := d.narrowTo(s)
		if cause := context.Cause(d.ctx); cause != nil {
			return cause
		}
		if err != nil { // also of a damaged index: the join reads texts alone
			s.Stored.Only = nil
		}
	}
	return nil
}

// narrowTo is narrow for a database. It returns an error for one that is to be joined whole.
func (d *job) narrowTo(s *source) error {
	by := d.textCriterion()
	if d.Tree != nil || d.c.Decisions != "" || !by.Sets || by.Measure.Kind != setjoin.Jaccard {
		return errWhole
	}
	all, err := s.Stored.Count(d.ctx, time.Time{})
	if err != nil {
		return err
	}
	p := s.Stored.DB.Params()
	x := &narrowing{
		d: d, s: s, t: by.T, lowered: by.T - (1-by.T)/2, full: by.T * float64(p.Sketch),
		most: min(all/narrowShare, d.c.memory()/8/idBytes),
	}
	if p.Sketch == 0 || x.lowered < float64(p.MinJaccard) {
		return errWhole
	}
	s.Stored.Only = map[string]bool{}
	if err := x.inputs(); err != nil {
		return err
	}
	s.bytes = s.bytes / max(all, 1) * int64(len(s.Stored.Only))
	return nil
}

// A narrowing is the search of a source for the texts of the inputs.
type narrowing struct {
	d       *job
	s       *source
	t       float64
	lowered float64 // the threshold of the search: t less what a pair of hashes can make of it
	full    float64 // as many hashes as a document that is similar to one whose sketch is full has, at least
	most    int64   // documents that are read, or found

	read  int64
	found int64 // also those that were found before
	whole bool  // all documents are to be joined
}

// inputs looks up the documents of all inputs, as the first pass will read them.
func (x *narrowing) inputs() error {
	opt := x.d.opt
	opt.Need = records.NeedText
	l := lookup{
		env: x.d.env, sources: x.d.Sources, most: narrowDocs, bytes: narrowBytes, item: x.item,
		reading: inputs.Reading{Options: opt, Issue: func(records.Source, *records.Issue) error { return nil }}, // the first pass takes them
	}
	return l.eachInput(func(in records.Source) error {
		for b, err := range l.lots(x.d.ctx, in) {
			if err == nil {
				err = x.search(b)
			}
			if err != nil {
				return err
			}
			l.free.Put(b)
		}
		return nil
	})
}

// item has the text of a record be looked up.
func (x *narrowing) item(_ context.Context, _ records.Source, rec *records.Record) (it lookupItem, err error) {
	_, sketch := x.s.Stored.DB.Hash(rec.Doc.Text)
	n := len(sketch)
	if x.read++; x.read > x.most || n > 0 && float64(n+1) >= x.full {
		x.whole = true
		return it, errWhole
	}
	if n > 0 { // else it matches nothing
		rec.Doc = engine.Doc{Text: rec.Doc.Text}
		it.rec, it.size = rec, len(rec.Doc.Text)
	}
	return it, nil
}

// search searches for the texts of a lot.
func (x *narrowing) search(b *lookupLot) error {
	if x.whole {
		return errWhole
	}
	to := lookupStored{Stored: x.s.Stored, by: engine.Jaccard(x.lowered)}
	for m, err := range to.search(x.d.ctx, b) {
		if err != nil {
			return x.s.named(err)
		}
		if x.found++; x.found > x.most {
			return errWhole
		}
		x.s.Stored.Only[m.ID] = true
	}
	x.d.env.Report(engine.Progress{Stage: "search what is known", Done: x.read, Unit: "documents"})
	return nil
}
