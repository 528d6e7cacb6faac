package sketchidx

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/minhash"
)

// A Writer collects the parts of a table that depend on the sketches of its documents. The
// documents are split into segments, and the writer holds one segment at a time:
//
//	for each document
//		if w.Full(sketch): write the remaining blocks, then WriteBitmaps and WritePostings
//		w.Add(sketch)
//	at the end of the table: the same for the last segment, then Directory and AppendHot
//
// Documents before the first one with a sketch are only counted: they form a segment, or a part of
// one, without bitmaps and postings. If no document has a sketch, None reports true, and there is
// nothing to write.
//
// Memory: 36 bytes per document and little more than 4 bytes per posting of the segment, and 1 byte
// per document of the table. Documents before the first sketch need none.
type Writer struct {
	params   Params
	list     *blobs.ListWriter
	order    *hot.Order
	hot      []hot.Hash
	docs     int // number of documents at which a segment ends
	bitmaps  []byte
	any      bool // whether a document of the segment has a sketch
	some     bool // whether a document of the table has a sketch
	before   int  // documents of the current segment before the table's first sketch
	earlier  int  // documents of complete segments before the first sketch
	expected int
	postings postingsWriter
	keys     []hot.Key // buffer for hot.Order.Prefix

	// the last sketch that was not empty, and its code: equal documents often follow each other
	last minhash.Sketch
	code []byte

	// MaxPostings is the maximum number of postings in a segment, which ends before it would have
	// more.
	MaxPostings int
}

// NewWriter returns a writer for segments of at most segmentDocs documents (0: 2^19). hashes are
// the hot hashes of the table's sketches; expected is about how many documents will be added.
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

// CheckSketch returns an error if s cannot be a sketch of at most n hashes.
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

// Odd reports whether bitmaps are odd sketches.
func (w *Writer) Odd() bool { return w.params.Odd }

// Full reports whether the segment has to end before sketch s is added.
func (w *Writer) Full(s minhash.Sketch) bool {
	if !w.some {
		return len(s) > 0 && w.before >= w.docs
	}
	p := &w.postings
	return len(p.ends) == w.docs || len(p.ends) > 0 && len(p.hashes)+prefixLength(len(s), w.params.MinJaccard) > w.MaxPostings
}

// None reports whether no document so far has a sketch.
func (w *Writer) None() bool { return !w.some }

// begin allocates the data of the documents before the first one with a sketch.
func (w *Writer) begin() {
	w.some = true
	w.bitmaps = make([]byte, bitmapSize*w.before, bitmapSize*max(w.before+1, min(w.expected-w.earlier, w.docs)))
	w.postings.ends = make([]uint32, w.before)
	for range w.earlier + w.before {
		w.list.Add(nil)
	}
}

// Add adds the sketch of the next document, empty if it has none, and reports whether Blocks should
// be flushed. code is the encoded sketch, nil if the caller does not know it. odd is the odd sketch,
// which is ignored without Params.Odd.
func (w *Writer) Add(s minhash.Sketch, code []byte, odd oddsketch.Sketch) (flush bool) {
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
		p.hashes, _, w.keys = w.order.Prefix(w.withCapacity(p.hashes, n), s, n, w.keys)
	}
	p.ends = append(p.ends, uint32(len(p.hashes)))
	b := minhash.Bitmap(odd)
	if !w.params.Odd {
		b = s.Bitmap()
	}
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

// withCapacity ensures capacity for n more postings. At first it doubles the capacity, later it
// estimates the size of the whole segment from the documents so far, because copying many postings
// is slow.
func (w *Writer) withCapacity(hashes []uint32, n int) []uint32 {
	const fewDocs = 1024
	docs, most, need := len(w.postings.ends)+1, min(w.expected-w.earlier, w.docs), len(hashes)+n
	if docs < fewDocs || docs >= most || need <= cap(hashes) {
		return slices.Grow(hashes, n)
	}
	size := int(float64(need) / float64(docs) * float64(most))
	return append(make([]uint32, 0, max(min(size+size/16, w.MaxPostings), need)), hashes...)
}

// isLast reports whether s equals the last non-empty sketch that was added.
func (w *Writer) isLast(s minhash.Sketch) bool { return slices.Equal(s, w.last) }

// Blocks returns the writer of the blocks of encoded sketches, which are independent of segments.
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

// WritePostings writes the postings of the segment and starts the next segment. It returns their
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
