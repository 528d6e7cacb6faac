package sstable

import (
	"fmt"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// A table of documents with sketches is cut into segments: consecutive documents whose bitmaps and
// postings have sections of their own, numbered by Section.Index. The writer ends a segment by
// ending the section of blocks, which goes on, with the next number, after the two:
//
//	blocks 0 | bitmaps 0 | postings 0 | blocks 1 | bitmaps 1 | postings 1 | ...
//	... | names | docs | sketches | hot | ...
//
// How many documents a segment has is the Section.Count of its bitmaps. Blocks of names, records
// and sketches know nothing of segments; their offsets count from the start of section blocks 0,
// over everything between.

// addSketch adds what is indexed of the next document's sketch.
func (t *Writer) addSketch(sketch minhash.Sketch) {
	if t.sketches.Full(sketch) {
		t.flushNames()
		t.flushSketches()
		t.endBlocksSection()
		t.out.begin(KindBlocks, t.segment)
	}
	if t.sketches.Add(sketch) {
		t.flushSketches()
	}
}

// flushSketches writes the full blocks of sketches.
func (t *Writer) flushSketches() { t.out.write(t.sketches.Blocks().Flush(t.blockOffset())) }

// endBlocksSection ends the open section of blocks, and after it the segment, if there are
// sketches.
func (t *Writer) endBlocksSection() {
	blocks := t.docs.NumBlocks() + t.names.NumBlocks()
	s := t.sketches
	if s == nil {
		t.out.end(uint64(blocks))
		return
	}
	blocks += s.Blocks().NumBlocks()
	t.out.end(uint64(blocks - t.blocks))
	t.blocks = blocks

	t.out.begin(KindBitmaps, t.segment)
	n, err := s.WriteBitmaps(&t.out)
	t.fail(err)
	t.out.end(uint64(n))
	t.out.begin(KindPostings, t.segment)
	n, err = s.WritePostings(&t.out)
	t.fail(err)
	t.out.end(uint64(n))
	if t.segment++; len(t.out.sections)+hamming.MaxTables+segmentReserve > maxSections {
		t.fail(fmt.Errorf("more than %d segments: %w", t.segment, ErrTooLarge))
	}
}

// segmentReserve is at least the number of sections of a table that are neither segments nor runs.
const segmentReserve = 16

// writeSketches writes the sections that all segments share.
func (t *Writer) writeSketches() {
	s := t.sketches
	if s == nil {
		return
	}
	t.out.begin(KindSketches, 0)
	t.out.write(s.Blocks().Directory())
	t.out.end(uint64(s.Blocks().NumBlocks()))
	t.out.begin(KindHot, 0)
	hot, n := s.AppendHot(nil)
	t.out.write(hot)
	t.out.end(uint64(n))
	t.sketches = nil
}

// initSketches prepares the writer for sketches, if the table keeps them.
func (t *Writer) initSketches(o WriterOptions) (err error) {
	if t.params.Sketch == 0 {
		return nil
	}
	if t.sketches, err = sketchidx.NewWriter(t.params.sketches(), o.Hot, o.segmentDocs, o.Docs); err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	return nil
}
