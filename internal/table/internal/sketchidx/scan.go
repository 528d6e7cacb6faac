package sketchidx

import (
	"bytes"

	"github.com/simdb/simdb/minhash"
)

type rangeScan struct {
	*Index
	queries []*query
	passed  [bitmapsBlock][]int32 // for each document of a block: queries not rejected
	found   []uint32
	sketch  minhash.Sketch
	code    []byte // sketch in encoded form
	codes   uint32 // number of different codes so far
	scored  []scanned
}

// scanned is the result of comparing a query with a sketch.
type scanned struct {
	code  uint32 // number of the sketch's code
	ok    bool   // whether the score reaches the threshold
	score minhash.Score
}

// ScanRange calls accept with every document in [from, to) that Search finds for queries[i], and with
// i, until accept returns an error. Documents come in order, and for each
// document the queries in order. It compares all bitmaps with all queries, and decodes a sketch
// once for all queries; if the next documents have the same sketch, it neither decodes nor compares
// it again. It is meant for queries to which very many documents of the index look similar.
func (x *Index) ScanRange(from, to uint32, queries []Query, accept func(query int, h Hit) error) error {
	s := &rangeScan{Index: x, queries: make([]*query, len(queries)), scored: make([]scanned, len(queries))}
	for i, q := range queries {
		var err error
		if s.queries[i], err = x.scanned(q); err != nil {
			return err
		}
	}
	var buf [bitmapsBlock]minhash.Bitmap
	for i := range x.segments {
		seg := &x.segments[i]
		first, end := seg.first, seg.first+uint32(seg.bitmaps.len())
		if seg.bitmaps.zero || end <= from || first >= to {
			continue
		}
		last := min(end, to) - 1 - first
		for b := (max(first, from) - first) >> bitmapsShift; b <= last>>bitmapsShift; b++ {
			maps, err := seg.bitmaps.block(int(b), &buf)
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

// reject stores in s.passed, for each bitmap, the queries that it does not reject.
func (s *rangeScan) reject(maps []minhash.Bitmap) {
	for at := range s.passed {
		s.passed[at] = s.passed[at][:0]
	}
	for i, q := range s.queries {
		if len(q.sketch) == 0 {
			continue
		}
		s.found = q.filter(s.found[:0], maps)
		for _, at := range s.found {
			s.passed[at] = append(s.passed[at], int32(i))
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
