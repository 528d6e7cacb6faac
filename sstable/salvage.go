package sstable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/table"
)

// SalvageOptions are the options of Salvaged.Each.
type SalvageOptions struct {
	// Sums sets the sketch of an empty document to that of a text, for documents that have lost
	// theirs and still have a text. Nil computes nothing.
	Sums func(d *Document, text string)
	// Partial also returns documents whose text, fields or sketch are lost. Otherwise a
	// document is whole or lost.
	Partial bool
	// Dead reports whether a document is not wanted: it is not returned, and counts as no loss.
	// Nil wants all.
	Dead func(doc uint32) bool
}

// A Loss is a damaged part of a table, and what the damage costs. A part that can be rebuilt
// from others, such as a permuted run, costs nothing.
type Loss struct {
	Err     error // mostly a *CorruptionError
	Lost    int64 // documents
	Partial int64 // documents without text, fields or sketch (SalvageOptions.Partial)
}

// Salvaged reads what is readable of a table that may be damaged, by its checksums. Each
// directory that documents depend on is there twice; a damaged block costs the documents that
// need it, and no others. One goroutine at a time may use it.
type Salvaged struct {
	r        *table.Table             // opened as far as possible: any of its parts may be nil
	sketches *blobs.List              // nil if no document has one, or all are lost
	whole    bool                     // the directory of the file is right; otherwise the early one is used
	bare     bool                     // with the early directory: no document has a sketch
	failed   [table.KindUnknown]error // why a part could not be opened, by its kind
	losses   []Loss
	at       map[lossPlace]int // in losses
}

// lossPlace is where a Loss is: what is found there again is the same one.
type lossPlace struct {
	section string
	offset  int64
}

// errLost is for what has been counted.
var errLost = errors.New("lost")

// Salvage opens a table in f, which errors call name, as far as possible. It owns f from then
// on, and closes it even if it fails, which it does if the directory and its early copy are
// both lost. It never writes. A damaged file can cost time in proportion to its size.
func Salvage(f File, name string) (*Salvaged, error) {
	data, unmap, err := f.Mmap()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	s := &Salvaged{
		r:  &table.Table{File: name, Data: data, Unmap: unmap, Closer: f.Close},
		at: map[lossPlace]int{},
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases the file. A second call does nothing.
func (s *Salvaged) Close() error { return s.r.Close() }

// Info returns the Info of the table. whole says that it lists all sections.
func (s *Salvaged) Info() (info table.Info, whole bool) { return s.r.Info, s.whole }

// Params returns the parameters of the table.
func (s *Salvaged) Params() table.Params { return s.r.Params }

// Note returns what Reader.Note does.
func (s *Salvaged) Note() ([]byte, error) { return s.r.Note() }

// Whole returns the table if nothing of it is damaged, by a look at every byte, else nil. It is valid
// until Close.
func (s *Salvaged) Whole(ctx context.Context) *Reader {
	if r := (&Reader{t: s.r}); s.whole && len(s.losses) == 0 && r.VerifySums(ctx) == nil {
		return r
	}
	return nil
}

// Losses returns the damage found so far, by offset. It is complete once Each has returned.
func (s *Salvaged) Losses() []Loss {
	all := slices.Clone(s.losses)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(placeOf(a.Err).offset, placeOf(b.Err).offset) })
	return all
}

// placeOf returns where an error is.
func placeOf(err error) lossPlace {
	if c, ok := errors.AsType[*base.CorruptionError](err); ok {
		return lossPlace{c.Section, c.Offset}
	}
	return lossPlace{err.Error(), -1}
}

// found notes damage, and returns the Loss to count in. It is valid until the next call.
func (s *Salvaged) found(err error) *Loss {
	place := placeOf(err)
	i, ok := s.at[place]
	if !ok {
		i = len(s.losses)
		s.at[place], s.losses = i, append(s.losses, Loss{Err: err})
	}
	return &s.losses[i]
}

// Each calls fn for every document that can be put together, in order, with fingerprints ascending,
// documents without one last. The document is valid until fn returns. It stops at the first error
// of fn and of ctx, which it returns.
func (s *Salvaged) Each(ctx context.Context, o SalvageOptions, fn func(doc uint32, d *Document) error) (err error) {
	r := s.r
	defer r.Unguard(table.Guard(), &err)
	w := &salvageWalk{Salvaged: s, o: o}
	if r.Records != nil {
		w.cursor = r.Records.Cursor()
	}
	for doc := range r.Info.Docs {
		if doc%keyrun.BlockLen == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch err := w.document(doc); {
		case errors.Is(err, errLost):
		case err != nil:
			return err
		default:
			if err := fn(doc, &w.d); err != nil {
				return err
			}
		}
	}
	if len(s.losses) == 0 { // what costs nothing is damage, too
		if err := (&Reader{t: r}).VerifySums(ctx); err != nil && ctx.Err() == nil {
			s.found(err)
		}
	}
	return ctx.Err()
}

type salvageWalk struct {
	*Salvaged
	o      SalvageOptions
	cursor *blobs.RecordCursor // nil if there are no records
	d      Document

	block int      // of run 0: that of keys, if it could be read, + 1
	keys  []uint64 // which decoding has made
	err   error    // of the block
	space kernel.Keys
}

// document puts d together. It counts what is lost; errLost says that the document is.
func (w *salvageWalk) document(doc uint32) error {
	if w.o.Dead != nil && w.o.Dead(doc) {
		return errLost
	}
	d := &w.d
	id, err := w.id(doc)
	if err == nil {
		err = w.readOrder(doc, d)
	}
	if err != nil {
		return w.lost(err)
	}
	d.ID = append(d.ID[:0], id...)
	var textErr error
	if d.Text, d.Fields, textErr = w.record(doc); textErr != nil {
		if d.Text, d.Fields = nil, nil; !w.o.Partial {
			return w.lost(textErr)
		}
		w.found(textErr).Partial++
	}
	if err := w.fingerprint(doc); err != nil {
		return w.lost(err)
	}
	if err := w.sketch(doc, textErr == nil); err != nil {
		if !w.o.Partial {
			return w.lost(err)
		}
		if textErr == nil {
			w.found(err).Partial++
		}
	}
	return nil
}

// lost counts a document that is lost.
func (s *Salvaged) lost(err error) error {
	s.found(err).Lost++
	return errLost
}

func (s *Salvaged) id(doc uint32) ([]byte, error) {
	if s.r.Names == nil {
		return nil, s.failed[table.KindNames]
	}
	return s.r.Names.Get(doc)
}

func (w *salvageWalk) record(doc uint32) (text, fields []byte, err error) {
	r := w.r
	if err := cmp.Or(w.failed[table.KindRecords], w.failed[table.KindPlaces]); err != nil || w.cursor == nil {
		return nil, nil, err
	}
	place, err := r.Place(doc)
	if err != nil || place == r.Records.Len() {
		return nil, nil, err
	}
	return w.cursor.Get(place)
}

// fingerprint sets the fingerprint of d.
func (w *salvageWalk) fingerprint(doc uint32) (err error) {
	r, d := w.r, &w.d
	d.HasFingerprint, d.Fingerprint, d.Rest = doc < r.Info.Fingerprints, 0, d.Rest[:0]
	if !d.HasFingerprint {
		return nil
	}
	if err = cmp.Or(w.failed[table.KindRun], w.failed[table.KindWords]); err == nil {
		d.Fingerprint, err = w.key(int(doc))
	}
	if err == nil {
		d.Rest, err = r.AppendRest(d.Rest, doc)
	}
	return err
}

// key returns the key of run 0 at a position. Blocks are decoded whole, as most of their keys are
// wanted.
func (w *salvageWalk) key(at int) (uint64, error) {
	if run, b := w.r.Runs[0], at>>keyrun.BlockShift; b+1 != w.block {
		w.block = b + 1
		if w.err = run.Check(b); w.err == nil {
			w.keys = run.Decode(b, run.Info(b), 0, run.Count(b), &w.space)
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return w.keys[at&(keyrun.BlockLen-1)], nil
}

// sketch sets the sketch of d. One that is lost is that of the text, if that is known.
func (w *salvageWalk) sketch(doc uint32, textKnown bool) error {
	err := w.readSketch(doc, &w.d)
	if err == nil || w.o.Sums == nil || !textKnown || !w.r.Params.StoreText {
		return err
	}
	w.found(err)
	var made Document
	w.o.Sums(&made, string(w.d.Text))
	w.d.Sketch = append(w.d.Sketch, made.Sketch...)
	return nil
}

// readSketch sets the sketch of d to the one that is stored, to none if that is damaged.
func (s *Salvaged) readSketch(doc uint32, d *Document) error {
	d.Sketch = d.Sketch[:0]
	if s.sketches == nil {
		return s.failed[table.KindSketches]
	}
	code, err := s.sketches.Get(doc)
	if err != nil || len(code) == 0 {
		return err
	}
	sketch, _, err := minhash.Decode(minhash.Sketch(d.Sketch), code)
	if err != nil {
		return s.sketches.Corrupt(doc, "sketch %d: %w", doc, err)
	}
	d.Sketch = sketch
	return nil
}

// readOrder sets time and sequence number of d.
func (s *Salvaged) readOrder(doc uint32, d *Document) (err error) {
	r := s.r
	if err := cmp.Or(s.failed[table.KindRanks], s.failed[table.KindSeqs], s.failed[table.KindTimes]); err != nil {
		return err
	}
	rank, err := r.Rank(doc)
	if err != nil {
		return err
	}
	seq, err := r.Seqs.Key(rank)
	if err != nil {
		return err
	}
	at, err := r.TimeAt(rank)
	if err != nil {
		return err
	}
	d.Seq, d.Time = seq, table.TimeOf(at)
	return nil
}
