package sstable

import (
	"context"
	"sync"

	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/table"
)

// Hit is a document that a search by fingerprint has found:
//
//	type Hit struct {
//		Doc         uint32 // its number in the table
//		Distance    uint16      // bits that differ from the query
//		Fingerprint Fingerprint // of several words, the one that was found by
//	}
type Hit = hamming.Hit

// Plan says how a search by fingerprint would be done:
//
//	type Plan struct {
//		Method     string  // "probe" or "scan"
//		Radii      []int   // of each permuted table, -1 where it is not probed; nil for a scan
//		Probes     int     // ranges to look up
//		Candidates int     // keys to compare, estimated from the real sizes of the ranges
//		Cost       float64 // nanoseconds on one core, estimated
//	}
type Plan = hamming.Plan

// NearStats counts the work of searches by fingerprint:
//
//	type NearStats struct {
//		Probes     int // ranges of permuted tables looked up
//		Candidates int // keys compared with the query
//		Scans      int // searches that read all fingerprints
//	}
type NearStats = hamming.Stats

// NearSearcher searches tables by fingerprint. It holds the working memory of a search, so that the
// next one allocates nothing: keep it for many searches. Its zero value is ready. It must not be
// used concurrently.
type NearSearcher struct {
	s       hamming.Searcher
	indexes []*hamming.Wide
	one     [1]Fingerprint // a query of Near
}

// Near appends to dst every document of a table of 64-bit fingerprints whose fingerprint differs
// from q in at most k bits, 0 <= k <= 64, each once and in no particular order.
func (s *NearSearcher) Near(r *Reader, q Fingerprint, k int, dst []Hit) (hits []Hit, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	s.one[0] = q
	if err := r.index.CheckWidth(1); err != nil {
		return dst, err
	}
	return s.s.Near(r.index.First(), q, k, dst)
}

// NearGroup finds the documents of several tables whose fingerprint differs from q in at most k
// bits, k >= 0. All have fingerprints of as many words as q. It calls fn once for each table, in
// order, with its position in tables, its hits, which are valid during the call, each once and in
// no particular order, and the work done there. It stops at the first error, which it returns.
func (s *NearSearcher) NearGroup(tables []*Reader, q []Fingerprint, k int, fn func(table int, hits []Hit, work NearStats) error) (err error) {
	defer unguardAny(tables, table.Guard(), &err)
	return s.s.Group(s.indexesOf(tables), q, k, fn)
}

// NearFirst calls accept with documents of the tables whose fingerprint differs from q in at
// most k bits, until it returns true, and reports whether it did. It answers whether there is a
// match at all: it reads little more than the block in which a hit is accepted, however many
// documents match. Tables are searched in order; accept may get a document twice.
func (s *NearSearcher) NearFirst(tables []*Reader, q []Fingerprint, k int, accept func(table int, h Hit) (bool, error)) (found bool, err error) {
	defer unguardAny(tables, table.Guard(), &err)
	return s.s.First(s.indexesOf(tables), q, k, accept)
}

// NearBatch is NearGroup for many queries at once, which are given as a column for each word of
// a fingerprint, in one table: it calls emit for every document of a table within k bits of
// each query, with the query's position, each once and in no particular order, but always in
// the same. It stops at an error of emit and when ctx ends. There must be fewer than 1<<32
// queries; the searcher keeps 45 bytes per query, and 32 for each of about as many hits.
func (s *NearSearcher) NearBatch(ctx context.Context, r *Reader, queries [][]Fingerprint, k int, emit func(query int, h Hit) error) (err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if len(queries[0]) > int(r.t.Info.Fingerprints)/keyrun.BlockLen { // most blocks are read
		defer r.t.Pages.Sequential()()
	}
	return s.s.BatchWide(ctx, r.index, queries, k, emit)
}

// Plan returns how NearGroup would search a table. Radii has those of the permuted tables of all
// words. It reads directories only.
func (s *NearSearcher) Plan(r *Reader, q []Fingerprint, k int) (p Plan, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	return s.s.PlanWide(r.index, q, k)
}

// TakeStats returns the work of the searches since the last call, except those of NearGroup and
// NearFirst.
func (s *NearSearcher) TakeStats() NearStats { return s.s.TakeStats() }

// indexesOf returns the indexes of tables, valid until it is called again.
func (s *NearSearcher) indexesOf(tables []*Reader) []*hamming.Wide {
	s.indexes = s.indexes[:0]
	for _, r := range tables {
		s.indexes = append(s.indexes, r.index)
	}
	return s.indexes
}

// nearSearchers are the searchers of Reader.Near.
var nearSearchers = sync.Pool{New: func() any { return new(NearSearcher) }}

// Near appends to dst every document whose 64-bit fingerprint differs from q in at most k bits, 0
// <= k <= 64, each once and in no particular order. For many searches, reuse a NearSearcher.
func (r *Reader) Near(q Fingerprint, k int, dst []Hit) ([]Hit, error) {
	s := nearSearchers.Get().(*NearSearcher)
	defer nearSearchers.Put(s)
	return s.Near(r, q, k, dst)
}
