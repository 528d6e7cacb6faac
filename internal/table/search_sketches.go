package table

import (
	"fmt"
	"sync"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
	"github.com/simdb/simdb/minhash"
)

// JaccardHit is a document found by a search by sketch: its score is at least the threshold.
type JaccardHit = sketchidx.Hit

// JaccardStats counts the work of searches by sketch.
type JaccardStats = sketchidx.Stats

// JaccardPlan says how a search by sketch would be executed.
type JaccardPlan = sketchidx.Plan

// JaccardSearcher searches tables by sketch. It holds the buffers of a search, so that the next
// search allocates nothing: reuse it for many searches. Its zero value is ready to use. It must not
// be used concurrently.
type JaccardSearcher struct{ s sketchidx.Searcher }

// JaccardQuery is a search by sketch: for the documents whose score with Sketch by minhash.Jaccard is
// at least T, 0 < T <= 1. Sketch must ascend and have at most Params.Sketch hashes. If Odd is not nil,
// documents that it rejects by their sets of features may be left out.
type JaccardQuery = sketchidx.Query

// Jaccard appends to dst every document of a table that a query finds, each once and in no
// particular order. The answer is complete for every T; searches are fastest if T is at least
// Params.MinJaccard.
func (s *JaccardSearcher) Jaccard(r *Reader, q JaccardQuery, dst []JaccardHit) (hits []JaccardHit, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return dst, err
	}
	return s.s.Search(r.t.Sketches, q, dst)
}

// JaccardFew is Jaccard with a limit: it compares at most most sketches with that of q. If more have to be
// compared, it returns some of the hits and false.
func (s *JaccardSearcher) JaccardFew(r *Reader, q JaccardQuery, most int, dst []JaccardHit) (hits []JaccardHit, few bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return dst, false, err
	}
	return s.s.SearchFew(r.t.Sketches, q, most, dst)
}

// JaccardRange calls accept with every document in [from, to) that Jaccard finds for queries[i],
// and with i, until accept returns an error. Documents come in order, and for each document the
// queries in order. It reads all bitmaps of the range and decodes each sketch of
// a document once for all queries, which is faster than Jaccard if a large share of the documents
// match. It may be called from several goroutines.
func (r *Reader) JaccardRange(from, to uint32, queries []JaccardQuery, accept func(query int, h JaccardHit) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return err
	}
	return r.t.Sketches.ScanRange(from, to, queries, accept)
}

// JaccardFirst calls accept with documents of a table that a query finds, until accept returns true, and reports whether it did. It is made for asking whether any match
// exists. Candidates come from one block of postings at a time, rare hashes first; within a block,
// those whose bitmap differs least from that of q come first, so a match is usually among the
// first that are scored. accept is called once for each document. If skip is not nil, documents for
// which it returns true are left out. Which documents are passed to accept depends only on q, skip
// and the table.
func (s *JaccardSearcher) JaccardFirst(r *Reader, q JaccardQuery, skip func(doc uint32) bool, accept func(JaccardHit) (bool, error)) (found bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return false, err
	}
	return s.s.First(r.t.Sketches, q, skip, accept)
}

// JaccardPlan returns how Jaccard would search. It reads the postings, but no bitmaps and no
// sketches.
func (s *JaccardSearcher) JaccardPlan(r *Reader, q JaccardQuery) (p JaccardPlan, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if err := r.needSketches(); err != nil {
		return JaccardPlan{Method: "scan"}, err
	}
	return s.s.Plan(r.t.Sketches, q)
}

// TakeStats returns the work of the searches since the last call.
func (s *JaccardSearcher) TakeStats() JaccardStats { return s.s.TakeStats() }

// needSketches returns an error that wraps ErrNoSketches if the table has no sketches.
func (r *Reader) needSketches() error {
	if r.t.Sketches == nil {
		return fmt.Errorf("%s: %w", r.t.File, ErrNoSketches)
	}
	return nil
}

// jaccardSearchers are the searchers that Reader.Jaccard uses.
var jaccardSearchers = sync.Pool{New: func() any { return new(JaccardSearcher) }}

// Jaccard appends to dst every document whose score with the sketch q is at least t, as
// JaccardSearcher.Jaccard does. For many searches, reuse a JaccardSearcher.
func (r *Reader) Jaccard(q minhash.Sketch, t float64, dst []JaccardHit) ([]JaccardHit, error) {
	s := jaccardSearchers.Get().(*JaccardSearcher)
	defer jaccardSearchers.Put(s)
	return s.Jaccard(r, JaccardQuery{Sketch: q, T: t}, dst)
}

// EachSketch calls fn for every document that has a sketch, in order, and stops at fn's first
// error, which it returns. The sketch is valid until fn returns.
func (r *Reader) EachSketch(fn func(doc uint32, sketch []uint32) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	defer r.t.Pages.Sequential()()
	if r.t.Sketches == nil {
		return nil
	}
	return r.t.Sketches.EachSketch(r.t.Info.Docs, fn)
}
