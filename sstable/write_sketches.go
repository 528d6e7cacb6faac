package sstable

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// A table of documents with sketches is cut into segments: consecutive documents whose bitmaps and
// postings have sections of their own, numbered by Section.Index. The writer ends a segment by
// ending the section of blocks, which goes on, with a number more, after the two:
//
//	blocks 0 | bitmaps 0 | postings 0 | blocks 1 | bitmaps 1 | postings 1 | ...
//	... | hot | ...
//
// How many documents a segment has is the Section.Count of its bitmaps. Blocks of names, records
// and sketches know nothing of segments; their offsets count from the start of section blocks 0,
// over everything between. A table none of whose documents has a sketch has neither segments nor
// the sections that they share.

// addSketch adds what is indexed of the next document's sketch. code is its encoding, nil if that
// is not known.
func (t *tableFile) addSketch(sketch minhash.Sketch, code []byte) {
	if t.sketches.Full(sketch) {
		t.flushNames()
		t.flushSketches()
		t.endBlocksSection()
		t.endSegment()
		t.beginBlocks()
	}
	if t.sketches.Add(sketch, code) {
		t.flushSketches()
	}
}

// flushSketches writes the full blocks of sketches.
func (t *tableFile) flushSketches() {
	t.writeList(KindSketches, t.sketches.Blocks(), &t.writtenSketches)
}

// endBlocksSection ends the open section of blocks.
func (t *tableFile) endBlocksSection() {
	blocks := t.names.NumBlocks()
	if t.records != nil {
		t.recordBlocks = t.records.NumBlocks()
	}
	blocks += t.recordBlocks
	if t.sketches != nil {
		blocks += t.sketches.Blocks().NumBlocks()
	}
	t.out.end(uint64(blocks - t.blocks))
	t.blocks = blocks
}

// endSegment writes the bitmaps and the postings of a segment, after its blocks.
func (t *tableFile) endSegment() {
	s := t.sketches
	t.out.begin(KindBitmaps, t.segment)
	n, err := s.WriteBitmaps(&t.out)
	t.fail(err)
	t.out.end(uint64(n))
	t.out.begin(KindPostings, t.segment)
	keys, dir, err := s.WritePostings(&t.out)
	t.out.endWithDir(keys, dir, err)
	if t.segment++; len(t.out.sections)+len(t.out.dirs)+2*hamming.MaxTables+segmentReserve > maxSections {
		t.fail(fmt.Errorf("more than %d segments: %w", t.segment, ErrTooLarge))
	}
}

// endSketches ends the last segment, writes the section that all segments share, and keeps the
// directory of the blocks.
func (t *tableFile) endSketches() {
	s := t.sketches
	if s == nil || s.None() {
		return
	}
	t.endSegment()
	t.out.keep(KindSketches, 0, uint64(s.Blocks().NumBlocks()), s.Blocks().Directory())
	t.out.begin(KindHot, 0)
	hot, n := s.AppendHot(nil)
	t.out.write(hot)
	t.out.end(uint64(n))
	t.sketches = nil
}

// initSketches prepares the writer for sketches of about docs documents, if the table keeps them.
func (t *tableFile) initSketches(hot []hot.Hash, docs int, o WriterOptions) (err error) {
	if t.params.Sketch == 0 {
		return nil
	}
	if t.sketches, err = sketchidx.NewWriter(t.params.sketches(), hot, o.segmentDocs, docs); err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	t.sketches.MaxPostings = cmp.Or(o.segmentPostings, t.sketches.MaxPostings)
	return nil
}

// hotHashes returns the hot hashes of n documents with the given sketches (see package hot).
func hotHashes(n int, sketch func(i int) []uint32) []hot.Hash {
	hashes, _ := hot.Hashes(n, func(i int) ([]uint32, error) { return sketch(i), nil })
	return hashes
}

// mergedHot returns the hot hashes of all documents of some tables.
func mergedHot(inputs []*Reader) (hashes []hot.Hash, err error) {
	var ends []int // numbers of documents in the inputs up to each
	n := 0
	for _, r := range inputs {
		n += int(r.info.Docs)
		ends = append(ends, n)
	}
	var s []uint32
	return hot.Hashes(n, func(i int) ([]uint32, error) {
		at, _ := slices.BinarySearch(ends, i+1)
		r := inputs[at]
		s, err = r.Sketch(uint32(i-(ends[at]-int(r.info.Docs))), s[:0])
		return s, err
	})
}

// beginSketches chooses the hot hashes of the result, and prepares for sketches.
func (m *merger) beginSketches() (err error) {
	hot := m.o.hot
	if hot == nil {
		if hot, err = mergedHot(m.readers); err != nil {
			return err
		}
	}
	return m.initSketches(hot, int(m.docs), m.o.WriterOptions)
}
