package write

import (
	"cmp"
	"fmt"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
	"github.com/simdb/simdb/minhash"
)

// A table of documents with sketches is split into segments: consecutive documents whose bitmaps
// and postings have sections of their own, numbered by Section.Index. To end a segment, the writer
// ends the section of blocks, writes these two sections, and continues the blocks in another
// section:
//
//	blocks 0 | bitmaps 0 | postings 0 | blocks 1 | bitmaps 1 | postings 1 | ...
//	... | hot | ...
//
// The number of documents of a segment is the Section.Count of its bitmaps. Blocks of names,
// records and sketches are independent of segments; their offsets are relative to the start of
// section blocks 0, and count everything in between. If no document of a table has a sketch, the
// table has neither segments nor the sections that they share.

// AddSketch adds the next document's sketch to the list and the indexes of sketches. code is the
// encoded sketch, nil if the caller does not know it. odd is the odd sketch of the document, which is
// ignored without Params.Odd.
func (t *File) AddSketch(sketch minhash.Sketch, code []byte, odd oddsketch.Sketch) {
	if t.Sketches.Full(sketch) {
		t.FlushNames()
		t.flushSketches()
		t.EndBlocksSection()
		t.endSegment()
		t.BeginBlocks()
	}
	if t.Sketches.Add(sketch, code, odd) {
		t.flushSketches()
	}
}

// flushSketches writes the full blocks of sketches.
func (t *File) flushSketches() {
	t.writeList(format.KindSketches, t.Sketches.Blocks(), &t.writtenSketches)
}

// EndBlocksSection ends the open section of blocks.
func (t *File) EndBlocksSection() {
	blocks := t.Names.NumBlocks()
	if t.Records != nil {
		t.recordBlocks = t.Records.NumBlocks()
	}
	blocks += t.recordBlocks
	if t.Sketches != nil {
		blocks += t.Sketches.Blocks().NumBlocks()
	}
	t.Out.end(uint64(blocks - t.blocks))
	t.blocks = blocks
}

// endSegment writes the bitmaps and the postings of a segment, after its blocks.
func (t *File) endSegment() {
	s := t.Sketches
	t.Out.Begin(format.KindBitmaps, t.segment)
	n, err := s.WriteBitmaps(&t.Out)
	t.Fail(err)
	t.Out.end(uint64(n))
	t.Out.Begin(format.KindPostings, t.segment)
	keys, dir, err := s.WritePostings(&t.Out)
	t.Out.EndWithDir(keys, dir, err)
	if t.segment++; len(t.Out.sections)+len(t.Out.dirs)+2*format.RunSections+format.SegmentReserve > format.MaxSections {
		t.Fail(fmt.Errorf("more than %d segments: %w", t.segment, format.ErrTooLarge))
	}
}

// endSketches ends the last segment, writes the section that all segments share, and stores the
// directory of the blocks until writeDirs.
func (t *File) endSketches() {
	s := t.Sketches
	if s == nil || s.None() {
		return
	}
	t.endSegment()
	t.Out.keep(format.KindSketches, 0, uint64(s.Blocks().NumBlocks()), s.Blocks().Directory())
	t.Out.Begin(format.KindHot, 0)
	hot, n := s.AppendHot(nil)
	t.Out.write(hot)
	t.Out.end(uint64(n))
	t.Sketches = nil
}

// InitSketches prepares for sketches of about docs documents, if the parameters have sketches.
func (t *File) InitSketches(hot []hot.Hash, docs int, o WriterOptions) (err error) {
	if t.Params.Sketch == 0 {
		return nil
	}
	if t.Sketches, err = sketchidx.NewWriter(t.Params.Sketches(), hot, o.SegmentDocs, docs); err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	t.Sketches.MaxPostings = cmp.Or(o.SegmentPostings, t.Sketches.MaxPostings)
	return nil
}

// HotHashes returns the hot hashes of n documents with the given sketches (see package hot).
func HotHashes(n int, sketch func(i int) []uint32) []hot.Hash {
	hashes, _ := hot.Hashes(n, func(i int) ([]uint32, error) { return sketch(i), nil })
	return hashes
}
