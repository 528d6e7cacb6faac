package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/minhash"
)

// SalvageOptions are the options of Salvaged.Each.
type SalvageOptions struct {
	// Sums computes the fingerprint and the sketch of a text and stores them in an empty document. It
	// is called for documents that have lost one and not their text. If it is nil, these are lost.
	Sums func(d *Document, text string)
	// Partial also returns documents whose text, fields or sketch are lost. Without it, such a
	// document counts as lost.
	Partial bool
	// Order also returns documents whose time, sequence number or rank is lost. They get the least
	// value that the directory allows in their block, or a rank that no other document has. The order
	// of documents in undamaged blocks stays as it is.
	Order bool
	// Dead reports whether the caller does not want a document: it is not returned, and is not a
	// loss. If it is nil, the caller wants all documents.
	Dead func(doc uint32) bool
	// From is the first document to return.
	From uint32
}

// A Loss is a damaged part of a table, with the number of documents that the damage affects. A part
// that can be rebuilt from others, such as a permuted run, affects none.
type Loss struct {
	Err     error    // usually a *CorruptionError
	Lost    int64    // documents
	IDs     []string // of the lost documents whose IDs can be read
	Partial int64    // documents without text, fields or sketch (SalvageOptions.Partial), or the exact order (Order)
}

// Salvaged reads as much of a possibly damaged table as its checksums allow. The table stores each
// directory that documents depend on twice. A damaged block affects the documents that need it, and
// no others. One goroutine at a time may use a Salvaged.
type Salvaged struct {
	r        *format.Table             // opened as far as possible: any of its parts may be nil
	sketches *blobs.List               // nil if no document has a sketch, or all are lost
	whole    bool                      // the file's directory is intact; else the early one is used
	bare     bool                      // the early directory is used, and no document has a sketch
	failed   [format.KindUnknown]error // why a part could not be opened, indexed by its kind
	losses   []Loss
	at       map[lossPlace]int // indexes of losses
	ranks    []int             // unused ones, for documents in damaged blocks of ranks
}

// lossPlace identifies a Loss: further errors at the same place count as the same loss.
type lossPlace struct {
	section string
	offset  int64
}

// errLost is returned for a document whose loss has been counted.
var errLost = errors.New("lost")

// Salvage opens as much as possible of the table in f, which errors call name. It owns f from then
// on, and closes it even if it fails. It fails if the directory and its early copy are both lost.
// It never writes. A damaged file costs time at most in proportion to its size.
func Salvage(f File, name string) (*Salvaged, error) {
	data, unmap, err := f.Mmap()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	s := &Salvaged{
		r:  &format.Table{File: name, Data: data, Unmap: unmap, Closer: f.Close},
		at: map[lossPlace]int{},
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases the file. A second call does nothing.
func (s *Salvaged) Close() error { return s.r.Close() }

// Info returns the Info of the table. whole reports whether it lists all sections.
func (s *Salvaged) Info() (info Info, whole bool) { return s.r.Info, s.whole }

// Params returns the parameters of the table.
func (s *Salvaged) Params() Params { return s.r.Params }

// Note returns the note of the table, as Reader.Note does.
func (s *Salvaged) Note() ([]byte, error) { return s.r.Note() }

// Whole returns the table if every byte is intact, else nil. It is valid until Close.
func (s *Salvaged) Whole(ctx context.Context) *Reader {
	if r := (&Reader{t: s.r}); s.whole && len(s.losses) == 0 && r.VerifySums(ctx, nil) == nil {
		return r
	}
	return nil
}

// Losses returns the damage found so far, ordered by offset. It is complete once Each has returned.
func (s *Salvaged) Losses() []Loss {
	all := slices.Clone(s.losses)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(placeOf(a.Err).offset, placeOf(b.Err).offset) })
	return all
}

// placeOf returns the place of an error.
func placeOf(err error) lossPlace {
	if c, ok := errors.AsType[*base.CorruptionError](err); ok {
		return lossPlace{c.Section, c.Offset}
	}
	return lossPlace{err.Error(), -1}
}

// found records damage, and returns its Loss, where the caller counts documents. The pointer is
// valid until the next call.
func (s *Salvaged) found(err error) *Loss {
	place := placeOf(err)
	i, ok := s.at[place]
	if !ok {
		i = len(s.losses)
		s.at[place], s.losses = i, append(s.losses, Loss{Err: err})
	}
	return &s.losses[i]
}

// Each calls fn for every document from o.From on that can be restored, in the order of their numbers:
// fingerprints ascend, and documents without a fingerprint come last. The document is valid until
// fn returns. Each stops at the first error of fn and of ctx and returns it.
func (s *Salvaged) Each(ctx context.Context, o SalvageOptions, fn func(doc uint32, d *Document) error) (err error) {
	r := s.r
	defer r.Unguard(format.Guard(), &err)
	w := &salvageWalk{Salvaged: s, o: o}
	if r.Records != nil {
		w.cursor = r.Records.Cursor()
	}
	for doc := o.From; doc < r.Info.Docs; doc++ {
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
	if len(s.losses) == 0 { // damage that affects no document is reported, too
		if err := (&Reader{t: r}).VerifySums(ctx, nil); err != nil && ctx.Err() == nil {
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

	block int      // 1 + the block of run 0 that is in keys, or failed with err; 0 for none
	keys  []uint64 // the decoded keys of the block
	err   error    // why the block could not be read
	space kernel.Keys
}

// document restores document doc into d and counts losses. It returns errLost if the document
// itself is lost.
func (w *salvageWalk) document(doc uint32) error {
	if w.o.Dead != nil && w.o.Dead(doc) {
		return errLost
	}
	d := &w.d
	id, err := w.id(doc)
	if d.ID = append(d.ID[:0], id...); err == nil {
		err = w.readOrder(doc, d)
	}
	if err == nil {
		err = w.fingerprint(doc)
	}
	if err != nil {
		return w.lost(err)
	}
	var textErr error
	if d.Text, d.Fields, textErr = w.record(doc); textErr != nil {
		if d.Text, d.Fields = nil, nil; !w.o.Partial {
			return w.lost(textErr)
		}
		w.found(textErr).Partial++
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

// lost counts d, which is lost.
func (w *salvageWalk) lost(err error) error {
	l := w.found(err)
	if l.Lost++; len(w.d.ID) > 0 {
		l.IDs = append(l.IDs, string(w.d.ID))
	}
	return errLost
}

func (s *Salvaged) id(doc uint32) ([]byte, error) {
	if s.r.Names == nil {
		return nil, s.failed[format.KindNames]
	}
	return s.r.Names.Get(doc)
}

func (w *salvageWalk) record(doc uint32) (text, fields []byte, err error) {
	r := w.r
	if err := cmp.Or(w.failed[format.KindRecords], w.failed[format.KindPlaces]); err != nil || w.cursor == nil {
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
	if err = cmp.Or(w.failed[format.KindRun], w.failed[format.KindWords]); err == nil {
		d.Fingerprint, err = w.key(int(doc))
	}
	if err == nil {
		d.Rest, err = r.AppendRest(d.Rest, doc)
	}
	return err
}

// key returns the key of run 0 at a position. It decodes whole blocks, since most of their keys
// will be needed.
func (w *salvageWalk) key(at int) (uint64, error) {
	if run, b := w.r.Runs[0], at>>keyrun.BlockShift; b+1 != w.block {
		w.block = b + 1
		if w.err = run.Check(b); w.err == nil {
			w.keys = run.Decode(b, run.Info(b), 0, run.Count(b), &w.space)
		} else if keys := w.hashed(b); run.Matches(b, keys) {
			w.found(w.err)
			w.keys, w.err = keys, nil
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return w.keys[at&(keyrun.BlockLen-1)], nil
}

// hashed returns the fingerprints of the texts of a block of documents, as far as they can be read.
// They are those of the block unless some were given.
func (w *salvageWalk) hashed(b int) (keys []uint64) {
	for i := range w.r.Runs[0].Count(b) {
		text, _, err := w.record(uint32(b<<keyrun.BlockShift + i))
		if err != nil || w.o.Sums == nil {
			return nil
		}
		var made Document
		w.o.Sums(&made, string(text))
		keys = append(keys, made.Fingerprint)
	}
	return keys
}

// sketch sets the sketch of d. It recomputes a lost sketch from the text, if the text is known.
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

// readSketch sets the sketch of d to the stored one, or to none if that is damaged.
func (s *Salvaged) readSketch(doc uint32, d *Document) error {
	d.Sketch = d.Sketch[:0]
	if s.sketches == nil {
		return s.failed[format.KindSketches]
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

// readOrder sets the time and the sequence number of d.
func (w *salvageWalk) readOrder(doc uint32, d *Document) (err error) {
	r := w.r
	if err := cmp.Or(w.failed[format.KindRanks], w.failed[format.KindSeqs], w.failed[format.KindTimes]); err != nil {
		return err
	}
	rank, err := r.Rank(doc)
	if w.guesses(err) {
		rank, err = w.unusedRank(), nil
	}
	if err != nil {
		return err
	}
	b := rank >> keyrun.BlockShift
	if d.Seq, err = r.Seqs.Key(rank); w.guesses(err) {
		d.Seq, err = r.Seqs.Base(b)+uint64(rank-b<<keyrun.BlockShift), nil // at most the lost one, and ascending
	}
	if err != nil {
		return err
	}
	at, err := r.TimeAt(rank)
	if w.guesses(err) {
		at, err = r.Times.Base(b), nil
	}
	if d.Time = format.TimeOf(at); err == nil {
		d.Expires, err = r.ExpiryAt(rank)
	}
	return err
}

// guesses reports whether the value that could not be read for err is to be guessed, and counts the
// document.
func (w *salvageWalk) guesses(err error) bool {
	if err == nil || !w.o.Order {
		return false
	}
	w.found(err).Partial++
	return true
}

// unusedRank returns the next rank that no document in the readable blocks has.
func (s *Salvaged) unusedRank() (rank int) {
	if s.ranks == nil {
		var values [keyrun.BlockLen]uint64
		used := make([]bool, s.r.Info.Docs)
		for b := range s.r.Ranks.NumBlocks() {
			n, _ := s.r.Ranks.Block(b, values[:]) // 0 of a damaged block
			for _, v := range values[:n] {
				used[v] = true
			}
		}
		for rank, u := range used {
			if !u {
				s.ranks = append(s.ranks, rank)
			}
		}
	}
	rank, s.ranks = s.ranks[0], s.ranks[1:]
	return rank
}
