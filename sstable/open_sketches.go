package sstable

import (
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
)

// numSegments returns the number of sections of bitmaps, which is that of segments.
func (r *Reader) numSegments() (n int) {
	for i := range r.info.Sections {
		if r.info.Sections[i].Kind == KindBitmaps {
			n++
		}
	}
	return n
}

// sketches returns the parameters that sketches depend on.
func (p Params) sketches() sketchidx.Params {
	return sketchidx.Params{Size: p.Sketch, MinJaccard: p.MinJaccard}
}

// openSketches opens the sections that a table with sketches has.
func (r *Reader) openSketches(segments int) error {
	if r.params.Sketch == 0 {
		return nil
	}
	dir, err := r.required(KindSketches, 0)
	if err != nil {
		return err
	}
	list, err := blobs.OpenList(blobs.Sketches, r.file, r.info.Docs, r.part(dir), r.blocks())
	if err != nil {
		return err
	}
	hot, err := r.required(KindHot, 0)
	if err != nil {
		return err
	}
	x, err := sketchidx.Open(r.file, r.params.sketches(), list, r.part(hot), hot.Count)
	if err != nil {
		return err
	}
	first := uint64(0)
	for i := range max(segments, 1) {
		n, err := r.openSegment(x, uint16(i), uint32(first))
		if err != nil {
			return err
		}
		first += uint64(n)
	}
	if first != uint64(r.info.Docs) {
		return base.Corruptf(r.file, "directory", dir.Offset, "segments with %d of %d documents", first, r.info.Docs)
	}
	r.sketches = x
	return nil
}

// openSegment opens the sections of segment i, whose documents start with first, and returns their
// number.
func (r *Reader) openSegment(x *sketchidx.Index, i uint16, first uint32) (n uint32, err error) {
	s, err := r.required(KindBitmaps, i)
	if err != nil {
		return 0, err
	}
	if s.Count > uint64(r.info.Docs-first) {
		return 0, base.Corruptf(r.file, s.Name(), s.Offset, "%d documents from %d of %d", s.Count, first, r.info.Docs)
	}
	postings, err := r.required(KindPostings, i)
	if err != nil {
		return 0, err
	}
	run, err := r.run(KindPostings, i, postings.Count)
	if err != nil {
		return 0, err
	}
	n = uint32(s.Count)
	return n, x.AddSegment(n, s.Name(), r.part(s), run)
}

// blocks returns the area of blocks: what is between the start of the first section of blocks and
// the end of the last. There is at least one.
func (r *Reader) blocks() blobs.Bytes {
	first := r.section(KindBlocks, 0)
	end := first.Offset + first.Length
	for i := range r.info.Sections {
		if s := &r.info.Sections[i]; s.Kind == KindBlocks {
			end = max(end, s.Offset+s.Length)
		}
	}
	return blobs.Bytes{Data: r.data[first.Offset:end:end], Offset: first.Offset}
}

// maxIndex returns the greatest Section.Index that sections of a kind may have in this table, of
// that many segments; -1 if there should be none.
func (r *Reader) maxIndex(k Kind, segments int) int {
	switch k {
	case KindRun:
		return r.params.Layout.Tables() - 1
	case KindBlocks:
		return max(segments, 1) - 1
	case KindSketches, KindHot:
		return min(int(r.params.Sketch), 1) - 1
	case KindBitmaps, KindPostings:
		return segments*min(int(r.params.Sketch), 1) - 1
	}
	return 0
}

// EachSketch calls fn for every document that has a sketch, in order, and stops at the first error,
// which it returns. The sketch is valid until fn returns.
func (r *Reader) EachSketch(fn func(doc uint32, sketch []uint32) error) (err error) {
	defer r.unguard(guard(), &err)
	if r.sketches == nil {
		return nil
	}
	return r.sketches.EachSketch(r.info.Docs, fn)
}
