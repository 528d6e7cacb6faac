package sstable

import (
	"fmt"
	"sync"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
	"github.com/simdb/simdb/sstable/internal/table"
)

// JaccardHit is a document whose sketch has a score of at least the threshold:
//
//	type JaccardHit struct {
//		Doc   uint32  // its number in the table
//		Score float64 // estimate of the Jaccard similarity: minhash.Score.Score
//		Err   float64 // standard error of Score; 0 if Exact
//		Exact bool    // Score is the similarity itself, because neither sketch is full
//	}
type JaccardHit = sketchidx.Hit

// JaccardStats counts the work of searches by sketch:
//
//	type JaccardStats struct {
//		Postings   int // entries of postings read, and members of groups compared
//		Candidates int // documents whose bitmap was looked at
//		Rejected   int // of those, by their bitmap
//		Scored     int // sketches compared with the query
//		Scans      int // segments of which all bitmaps were read
//	}
type JaccardStats = sketchidx.Stats

// JaccardPlan says how a search by sketch would be done:
//
//	type JaccardPlan struct {
//		Method     string // "postings", or "scan" if every segment is scanned
//		Prefix     int    // hashes of the query that postings are read for; 0 for a scan
//		Postings   int    // postings to read
//		Candidates int    // documents whose bitmap is to be looked at
//		Scans      int    // segments of which all bitmaps are to be read
//		Cost       float64 // nanoseconds on one core, estimated; comparable with Plan.Cost
//	}
type JaccardPlan = sketchidx.Plan

// JaccardSearcher searches tables by sketch. It holds the working memory of a search, so that the
// next one allocates nothing: keep it for many searches. Its zero value is ready. It must not be
// used concurrently.
type JaccardSearcher struct{ s sketchidx.Searcher }

// Jaccard appends to dst every document of a table whose score with the sketch q by
// minhash.Jaccard is t or more, 0 < t <= 1, each once and in no particular order. q ascends and
// has at most Params.Sketch hashes. The answer is complete for every t; searches are fastest
// for t of Params.MinJaccard or more.
func (s *JaccardSearcher) Jaccard(r *Reader, q minhash.Sketch, t float64, dst []JaccardHit) (hits []JaccardHit, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return dst, err
	}
	return s.s.Search(r.t.Sketches, q, t, dst)
}

// JaccardFew is Jaccard if no more than most sketches must be compared with q. If there are
// more, it compares no more than most of them, and returns a part of the hits and false.
func (s *JaccardSearcher) JaccardFew(r *Reader, q minhash.Sketch, t float64, most int, dst []JaccardHit) (hits []JaccardHit, few bool, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return dst, false, err
	}
	return s.s.SearchFew(r.t.Sketches, q, t, most, dst)
}

// JaccardRange calls accept with each of several sketches, by its index, and every document in
// [from, to) that Jaccard finds for it at the threshold ts of that index, until it returns an
// error: documents in order, the sketches of each in order. It reads all bitmaps of the range, and
// decodes each sketch of a document once for all, which is faster than Jaccard where very many
// documents of the range are found. It may be called from several goroutines.
func (r *Reader) JaccardRange(from, to uint32, sketches []minhash.Sketch, ts []float64, accept func(sketch int, h JaccardHit) error) (err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return err
	}
	return r.t.Sketches.ScanRange(from, to, sketches, ts, accept)
}

// JaccardFirst calls accept with documents of a table whose score with the sketch q is t or
// more, until it returns true, and reports whether it did. It answers whether there is a match
// at all. Candidates are taken one block of postings at a time, those of rare hashes first;
// within a block, those whose bitmap differs least from that of q come first, so that a match
// is usually among the first that are scored. accept gets each document once. Which documents
// it gets depends only on q, t and the table, and on skip: if that is not nil, documents for
// which it returns true are left out.
func (s *JaccardSearcher) JaccardFirst(r *Reader, q minhash.Sketch, t float64, skip func(doc uint32) bool, accept func(JaccardHit) (bool, error)) (found bool, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return false, err
	}
	return s.s.First(r.t.Sketches, q, t, skip, accept)
}

// JaccardPlan returns how Jaccard would search. It reads the postings, but no bitmaps and no
// sketches.
func (s *JaccardSearcher) JaccardPlan(r *Reader, q minhash.Sketch, t float64) (p JaccardPlan, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return JaccardPlan{Method: "scan"}, err
	}
	return s.s.Plan(r.t.Sketches, q, t)
}

// TakeStats returns the work of the searches since the last call.
func (s *JaccardSearcher) TakeStats() JaccardStats { return s.s.TakeStats() }

// needSketches returns an error with ErrNoSketches if the table keeps none.
func (r *Reader) needSketches() error {
	if r.t.Sketches == nil {
		return fmt.Errorf("%s: %w", r.t.File, ErrNoSketches)
	}
	return nil
}

// jaccardSearchers are the searchers of Reader.Jaccard.
var jaccardSearchers = sync.Pool{New: func() any { return new(JaccardSearcher) }}

// Jaccard appends to dst every document whose score with the sketch q is t or more, as
// JaccardSearcher.Jaccard does. For many searches, reuse a JaccardSearcher.
func (r *Reader) Jaccard(q minhash.Sketch, t float64, dst []JaccardHit) ([]JaccardHit, error) {
	s := jaccardSearchers.Get().(*JaccardSearcher)
	defer jaccardSearchers.Put(s)
	return s.Jaccard(r, q, t, dst)
}

// EachSketch calls fn for every document that has a sketch, in order, and stops at the first error,
// which it returns. The sketch is valid until fn returns.
func (r *Reader) EachSketch(fn func(doc uint32, sketch []uint32) error) (err error) {
	defer r.t.Unguard(table.Guard(), &err)
	defer r.t.Pages.Sequential()()
	if r.t.Sketches == nil {
		return nil
	}
	return r.t.Sketches.EachSketch(r.t.Info.Docs, fn)
}
