package sstable

import (
	"bytes"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/blobs"
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

// openSketches opens the sections that a table with sketches has.
func (r *Reader) openSketches(segments int) error {
	if r.params.Sketch == 0 {
		return nil
	}
	dir, err := r.required(KindSketches, 0)
	if err != nil {
		return err
	}
	x := &sketchIndex{size: int(r.params.Sketch)}
	x.sketches, err = blobs.OpenList(blobs.Sketches, r.file, r.info.Docs, r.part(dir), r.blocks())
	if err != nil {
		return err
	}
	if err := r.openHot(x); err != nil {
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

// openHot checks the size of the list of hot hashes, which is read when it is first needed.
func (r *Reader) openHot(x *sketchIndex) error {
	s, err := r.required(KindHot, 0)
	if err != nil {
		return err
	}
	data, off := r.bytes(s), s.Offset
	if len(data)%hotEntry != 4 || uint64(len(data)/hotEntry) != s.Count {
		return base.Corruptf(r.file, s.Name(), off, "%d bytes for %d hashes", len(data), s.Count)
	}
	x.order = sync.OnceValues(func() (*hotOrder, error) {
		hot, err := parseHot(data, r.file, off)
		if err != nil {
			return nil, err
		}
		return newHotOrder(hot), nil
	})
	return nil
}

// openSegment opens the sections of segment i, whose documents start with first, and returns their number.
func (r *Reader) openSegment(x *sketchIndex, i uint16, first uint32) (n uint32, err error) {
	s, err := r.required(KindBitmaps, i)
	if err != nil {
		return 0, err
	}
	if s.Count > uint64(r.info.Docs-first) {
		return 0, base.Corruptf(r.file, s.Name(), s.Offset, "%d documents from %d of %d", s.Count, first, r.info.Docs)
	}
	n = uint32(s.Count)
	seg := sketchSegment{first: first}
	if seg.bitmaps, err = openBitmaps(r.bytes(s), n, r.file, s.Name(), s.Offset); err != nil {
		return 0, err
	}
	if s, err = r.required(KindPostings, i); err != nil {
		return 0, err
	}
	if seg.bitmaps.zero && s.Count > 0 {
		return 0, base.Corruptf(r.file, s.Name(), s.Offset, "%d postings of documents without bitmaps", s.Count)
	}
	run, err := r.run(KindPostings, i, s.Count)
	if err != nil {
		return 0, err
	}
	seg.postings = newPostings(run, n)
	x.segments = append(x.segments, seg)
	return n, nil
}

// blocks returns the area of blocks: what is between the start of the first section of blocks and the end of the last.
// There is at least one.
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

// maxIndex returns the greatest Section.Index that sections of a kind may have in this table, of that many segments; -1
// if there should be none.
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

// EachSketch calls fn for every document that has a sketch, in order, and stops at the first error, which it returns.
// The sketch is valid until fn returns.
func (r *Reader) EachSketch(fn func(doc uint32, sketch []uint32) error) (err error) {
	defer r.unguard(guard(), &err)
	if r.sketches == nil {
		return nil
	}
	var s minhash.Sketch
	var last []byte // what s is the decoding of
	for doc := range r.info.Docs {
		encoded, err := r.sketches.sketches.Get(doc)
		if err != nil {
			return err
		}
		if len(encoded) > 0 && !bytes.Equal(encoded, last) {
			if s, err = r.sketches.decode(doc, encoded, s[:0]); err != nil {
				return err
			}
			last = encoded
		}
		if len(encoded) > 0 {
			if err := fn(doc, s); err != nil {
				return err
			}
		}
	}
	return nil
}
