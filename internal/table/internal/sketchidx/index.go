package sketchidx

import (
	"bytes"
	"fmt"
	"sort"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/minhash"
)

// Index has the sketches of a table and finds documents by them. It is safe for concurrent use.
type Index struct {
	file     string
	params   Params
	list     *blobs.List // encoded sketches
	hot      blobs.Bytes // hot hashes, of which order is made
	segments []segment
	order    func() (*hot.Order, error) // order of hashes, made on first use
}

// segment is a part of the documents of a table.
type segment struct {
	first    uint32 // first document
	bitmaps  *bitmaps
	postings *postings
	crowd    *crowd
}

// Open opens the index of a table without its segments, which AddSegment adds. section has n hot
// hashes and is read when it is first needed.
func Open(file string, p Params, list *blobs.List, section blobs.Bytes, n uint64) (*Index, error) {
	if len(section.Data)%hotEntry != 4 || uint64(len(section.Data)/hotEntry) != n {
		return nil, base.Corruptf(file, hotSection, section.Offset, "%d bytes for %d hashes", len(section.Data), n)
	}
	x := &Index{file: file, params: p, list: list, hot: section}
	order := sync.OnceValues(func() (*hot.Order, error) {
		hashes, err := parseHot(section.Data, file, section.Offset)
		if err != nil {
			return nil, err
		}
		return hot.NewOrder(hashes), nil
	})
	x.order = func() (*hot.Order, error) {
		section.Need(0, len(section.Data)) // may fail and succeed later
		return order()
	}
	return x, nil
}

// OpenEmpty opens the index of a table that may have sketches, but whose documents have none.
func OpenEmpty(file string, p Params) *Index {
	order := hot.NewOrder(nil)
	return &Index{file: file, params: p, order: func() (*hot.Order, error) { return order, nil }}
}

// AddSegment adds a segment of n documents, which follow the documents of the previous segment.
// section is the name of the section of its bitmaps.
func (x *Index) AddSegment(n uint32, section string, bitmaps blobs.Bytes, run *keyrun.Run) error {
	s := segment{crowd: &crowd{}}
	if i := len(x.segments); i > 0 {
		s.first = x.segments[i-1].first + uint32(x.segments[i-1].bitmaps.len())
	}
	var err error
	if s.bitmaps, err = openBitmaps(bitmaps, n, x.file, section); err != nil {
		return err
	}
	if s.bitmaps.zero && run.Len() > 0 {
		return run.Corrupt(0, "%d postings of documents without bitmaps", run.Len())
	}
	s.postings = newPostings(run, n)
	x.segments = append(x.segments, s)
	return nil
}

// List returns the list of encoded sketches, nil if no document has one.
func (x *Index) List() *blobs.List { return x.list }

// PostingsStats returns the sizes of the postings of a segment.
func (x *Index) PostingsStats(segment int) keyrun.Stats { return x.segments[segment].postings.Stats() }

// Fetch says that sketches of documents will be read, and that they may be searched for.
func (x *Index) Fetch(docs []uint32) {
	x.hot.Fetch(0, len(x.hot.Data))
	x.list.Fetch(docs)
}

// Sketch appends the sketch of a document, which must exist, to dst; nothing if it has none.
func (x *Index) Sketch(doc uint32, dst minhash.Sketch) (minhash.Sketch, error) {
	if x.list == nil {
		return dst, nil
	}
	encoded, err := x.list.Get(doc)
	if err != nil || len(encoded) == 0 {
		return dst, err
	}
	return x.decode(doc, encoded, dst)
}

// Encoded returns the encoded sketch of a document, which must exist, appends the decoded sketch to
// dst, and with Params.Odd sets odd to its odd sketch; nothing if it has none. The encoded sketch
// aliases the table.
func (x *Index) Encoded(doc uint32, dst minhash.Sketch, odd *oddsketch.Sketch) (code []byte, sketch minhash.Sketch, err error) {
	*odd = oddsketch.Sketch{}
	if x.list == nil {
		return nil, dst, nil
	}
	if code, err = x.list.Get(doc); err != nil || len(code) == 0 {
		return nil, dst, err
	}
	if sketch, err = x.decode(doc, code, dst); err == nil && x.params.Odd {
		*odd, err = x.Odd(doc)
	}
	return code, sketch, err
}

// Odd returns the odd sketch of a document, which must exist, with Params.Odd.
func (x *Index) Odd(doc uint32) (odd oddsketch.Sketch, err error) {
	seg := x.segmentOf(doc)
	if seg == nil || seg.bitmaps.zero {
		return odd, nil
	}
	return odd, seg.bitmaps.get(int(doc-seg.first), (*minhash.Bitmap)(&odd))
}

// segmentOf returns the segment of a document; nil if there are no segments.
func (x *Index) segmentOf(doc uint32) *segment {
	i := sort.Search(len(x.segments), func(i int) bool { return x.segments[i].first > doc })
	if i == 0 {
		return nil
	}
	return &x.segments[i-1]
}

// decode decodes the sketch of a document and appends it to dst.
func (x *Index) decode(doc uint32, encoded []byte, dst minhash.Sketch) (minhash.Sketch, error) {
	before := len(dst)
	dst, rest, err := minhash.Decode(dst, encoded)
	if n := len(dst) - before; err == nil && (len(rest) > 0 || n > int(x.params.Size) || n == 0) {
		err = fmt.Errorf("%d hashes, where at most %d are possible, and %d bytes after them", n, x.params.Size, len(rest))
	}
	if err != nil {
		return dst[:before], x.list.Corrupt(doc, "document %d: %w", doc, err)
	}
	return dst, nil
}

// EachSketch calls fn for each of the first n documents that has a sketch, in order. It stops at
// fn's first error and returns it. The sketch is valid until fn returns.
func (x *Index) EachSketch(n uint32, fn func(doc uint32, sketch []uint32) error) (err error) {
	var s minhash.Sketch
	var last []byte // s in encoded form
	if x.list == nil {
		return nil
	}
	for doc := range n {
		encoded, err := x.list.Get(doc)
		if err != nil {
			return err
		}
		if len(encoded) == 0 {
			continue
		}
		if !bytes.Equal(encoded, last) {
			if s, err = x.decode(doc, encoded, s[:0]); err != nil {
				return err
			}
			last = encoded
		}
		if err := fn(doc, s); err != nil {
			return err
		}
	}
	return nil
}
