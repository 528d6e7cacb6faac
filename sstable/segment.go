package sstable

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/hamming"
)

// A table of documents with sketches is cut into segments: consecutive documents whose bitmaps and postings have
// sections of their own, numbered by Section.Index. The writer ends a segment by ending the section of blocks, which
// goes on, with the next number, after the two:
//
//	blocks 0 | bitmaps 0 | postings 0 | blocks 1 | bitmaps 1 | postings 1 | ... | names | docs | sketches | hot | ...
//
// How many documents a segment has is the Section.Count of its bitmaps. Blocks of names, records and sketches know
// nothing of segments; their offsets count from the start of section blocks 0, over everything between.

// segmentWriter is what a Writer collects of sketches.
type segmentWriter struct {
	sketchWriter
	postings postingsWriter
	bitmaps  []byte // of the segment, as stored
	any      bool   // a document of the segment has a sketch
	order    *hotOrder
	hot      []HotHash
	room     []uint64 // for hotOrder.prefix
	docs     int      // that end a segment
	most     int      // postings of a segment
	number   uint16   // of the segment
	blocks   int      // in sections of blocks that have ended
}

// initSketches prepares the writer for sketches, if the table keeps them.
func (t *Writer) initSketches(o WriterOptions) error {
	if t.params.Sketch == 0 {
		return nil
	}
	if err := checkHot(o.Hot); err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	s := &segmentWriter{sketchWriter: sketchWriter{list: blobs.NewListWriter(blobs.Sketches)}, order: newHotOrder(o.Hot), hot: o.Hot, docs: cmp.Or(o.segmentDocs, defaultSegmentDocs), most: maxPostings}
	s.bitmaps = make([]byte, 0, bitmapSize*min(max(o.Docs, 0), s.docs))
	t.sketches = s
	return nil
}

// checkSketch reports whether s can be the sketch of a document with at most n hashes.
func checkSketch(s []uint32, n uint32) error {
	if len(s) > int(n) {
		return fmt.Errorf("a sketch of %d hashes, more than %d", len(s), n)
	}
	for i := 1; i < len(s); i++ {
		if s[i] <= s[i-1] {
			return errors.New("a sketch whose hashes do not ascend")
		}
	}
	return nil
}

// addSketch adds what is indexed of the next document's sketch.
func (t *Writer) addSketch(sketch minhash.Sketch) {
	s := t.sketches
	n := prefixLength(len(sketch), t.params.MinJaccard)
	if p := &s.postings; len(p.ends) == s.docs || len(p.ends) > 0 && len(p.hashes)+n > s.most {
		t.flushNames()
		t.flushSketches()
		t.endBlocksSection()
		t.out.begin(KindBlocks, s.number)
	}
	if have := len(s.postings.hashes); n <= have && len(s.postings.ends) > 0 && s.isLast(sketch) {
		s.postings.hashes = append(s.postings.hashes, s.postings.hashes[have-n:]...)
	} else {
		s.postings.hashes, s.room = s.order.prefix(s.postings.hashes, sketch, n, s.room)
	}
	s.postings.ends = append(s.postings.ends, uint32(len(s.postings.hashes)))
	b := sketch.Bitmap()
	s.bitmaps = appendBitmap(s.bitmaps, &b)
	s.any = s.any || len(sketch) > 0
	if s.add(sketch) {
		t.flushSketches()
	}
}

// flushSketches writes the full blocks of sketches.
func (t *Writer) flushSketches() { t.out.write(t.sketches.list.Flush(t.blockOffset())) }

// endBlocksSection ends the open section of blocks, and after it the segment, if there are sketches.
func (t *Writer) endBlocksSection() {
	blocks := t.docs.NumBlocks() + t.names.NumBlocks()
	s := t.sketches
	if s == nil {
		t.out.end(uint64(blocks))
		return
	}
	blocks += s.list.NumBlocks()
	t.out.end(uint64(blocks - s.blocks))
	s.blocks = blocks

	docs := uint64(len(s.postings.ends))
	t.out.begin(KindBitmaps, s.number)
	if s.any {
		t.out.write(s.bitmaps)
		t.out.write(appendBitmapSums(nil, s.bitmaps))
	}
	t.out.end(docs)
	t.out.begin(KindPostings, s.number)
	n, err := s.postings.writeTo(&t.out)
	t.fail(err)
	t.out.end(uint64(n))

	if s.number++; len(t.out.sections)+hamming.MaxTables+segmentReserve > maxSections {
		t.fail(fmt.Errorf("more than %d segments: %w", s.number, ErrTooLarge))
	}
	s.any, s.bitmaps, s.postings.hashes, s.postings.ends = false, s.bitmaps[:0], s.postings.hashes[:0], s.postings.ends[:0]
}

// segmentReserve is the number of sections that a table has besides segments and runs, or more.
const segmentReserve = 16

// writeSketches writes the sections that all segments share.
func (t *Writer) writeSketches() {
	s := t.sketches
	if s == nil {
		return
	}
	t.out.begin(KindSketches, 0)
	t.out.write(s.list.Directory())
	t.out.end(uint64(s.list.NumBlocks()))
	t.out.begin(KindHot, 0)
	t.out.write(appendHot(nil, s.hot))
	t.out.end(uint64(len(s.hot)))
	t.sketches = nil
}

// sketchSegment is a part of the documents of a table, as it is read.
type sketchSegment struct {
	first    uint32 // document
	bitmaps  *bitmaps
	postings *postings
}

// sketchIndex is what a Reader has of sketches. It is safe for concurrent use.
type sketchIndex struct {
	sketches *blobs.List // encoded
	size     int         // N: the most hashes that a sketch may have
	segments []sketchSegment
	order    func() (*hotOrder, error) // of the hashes of sketches, made when it is first needed
}
