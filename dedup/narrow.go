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

// Joining all documents of a large database is slow if the inputs are few and small. So narrow
// first searches the sketches of the database for the texts of the inputs, and only the documents
// found are read and joined. This misses nothing if each of the texts has so few shingles that no
// document with a full sketch can be similar enough: any other sketch is the whole set of shingle
// hashes, except for 64-bit hashes that share the 32 bits of a sketch. The search allows for one
// such pair.

const (
	// A database is joined whole if the inputs have more than 1/narrowShare as many documents, or
	// if the search finds more than 1/narrowShare of its documents.
	narrowShare = 8
	// idBytes is the approximate memory of a found document.
	idBytes = 128
	// A search handles up to narrowDocs documents, or narrowBytes of text.
	narrowDocs  = 4096
	narrowBytes = 1 << 20
)

// errWhole ends the search of a database that has to be joined whole.
var errWhole = errors.New("all documents are to be joined")

// narrow finds the documents of the databases of Against that the inputs may resemble, where this
// is faster than joining all documents.
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
		if err != nil { // also for a damaged index: the join reads only texts
			s.Stored.Only = nil
		}
	}
	return nil
}

// narrowTo is narrow for one database. It returns an error if the database has to be joined
// whole.
func (d *job) narrowTo(s *source) error {
	by := d.textCriterion()
	if d.Tree != nil || d.c.Decisions != "" || !by.Sets || by.Measure.Kind != setjoin.Jaccard || d.params.Real() {
		return errWhole
	}
	all, err := s.Stored.Count(d.ctx, engine.Range{Since: time.Time{}})
	if err != nil {
		return err
	}
	p := s.Stored.DB.Options()
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
	lowered float64 // the threshold of the search: t, lowered by the effect of one pair of colliding hashes
	full    float64 // the least number of hashes in a document similar to one whose sketch is full
	most    int64   // limit of documents read, and of documents found

	read  int64
	found int64 // including documents found by earlier lots
	whole bool  // all documents have to be joined
}

// inputs looks up the documents of all inputs, read as in the first pass.
func (x *narrowing) inputs() error {
	opt := x.d.opt
	opt.Need = records.NeedText
	l := lookup{
		env: x.d.env, sources: x.d.Sources, most: narrowDocs, bytes: narrowBytes, item: x.item,
		reading: inputs.Reading{Options: opt, Issue: func(records.Source, *records.Issue) error { return nil }}, // the first pass handles them
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

// item selects the text of a record for the lookup.
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
	x.d.env.Report(engine.Progress{Stage: "search known documents", Done: x.read, Unit: "documents"})
	return nil
}
