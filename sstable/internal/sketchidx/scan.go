package sketchidx

import (
	"bytes"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
)

type rangeScan struct {
	*Index
	queries []*query
	passed  [bitmapsBlock][]int32 // queries that the bitmap of each document of a block does not reject
	found   []uint32
	sketch  minhash.Sketch
	code    []byte // that sketch is the decoding of
	codes   uint32 // different ones so far
	scored  []scanned
}

// scanned is how a query compares with a sketch.
type scanned struct {
	code  uint32 // of the sketch
	ok    bool   // its score reaches the threshold
	score minhash.Score
}

// ScanRange calls accept with each of several queries and every document in [from, to) that Search
// finds for it at the threshold of the same index, until it returns an error: documents in order,
// queries of each in order. It compares all bitmaps with all queries, decodes a sketch once for all
// of them, and does not decode or compare it again for the documents after it that have the same
// one. It is for queries that very many documents of the index look similar to.
func (x *Index) ScanRange(from, to uint32, sketches []minhash.Sketch, ts []float64, accept func(query int, h Hit) error) error {
	s := &rangeScan{Index: x, queries: make([]*query, len(sketches)), scored: make([]scanned, len(sketches))}
	for i, q := range sketches {
		var err error
		if s.queries[i], err = x.scanned(q, ts[i]); err != nil {
			return err
		}
	}
	var room [bitmapsBlock]minhash.Bitmap
	for i := range x.segments {
		seg := &x.segments[i]
		first, end := seg.first, seg.first+uint32(seg.bitmaps.len())
		if seg.bitmaps.zero || end <= from || first >= to {
			continue
		}
		last := min(end, to) - 1 - first
		for b := (max(first, from) - first) >> bitmapsShift; b <= last>>bitmapsShift; b++ {
			maps, err := seg.bitmaps.block(int(b), &room)
			if err != nil {
				return err
			}
			s.reject(maps)
			for at := range maps {
				doc := first + b<<bitmapsShift + uint32(at)
				if len(s.passed[at]) == 0 || doc < from || doc >= to {
					continue
				}
				if err := s.score(doc, s.passed[at], accept); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// reject leaves the queries that are not rejected by each of the bitmaps in s.passed.
func (s *rangeScan) reject(maps []minhash.Bitmap) {
	for at := range s.passed {
		s.passed[at] = s.passed[at][:0]
	}
	for i, q := range s.queries {
		if len(q.sketch) == 0 {
			continue
		}
		s.found = kernel.FilterBitmaps(s.found[:0], &q.bitmap, maps, q.maxMissing)
		for _, at := range s.found {
			if maps[at].Missing(&q.bitmap) <= q.maxExcess {
				s.passed[at] = append(s.passed[at], int32(i))
			}
		}
	}
}

// score compares the sketch of a document with queries.
func (s *rangeScan) score(doc uint32, queries []int32, accept func(query int, h Hit) error) error {
	code, err := s.list.Get(doc)
	if err != nil || len(code) == 0 {
		return err
	}
	if s.codes == 0 || !bytes.Equal(code, s.code) {
		if s.sketch, err = s.decode(doc, code, s.sketch[:0]); err != nil {
			return err
		}
		s.code = code
		s.codes++
	}
	for _, i := range queries {
		q, c := s.queries[i], &s.scored[i]
		if c.code != s.codes {
			c.code = s.codes
			c.score, c.ok = minhash.JaccardAtLeast(q.sketch, s.sketch, q.n, q.t)
		}
		if !c.ok {
			continue
		}
		if err := accept(int(i), Hit{Doc: doc, Score: c.score.Score, Err: c.score.Error, Exact: c.score.Exact}); err != nil {
			return err
		}
	}
	return nil
}
