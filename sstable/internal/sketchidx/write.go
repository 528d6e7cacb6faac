package sketchidx

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/blobs"
)

// A Writer collects what a table keeps of the sketches of its documents. The documents are cut into
// segments, of which the writer has one at a time:
//
//	for each document
//		if w.Full(sketch): write the blocks that are left, then WriteBitmaps and WritePostings
//		w.Add(sketch)
//	at the end of the table: the same for the last segment, then Directory and AppendHot
//
// Documents that come before the first one with a sketch are only counted: they are a segment, or a
// part of one, without bitmaps and postings. If none has a sketch, None reports true, and there is
// nothing to write.
//
// Memory: 68 bytes a document of the segment, little more than 4 a posting, and 1 byte a document
// for good; of those before the first sketch nothing.
type Writer struct {
	params   Params
	list     *blobs.ListWriter
	order    *hot.Order
	hot      []hot.Hash
	docs     int // that end a segment
	bitmaps  []byte
	any      bool // a document of the segment has a sketch
	some     bool // a document of the table has one
	before   int  // documents of the segment that came before the first sketch of all
	earlier  int  // documents of segments that ended before it
	expected int
	postings postingsWriter
	room     []hot.Key // for hot.Order.Prefix

	// the last one that was not empty, and its code: equal documents follow each other
	last minhash.Sketch
	code []byte

	// MaxPostings is how many postings a segment may have: it ends before it would have more.
	MaxPostings int
}

// NewWriter returns a writer for segments of at most segmentDocs documents (0: 2^19). hashes are
// the hot ones of the table's sketches; expected is how many documents come, about.
func NewWriter(p Params, hashes []hot.Hash, segmentDocs, expected int) (*Writer, error) {
	if err := checkHot(hashes); err != nil {
		return nil, err
	}
	w := &Writer{
		params: p, list: blobs.NewListWriter(blobs.Sketches), order: hot.NewOrder(hashes), hot: hashes,
		docs: cmp.Or(segmentDocs, defaultSegmentDocs), MaxPostings: maxPostings, expected: max(expected, 0),
	}
	return w, nil
}

// CheckSketch reports whether s can be the sketch of a document with at most n hashes.
func CheckSketch(s []uint32, n uint32) error {
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

// Full reports whether the segment has to end before a sketch is added.
func (w *Writer) Full(s minhash.Sketch) bool {
	if !w.some {
		return len(s) > 0 && w.before >= w.docs
	}
	p := &w.postings
	return len(p.ends) == w.docs || len(p.ends) > 0 && len(p.hashes)+prefixLength(len(s), w.params.MinJaccard) > w.MaxPostings
}

// None reports whether no document so far has a sketch.
func (w *Writer) None() bool { return !w.some }

// begin makes room for the documents before the first that has a sketch.
func (w *Writer) begin() {
	w.some = true
	w.bitmaps = make([]byte, bitmapSize*w.before, bitmapSize*max(w.before+1, min(w.expected-w.earlier, w.docs)))
	w.postings.ends = make([]uint32, w.before)
	for range w.earlier + w.before {
		w.list.Add(nil)
	}
}

// Add adds the sketch of the next document, empty if it has none, and reports whether Blocks should
// be flushed. code is its encoding, nil if that is not known.
func (w *Writer) Add(s minhash.Sketch, code []byte) (flush bool) {
	if !w.some {
		if len(s) == 0 {
			w.before++
			return false
		}
		w.begin()
	}
	p, n := &w.postings, prefixLength(len(s), w.params.MinJaccard)
	if have := len(p.hashes); n <= have && len(p.ends) > 0 && w.isLast(s) {
		p.hashes = append(p.hashes, p.hashes[have-n:]...)
	} else {
		p.hashes, _, w.room = w.order.Prefix(w.withRoom(p.hashes, n), s, n, w.room)
	}
	p.ends = append(p.ends, uint32(len(p.hashes)))
	b := s.Bitmap()
	w.bitmaps = appendBitmap(w.bitmaps, &b)
	if len(s) == 0 {
		return w.list.Add(nil)
	}
	w.any = true
	if code != nil {
		w.last = append(w.last[:0], s...)
		w.code = append(w.code[:0], code...)
	} else if !w.isLast(s) {
		w.last, w.code = append(w.last[:0], s...), s.AppendEncoded(w.code[:0])
	}
	return w.list.Add(w.code)
}

// withRoom makes room for n postings more: at first by doubling, then for as many as the segment
// will have if its other documents are like those so far, since copying many is slow.
func (w *Writer) withRoom(hashes []uint32, n int) []uint32 {
	const fewDocs = 1024
	docs, most, need := len(w.postings.ends)+1, min(w.expected-w.earlier, w.docs), len(hashes)+n
	if docs < fewDocs || docs >= most || need <= cap(hashes) {
		return slices.Grow(hashes, n)
	}
	room := int(float64(need) / float64(docs) * float64(most))
	return append(make([]uint32, 0, max(min(room+room/16, w.MaxPostings), need)), hashes...)
}

// isLast reports whether s is equal to the last sketch that was added, of those that were not
// empty.
func (w *Writer) isLast(s minhash.Sketch) bool { return slices.Equal(s, w.last) }

// Blocks returns the writer of the blocks of encoded sketches, which knows nothing of segments.
func (w *Writer) Blocks() *blobs.ListWriter { return w.list }

// WriteBitmaps writes the bitmaps of the segment and returns the number of its documents.
func (w *Writer) WriteBitmaps(out io.Writer) (docs int, err error) {
	if !w.some {
		return w.before, nil
	}
	if w.any {
		if _, err := out.Write(w.bitmaps); err != nil {
			return 0, err
		}
		if _, err := out.Write(appendBitmapSums(nil, w.bitmaps)); err != nil {
			return 0, err
		}
	}
	return len(w.postings.ends), nil
}

// WritePostings writes the postings of the segment and begins the next segment. It returns their
// number and the directory of their run.
func (w *Writer) WritePostings(out io.Writer) (n int, dir []byte, err error) {
	n, dir, err = w.postings.writeTo(out)
	w.any, w.bitmaps, w.postings.hashes, w.postings.ends = false, w.bitmaps[:0], w.postings.hashes[:0], w.postings.ends[:0]
	if !w.some {
		w.earlier, w.before = w.earlier+w.before, 0
	}
	return n, dir, err
}

// AppendHot appends the section of the hot hashes, and returns their number.
func (w *Writer) AppendHot(dst []byte) (section []byte, n int) {
	return appendHot(dst, w.hot), len(w.hot)
}
