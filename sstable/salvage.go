package sstable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// SalvageOptions are the options of Salvage.
type SalvageOptions struct {
	// Params are the parameters of the table, where those in the file are lost; nil if they are not
	// known.
	Params *Params
	// Sums returns what Writer.Add wants to know of a text that is its document's only source of
	// it; sketch is nil in a table without sketches. Nil computes nothing.
	Sums func(text string) (fp Fingerprint, words bool, sketch minhash.Sketch)
	// Partial says to return documents, too, whose text, fields or sketch are lost. Otherwise a
	// document is whole or lost.
	Partial bool
	// Dead says which documents are not wanted: they are not returned, and no loss. Nil wants all.
	Dead func(doc uint32) bool
	// Buried, if not nil, is called for a dead document, if its ID can be read.
	Buried func(id []byte, seq uint64)
}

// A Loss is a damaged part of a table, and what the damage costs. A part that can be made again
// from others, such as a permuted run, costs nothing.
type Loss struct {
	Err       error // mostly a *CorruptionError
	Lost      int64 // documents
	Partial   int64 // documents without text, fields or sketch (SalvageOptions.Partial)
	Estimated int64 // documents whose time or place in the order of writing is an estimate
}

// Salvaged reads what can be read of a table that may be damaged: a block that is damaged costs no
// document that does not need it. One goroutine at a time may use it.
type Salvaged struct {
	r      *Reader // opened as far as possible: any of its parts may be nil
	o      SalvageOptions
	whole  bool // the directory of the file is
	early  bool // what is known is from the early directory and from spares
	bare   bool // no document has a sketch, a spare says
	losses []Loss
	at     map[lossPlace]int // in losses

	verified bool           // verify was called
	counted  *bool          // what countsRecords returned
	failed   map[Kind]bool  // parts that could not be opened
	gone     map[Kind]error // what noPart returned

	records      []error     // what is wrong with each block
	list         *blobs.List // of sketches
	spareRanks   []uint32    // of the documents whose ranks are lost, in order
	fingerprints map[int]*lostKeys
	doubt        doubts
}

// lossPlace is where a Loss is: what is found there again is the same one.
type lossPlace struct {
	section string
	offset  int64
}

// errLost is for what has been counted.
var errLost = errors.New("lost")

// Salvage opens a table in f, which errors call name, as far as that is possible. It owns f from
// here on, and closes it also if it fails: if there is no telling where the parts of the table are.
// It never writes. A damaged file can cost time in proportion to its size, and a few bytes of
// memory a document.
func Salvage(f File, name string, o SalvageOptions) (*Salvaged, error) {
	data, unmap, err := f.Mmap()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("map %s: %w", name, err)
	}
	s := &Salvaged{
		r: &Reader{file: name, data: data, unmap: unmap, closer: f.Close}, o: o,
		at: map[lossPlace]int{}, failed: map[Kind]bool{}, gone: map[Kind]error{}, fingerprints: map[int]*lostKeys{},
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close releases the file. A second call does nothing.
func (s *Salvaged) Close() error { return s.r.Close() }

// Info returns what the table says of itself. Whole says that it is certain.
func (s *Salvaged) Info() (info Info, whole bool) { return s.r.info, s.whole }

// Params returns the parameters of the table.
func (s *Salvaged) Params() Params { return s.r.params }

// Note returns what Reader.Note does.
func (s *Salvaged) Note() ([]byte, error) { return s.r.Note() }

// Losses returns the damage that was found so far, by offset. It is complete once Each has
// returned.
func (s *Salvaged) Losses() []Loss {
	all := slices.Clone(s.losses)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(offsetOf(a.Err), offsetOf(b.Err)) })
	return all
}

// offsetOf returns where an error is.
func offsetOf(err error) int64 {
	var c *base.CorruptionError
	if errors.As(err, &c) {
		return c.Offset
	}
	return -1
}

// found notes damage, and returns the Loss to count in. It is valid until the next call.
func (s *Salvaged) found(err error) *Loss {
	var c *base.CorruptionError
	place := lossPlace{err.Error(), -1}
	if errors.As(err, &c) {
		place = lossPlace{c.Section, c.Offset}
	}
	i, ok := s.at[place]
	if !ok {
		i = len(s.losses)
		s.at[place], s.losses = i, append(s.losses, Loss{Err: err})
	}
	return &s.losses[i]
}

// Hot returns the hot hashes of the sketches that can be read: what WriterOptions.Hot takes.
func (s *Salvaged) Hot() (hot []HotHash, err error) {
	defer s.r.unguard(guard(), &err)
	if s.list == nil || s.list.NumBlocks() == 0 {
		return nil, nil
	}
	s.verify()
	var sketch minhash.Sketch
	return sketchidx.HotHashes(int(s.r.info.Docs), func(i int) ([]uint32, error) {
		code, err := s.list.Get(uint32(i))
		if err != nil || len(code) == 0 {
			return nil, nil
		}
		if sketch, _, err = minhash.Decode(sketch[:0], code); err != nil {
			return nil, nil
		}
		return sketch, nil
	})
}

// Each calls fn for every document that can be put together, in order, with fingerprints ascending,
// documents without one last. The document is valid until fn returns. It stops at the first error
// of fn and of ctx, which it returns.
func (s *Salvaged) Each(ctx context.Context, fn func(doc uint32, d *Document) error) (err error) {
	r := s.r
	defer r.unguard(guard(), &err)
	s.verify()
	if err := s.findRanks(); err != nil {
		return err
	}
	if err := s.findFingerprints(); err != nil {
		return err
	}
	w := &salvageWalk{Salvaged: s, fn: fn}
	if r.records != nil {
		w.cursor = r.records.Cursor()
	}
	for first := uint32(0); first < r.info.Docs; first += keyrun.BlockLen {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.block(first, min(r.info.Docs-first, keyrun.BlockLen)); err != nil {
			return err
		}
	}
	return nil
}

// verify finds the damage that costs no document of itself, and the blocks that are right.
func (s *Salvaged) verify() {
	r := s.r
	if s.verified {
		return
	}
	s.verified = true
	s.findDoubts()
	if r.names != nil {
		s.foundBlocks(r.names.Sound())
	}
	if r.records != nil {
		s.records = r.records.Sound()
		s.foundBlocks(s.records)
	}
	if s.list != nil {
		s.foundBlocks(s.list.Sound())
	}
	s.verifyPadding()
	for i := range r.info.Sections {
		if sec := &r.info.Sections[i]; sec.Kind != KindBlocks && crc.Sum(r.bytes(sec)) != sec.Checksum && !s.foundIn(sec) {
			s.found(base.Corruptf(r.file, sec.Name(), sec.Offset, "wrong checksum of the section"))
		}
	}
}

// foundBlocks notes the blocks of a directory that are damaged.
func (s *Salvaged) foundBlocks(blocks []error) {
	for _, err := range blocks {
		if err != nil {
			s.found(err)
		}
	}
}

// verifyPadding finds damage between sections, where zeros are.
func (s *Salvaged) verifyPadding() {
	v := &verifier{Reader: s.r}
	if !s.whole {
		return
	}
	end := int64(headerSize)
	for i := range s.r.info.Sections {
		sec := &s.r.info.Sections[i]
		if err := v.checkZero(end, sec.Offset); err != nil {
			s.found(err)
		}
		end = sec.Offset + sec.Length
	}
	if err := v.checkZero(end, align(end)); err != nil {
		s.found(err)
	}
}

// foundIn reports whether damage in a section has been found.
func (s *Salvaged) foundIn(sec *Section) bool {
	for place := range s.at {
		if place.offset >= sec.Offset && place.offset < sec.Offset+sec.Length {
			return true
		}
	}
	return false
}

// findRanks gives the documents whose ranks are lost those that no other has.
func (s *Salvaged) findRanks() error {
	r := s.r
	if r.ranks == nil {
		return nil
	}
	var lost []int // blocks
	taken := make([]uint64, (int(r.info.Docs)+63)/64)
	var values [keyrun.BlockLen]uint64
	for b := range r.ranks.NumBlocks() {
		n, err := r.ranks.Block(b, values[:])
		if err != nil {
			s.found(err)
			lost = append(lost, b)
			continue
		}
		for _, v := range values[:n] {
			if v < uint64(r.info.Docs) {
				taken[v>>6] |= 1 << (v & 63)
			}
		}
	}
	if len(lost) == 0 {
		return nil
	}
	want := 0
	for _, b := range lost {
		want += r.ranks.Count(b)
	}
	for rank := range r.info.Docs {
		if len(s.spareRanks) < want && taken[rank>>6]>>(rank&63)&1 == 0 {
			s.spareRanks = append(s.spareRanks, rank)
		}
	}
	for len(s.spareRanks) < want { // of ranks that are there twice
		s.spareRanks = append(s.spareRanks, r.info.Docs-1)
	}
	return nil
}

// salvageWalk is an Each that goes on.
type salvageWalk struct {
	*Salvaged
	fn     func(doc uint32, d *Document) error
	cursor *blobs.RecordCursor // nil if there are no records
	low    uint64              // the greatest fingerprint that was made again from a text
	d      Document
}

// block returns the documents of a block of run 0.
func (w *salvageWalk) block(first, n uint32) error {
	keys, err := w.keysOf(int(first>>keyrun.BlockShift), first, n)
	if err != nil {
		return err
	}
	for i := range n {
		switch err := w.document(first+i, keys[i]); {
		case errors.Is(err, errLost):
		case err != nil:
			return err
		default:
			if err := w.fn(first+i, &w.d); err != nil {
				return err
			}
		}
	}
	return nil
}

// document puts d together. It counts what is lost; errLost says that the document is.
func (w *salvageWalk) document(doc uint32, key salvagedKey) error {
	s, d := w.Salvaged, &w.d
	if s.o.Dead != nil && s.o.Dead(doc) {
		s.bury(doc, d)
		return errLost
	}
	id, err := s.id(doc)
	if err != nil {
		return s.lost(err)
	}
	d.ID = append(d.ID[:0], id...)
	if key.err != nil {
		return s.lost(key.err)
	}
	d.HasFingerprint, d.Fingerprint = key.has, key.fp
	d.Text, d.Fields, d.Sketch = nil, nil, d.Sketch[:0]
	textErr := error(nil)
	if d.Text, d.Fields, textErr = s.record(w.cursor, doc); textErr != nil {
		if d.Text, d.Fields = nil, nil; !s.o.Partial {
			return s.lost(textErr)
		}
		s.found(textErr).Partial++
	}
	if err := s.sketch(doc, d, textErr == nil); err != nil {
		if !s.o.Partial {
			return s.lost(err)
		}
		if textErr == nil {
			s.found(err).Partial++
		}
	}
	if err := s.order(doc, d); err != nil {
		s.found(err).Estimated++
	}
	return nil
}

// bury reports a dead document.
func (s *Salvaged) bury(doc uint32, d *Document) {
	if s.o.Buried == nil {
		return
	}
	if id, err := s.id(doc); err == nil {
		s.order(doc, d) // an estimate will do
		s.o.Buried(id, d.Seq)
	}
}

// lost counts a document that is lost.
func (s *Salvaged) lost(err error) error {
	s.found(err).Lost++
	return errLost
}

// id returns the ID of a document.
func (s *Salvaged) id(doc uint32) ([]byte, error) {
	if s.r.names == nil {
		return nil, s.noPart(KindNames)
	}
	id, err := s.r.names.Get(doc)
	if err == nil {
		err = s.checkID(doc, id)
	}
	return id, err
}

// noPart is the error for a part that could not be opened.
func (s *Salvaged) noPart(kind Kind) error {
	if s.gone[kind] == nil { // else it is what many documents have in common
		name := Section{Kind: kind}.Name()
		s.gone[kind] = base.Corruptf(s.r.file, name, -1, "where it is in the file is lost")
		for _, l := range s.losses {
			var c *base.CorruptionError
			if errors.As(l.Err, &c) && (c.Section == name || c.Section == name+" directory") {
				s.gone[kind] = l.Err
				break
			}
		}
	}
	return s.gone[kind]
}

// record returns text and fields of a document.
func (s *Salvaged) record(c *blobs.RecordCursor, doc uint32) (text, fields []byte, err error) {
	r := s.r
	if !r.params.StoreText {
		return nil, nil, nil
	}
	if c == nil {
		if s.missing(KindRecords) {
			return nil, nil, s.noPart(KindRecords)
		}
		return nil, nil, nil
	}
	place := doc
	if r.places == nil && s.missing(KindPlaces) {
		return nil, nil, s.noPart(KindPlaces)
	}
	if r.places != nil {
		if place, err = r.place(doc); err != nil {
			return nil, nil, err
		}
	}
	if place == r.records.Len() && r.places != nil && s.countsRecords() {
		return nil, nil, nil
	}
	if place >= r.records.Len() {
		return nil, nil, base.Corruptf(r.file, KindPlaces.String(), -1, "record %d of %d", place, r.records.Len())
	}
	if text, fields, err = c.Get(place); err != nil {
		return nil, nil, s.blame(place, err)
	}
	return text, fields, nil
}

// countsRecords reports whether the number of records is known for certain: the directory is whole,
// or the last block says so.
func (s *Salvaged) countsRecords() bool {
	if s.counted != nil {
		return *s.counted
	}
	known := s.certain()
	if last := len(s.records) - 1; !known && last >= 0 && s.records[last] == nil {
		var blk blobs.Block
		known = s.r.records.Decode(last, &blk) == nil && blk.First()+blk.Count() == s.r.records.Len()
	}
	s.counted = &known
	return known
}

// blame returns the error for a record that is in no block: that of the block where it should be.
func (s *Salvaged) blame(record uint32, err error) error {
	before := s.r.records.BlockOf(record) // of those that are right, the last that starts before it
	if before >= 0 && s.r.records.FirstRecord(before) > record {
		before = -1
	}
	if before+1 < len(s.records) && s.records[before+1] != nil {
		return s.records[before+1]
	}
	return err
}

// sketch sets the sketch of d: if it is lost, to that of the text, which then must be all of it.
func (s *Salvaged) sketch(doc uint32, d *Document, textKnown bool) error {
	r := s.r
	if r.params.Sketch == 0 {
		return nil
	}
	var err error
	switch {
	case s.list == nil && s.missing(KindSketches):
		err = s.noPart(KindSketches)
	case s.list == nil:
		return nil
	default:
		var code []byte
		if code, err = s.list.Get(doc); err == nil && len(code) > 0 {
			var sketch minhash.Sketch
			if sketch, _, err = minhash.Decode(minhash.Sketch(d.Sketch), code); err != nil {
				err = s.list.Corrupt(doc, "sketch %d: %w", doc, err)
			} else if err = s.checkSketch(doc, sketch); err == nil {
				d.Sketch = sketch
				return nil
			}
		} else if err == nil {
			if err = s.checkSketch(doc, nil); err == nil {
				return nil
			}
		}
	}
	d.Sketch = d.Sketch[:0]
	if s.o.Sums == nil || !textKnown || !r.params.StoreText {
		return err
	}
	s.found(err)
	_, _, sketch := s.o.Sums(string(d.Text))
	d.Sketch = append(d.Sketch, sketch...)
	return nil
}

// order sets time and sequence number of d. The error says that they are estimates.
func (s *Salvaged) order(doc uint32, d *Document) (bad error) {
	r := s.r
	rank := int(doc)
	switch {
	case r.ranks != nil:
		v, err := r.ranks.Get(int(doc))
		if err != nil {
			bad = err
			v = uint64(s.spareRanks[0])
			s.spareRanks = s.spareRanks[1:]
		}
		rank = int(v)
	case s.missing(KindRanks):
		bad = s.noPart(KindRanks)
	}
	var err error
	if d.Seq, err = s.seqOf(rank); bad == nil {
		bad = err
	}
	if d.Time, err = s.timeOf(rank); bad == nil {
		bad = err
	}
	return bad
}

// between returns a number for position i of n between least and greatest; for as many numbers as
// positions it is the only one that is possible.
func between(least, greatest uint64, i, n int) uint64 {
	span := greatest - least
	if n < 2 || span == uint64(n-1) {
		return least + min(uint64(i), span)
	}
	return least + min(uint64(float64(span)*float64(i)/float64(n-1)), span)
}

// seqOf returns the sequence number at a rank. An error says that it is an estimate.
func (s *Salvaged) seqOf(rank int) (uint64, error) {
	i, r := s.r.info, s.r.seqs
	if r == nil {
		err := s.noPart(KindSeqs)
		if i.MaxSeq-i.MinSeq == uint64(i.Docs-1) {
			s.found(err)
			err = nil
		}
		return between(i.MinSeq, i.MaxSeq, rank, int(i.Docs)), err
	}
	v, err := r.Key(rank)
	if err == nil {
		return v, nil
	}
	b := rank >> keyrun.BlockShift
	first, last := r.Base(b), r.Greatest()
	if b+1 < r.NumBlocks() {
		last = max(r.Base(b+1), first+1) - 1
	}
	v = between(first, last, rank&(keyrun.BlockLen-1), r.Count(b))
	if last-first == uint64(r.Count(b)-1) {
		s.found(err)
		err = nil
	}
	return v, err
}

// timeOf returns the time at a rank. An error says that it is an estimate.
func (s *Salvaged) timeOf(rank int) (int64, error) {
	i, c := s.r.info, s.r.times
	if c == nil {
		return timeOf(between(orderedTime(i.MinTime), orderedTime(i.MaxTime), rank, int(i.Docs))), s.noPart(KindTimes)
	}
	v, err := c.Get(rank)
	if err != nil {
		v = c.Base(rank >> keyrun.BlockShift)
	}
	return timeOf(v), err
}
