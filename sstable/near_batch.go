package sstable

import (
	"cmp"
	"math/bits"
	"slices"
)

// A batch of searches shares one walk through each table: the queries are sorted by their permuted keys, so that those that need the
// same block follow each other and find it in the cache. All use the radii that are best for mean ranges. A query that meets a hot range
// is set aside when the first such range is seen; later it is searched alone, with radii of its own, and of what that finds the part
// that the tables before had found already is left out.

// Hits of tables after the first are fingerprints, whose documents run 0 has. They are collected and looked up there in order too.

// batchUnresolved is how many such hits are collected.
const batchUnresolved = 1 << 16

// batchWindow is how many queries are looked up, and their ranges prefetched, before they are scanned.
const batchWindow = 16

// batch is the working memory of a batch.
type batch struct {
	order, spare []batchQuery
	aside        []uint8 // of each query, 1 + the table where it was set aside, or 0
	window       []batchEntry
	hits         []Hit // of a query that is searched alone
	unresolved   []batchHit
}

// batchHit is a fingerprint that a query has found, without its documents.
type batchHit struct {
	Hit
	query uint32
}

// batchQuery is a query as a table permutes it.
type batchQuery struct {
	key   uint64
	query uint32
}

// batchEntry is a query of the window with its ranges, up to end.
type batchEntry struct {
	batchQuery
	end int
}

// NearBatch calls emit for every document within k bits of each query, with the query's position, each once but in no particular
// order. An error of emit ends it. len(queries) < 1<<32; it keeps 33 bytes a query in s, and 24 a hit that is waiting, of which there are few.
func (x *Index) NearBatch(queries []uint64, k int, s *Scratch, emit func(query int, h Hit) error) error {
	if k < 0 || x.tables[0].run.n == 0 || x.damage != nil {
		return x.damage
	}
	k = min(k, maxDistance)
	a := x.standardPlan(k, s)
	s.batch.unresolved = s.batch.unresolved[:0]
	s.batch.aside = append(s.batch.aside[:0], make([]uint8, len(queries))...)
	if a.scan {
		for i, q := range queries {
			if err := x.nearAlone(q, k, i, a, s, emit); err != nil {
				return err
			}
		}
		return nil
	}
	for t := range x.tables {
		if a.radius[t] < 0 {
			continue
		}
		if err := x.batchTable(queries, k, t, a, s, emit); err != nil {
			return err
		}
	}
	for i, q := range queries {
		if s.batch.aside[i] != 0 {
			if err := x.nearAlone(q, k, i, a, s, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// nearAlone searches for one query and emits what the tables before the one where it was set aside have not found.
func (x *Index) nearAlone(q uint64, k, query int, a *allocation, s *Scratch, emit func(int, Hit) error) error {
	var err error
	if s.batch.hits, err = x.Near(q, k, s, s.batch.hits[:0]); err != nil {
		return err
	}
	done := max(int(s.batch.aside[query])-1, 0)
hits:
	for _, h := range s.batch.hits {
		for t := range done {
			if bits.OnesCount64((h.Fingerprint^q)&x.tables[t].leadMask) <= int(a.radius[t]) {
				continue hits
			}
		}
		if err := emit(query, h); err != nil {
			return err
		}
	}
	return nil
}

// batchTable searches table t for all queries that have not been set aside.
func (x *Index) batchTable(queries []uint64, k, t int, a *allocation, s *Scratch, emit func(int, Hit) error) error {
	w := &s.batch
	w.order = w.order[:0]
	for i, q := range queries {
		if w.aside[i] == 0 {
			w.order = append(w.order, batchQuery{x.tables[t].apply(q), uint32(i)})
		}
	}
	w.sort()
	limit := cost.probe
	for d := range int(a.radius[t]) + 1 {
		limit += overrun * x.meanShell(t, d)
	}
	for rest := w.order; len(rest) > 0; {
		n := min(batchWindow, len(rest))
		x.lookUpWindow(rest[:n], t, int(a.radius[t]), limit, s)
		if err := x.scanWindow(k, t, a, s, emit); err != nil {
			return err
		}
		rest = rest[n:]
		if len(w.unresolved) >= batchUnresolved {
			if err := x.resolveBatch(t, s, emit); err != nil {
				return err
			}
		}
	}
	return x.resolveBatch(t, s, emit)
}

// resolveBatch emits the documents of the fingerprints that table t has found.
func (x *Index) resolveBatch(t int, s *Scratch, emit func(int, Hit) error) error {
	w := &s.batch
	slices.SortFunc(w.unresolved, func(a, b batchHit) int { return cmp.Compare(a.Fingerprint, b.Fingerprint) })
	for _, u := range w.unresolved {
		s.dst = s.dst[:0]
		if err := x.resolve(t, u.Hit, s); err != nil {
			return err
		}
		for _, h := range s.dst {
			if err := emit(int(u.query), h); err != nil {
				return err
			}
		}
	}
	w.unresolved = w.unresolved[:0]
	return nil
}

// lookUpWindow finds the ranges of some queries in table t and prefetches them. Queries whose ranges cost more than limit are set aside.
func (x *Index) lookUpWindow(some []batchQuery, t, radius int, limit float64, s *Scratch) {
	w := &s.batch
	s.ranges, w.window = s.ranges[:0], w.window[:0]
	for _, b := range some {
		start, sum := len(s.ranges), 0.0
		for d := range radius + 1 {
			x.lookUpShell(t, d, b.key, s)
			sum += s.shells[t][d]
		}
		if sum > limit {
			s.ranges = s.ranges[:start]
			w.aside[b.query] = uint8(t + 1)
			continue
		}
		w.window = append(w.window, batchEntry{b, len(s.ranges)})
	}
	for i := range s.ranges {
		if i == 0 || s.ranges[i].block != s.ranges[i-1].block {
			x.prefetch(&s.ranges[i])
		}
	}
}

// scanWindow scans the ranges that lookUpWindow has found.
func (x *Index) scanWindow(k, t int, a *allocation, s *Scratch, emit func(int, Hit) error) error {
	s.Stats.Probes += len(s.ranges)
	table := &x.tables[t]
	f := scanFor{permuted: table, a: a, table: t, k: k, lead: table.leadBits, batch: &s.batch}
	next := 0
	for _, e := range s.batch.window {
		f.q, f.query = e.key, e.query
		s.dst = s.dst[:0]
		for ; next < e.end; next++ {
			f.off = int(s.ranges[next].dist)
			if err := x.scanRange(&f, &s.ranges[next], s); err != nil {
				return err
			}
		}
		for _, h := range s.dst {
			if err := emit(int(e.query), h); err != nil {
				return err
			}
		}
	}
	return nil
}

// sort orders the queries by the 22 leading bits of their keys, in two passes of a radix sort: a finer order would bring no block
// closer that 22 bits do not.
func (w *batch) sort() {
	const digit = 11
	if cap(w.spare) < len(w.order) {
		w.spare = make([]batchQuery, len(w.order))
	}
	w.spare = w.spare[:len(w.order)]
	for shift := 64 - 2*digit; shift < 64; shift += digit {
		var at [1<<digit + 1]uint32
		for _, b := range w.order {
			at[b.key>>uint(shift)&(1<<digit-1)+1]++
		}
		for i := 1; i < len(at); i++ {
			at[i] += at[i-1]
		}
		for _, b := range w.order {
			slot := &at[b.key>>uint(shift)&(1<<digit-1)]
			w.spare[*slot] = b
			*slot++
		}
		w.order, w.spare = w.spare, w.order
	}
}

// NearBatch is Near for many queries at once: it calls emit for every document within k bits of each query, with the query's
// position, each once but in no particular order. An error of emit ends it.
func (r *Reader) NearBatch(queries []uint64, k int, s *Scratch, emit func(query int, h Hit) error) (err error) {
	defer r.unguard(guard(), &err)
	return r.index.NearBatch(queries, k, s, emit)
}
