package table

import (
	"context"
	"sync"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Hit is a document found by a search by fingerprint.
type Hit = hamming.Hit

// Plan says how a search by fingerprint would be executed.
type Plan = hamming.Plan

// NearStats counts the work of searches by fingerprint.
type NearStats = hamming.Stats

// NearSearcher searches tables by fingerprint. It holds the buffers of a search, so that the next
// search allocates nothing: reuse it for many searches. Its zero value is ready to use. It must not
// be used concurrently.
type NearSearcher struct {
	s       hamming.Searcher
	indexes []*hamming.Wide
	one     [1]Fingerprint // query of Near
}

// Near appends to dst every document of r whose fingerprint differs from q in at most k bits, 0 <=
// k <= 64, each once and in no particular order. The table must have 64-bit fingerprints.
func (s *NearSearcher) Near(r *Reader, q Fingerprint, k int, dst []Hit) (hits []Hit, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	s.one[0] = q
	if err := r.index.CheckWidth(1); err != nil {
		return dst, err
	}
	return s.s.Near(r.index.First(), q, k, dst)
}

// NearGroup finds the documents of several tables whose fingerprint differs from q in at most k
// bits, k >= 0. The fingerprints of all tables must have as many words as q. It calls fn once for
// each table, in order, with the table's index in tables, its hits and the work done there. hits
// has each document once, in no particular order, and is valid until fn returns. NearGroup stops at
// fn's first error and returns it.
func (s *NearSearcher) NearGroup(tables []*Reader, q []Fingerprint, k int, fn func(table int, hits []Hit, work NearStats) error) (err error) {
	defer unguardAny(tables, format.Guard(), &err)
	return s.s.Group(s.indexesOf(tables), q, k, fn)
}

// NearFirst calls accept with documents of the tables whose fingerprint differs from q in at most k
// bits, until accept returns true, and reports whether it did. It is made for asking whether any
// match exists: however many documents match, it reads little more than the block with the accepted
// hit. Tables are searched in order; accept may be called twice with the same document.
func (s *NearSearcher) NearFirst(tables []*Reader, q []Fingerprint, k int, accept func(table int, h Hit) (bool, error)) (found bool, err error) {
	defer unguardAny(tables, format.Guard(), &err)
	return s.s.First(s.indexesOf(tables), q, k, accept)
}

// NearBatch is NearGroup for many queries at once, in one table. queries has one column for each
// word of a fingerprint. NearBatch calls emit for every document of the table within k bits of each
// query, with the index of the query: each pair once, in an order that is unspecified but always
// the same. It stops at an error of emit and when ctx ends. There must be fewer than 1<<32 queries;
// the searcher needs 45 bytes per query, and 32 bytes for each of about as many hits.
func (s *NearSearcher) NearBatch(ctx context.Context, r *Reader, queries [][]Fingerprint, k int, emit func(query int, h Hit) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	if len(queries[0]) > int(r.t.Info.Fingerprints)/keyrun.BlockLen { // most blocks will be read
		defer r.t.Pages.Sequential()()
	}
	return s.s.BatchWide(ctx, r.index, queries, k, emit)
}

// Plan returns how NearGroup would search a table. Radii lists the radii of the permuted tables of
// all words. Plan reads directories only.
func (s *NearSearcher) Plan(r *Reader, q []Fingerprint, k int) (p Plan, err error) {
	defer r.t.Unguard(format.Guard(), &err)
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

// nearSearchers are the searchers that Reader.Near uses.
var nearSearchers = sync.Pool{New: func() any { return new(NearSearcher) }}

// Near appends to dst every document whose 64-bit fingerprint differs from q in at most k bits, 0
// <= k <= 64, each once and in no particular order. For many searches, reuse a NearSearcher.
func (r *Reader) Near(q Fingerprint, k int, dst []Hit) ([]Hit, error) {
	s := nearSearchers.Get().(*NearSearcher)
	defer nearSearchers.Put(s)
	return s.Near(r, q, k, dst)
}
