package sketchidx

import (
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/minhash"
)

// A verifier has the state of one call of Verify.
type verifier struct {
	*Index
	hash    keyrun.SetHash
	advance func(bytes int64) error
}

// Verify verifies that the postings of each segment agree with its sketches, and so do the bitmaps
// without Params.Odd. It calls advance with the number of bytes read, and stops when advance returns an error.
func (x *Index) Verify(advance func(bytes int64) error) error {
	order, err := x.order()
	if err != nil {
		return err
	}
	v := &verifier{x, keyrun.NewSetHash(), advance}
	for i := range v.segments {
		seg := &v.segments[i]
		sum, n, err := v.sumSegment(seg, order)
		if err != nil {
			return err
		}
		if err := v.checkPostings(seg, sum, n); err != nil {
			return err
		}
	}
	return nil
}

// VerifyOdd verifies the odd sketch of a document with the given set of features.
func (x *Index) VerifyOdd(doc uint32, set []uint64) error {
	got, err := x.Odd(doc)
	if err != nil || got == (oddsketch.Sketch{}) {
		return err
	}
	if got != oddsketch.Of(set) {
		seg := x.segmentOf(doc)
		return seg.bitmaps.corrupt(int(doc-seg.first), "not the odd sketch of document %d", doc)
	}
	return nil
}

// sumSegment compares the bitmaps of a segment with its sketches. It returns the hash of the
// expected set of postings, and the number of postings.
func (v *verifier) sumSegment(seg *segment, order *hot.Order) (sum uint64, n int, err error) {
	var sketch minhash.Sketch
	var prefix []uint32
	var keys []hot.Key
	var bits [bitmapsBlock]minhash.Bitmap
	var block []minhash.Bitmap
	for i := range uint32(seg.bitmaps.len()) {
		if i%bitmapsBlock == 0 {
			if block, err = seg.bitmaps.block(int(i/bitmapsBlock), &bits); err != nil {
				return 0, 0, err
			}
			if err := v.advance(bitmapsBlock * bitmapSize); err != nil {
				return 0, 0, err
			}
		}
		if sketch, err = v.Sketch(seg.first+i, sketch[:0]); err != nil {
			return 0, 0, err
		}
		if !v.params.Odd && sketch.Bitmap() != block[i%bitmapsBlock] {
			return 0, 0, seg.bitmaps.corrupt(int(i), "not the bitmap of the sketch of document %d", seg.first+i)
		}
		prefix, _, keys = order.Prefix(prefix[:0], sketch, prefixLength(len(sketch), v.params.MinJaccard), keys)
		for _, hash := range prefix {
			sum += v.hash.OfPair(uint64(hash), i)
		}
		n += len(prefix)
	}
	return sum, n, nil
}

// checkPostings compares the postings of a segment with the hash of the expected set and the
// expected number.
func (v *verifier) checkPostings(seg *segment, want uint64, n int) error {
	p := seg.postings
	var sum, prev uint64
	it := p.Iter(0)
	for i := 0; it.Next(); i++ {
		key := it.Key()
		if i > 0 && key <= prev {
			return p.Corrupt(0, "posting %x after %x", key, prev)
		}
		sum += v.hash.OfPair(key>>p.shift, uint32(key&(1<<p.shift-1)))
		prev = key
		if i%keyrun.BlockLen == 0 {
			if err := v.advance(int64(p.BlockSize(i / keyrun.BlockLen))); err != nil {
				return err
			}
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	if sum != want || p.Len() != n {
		return p.Corrupt(0, "%d postings, not the %d of the sketches", p.Len(), n)
	}
	return nil
}
