package sstable

import (
	"context"
	"math/bits"
	"slices"
)

// A batch of searches shares one walk through each table. All use the radii that are best for mean ranges. A table is either
//
//	joined	its blocks are decoded one after the other, and the keys of each lead compared with all queries that have this lead,
//		or one within the table's radius of it (near_batch_join.go): for many queries
//	probed	the queries are sorted by their permuted keys, and each probes its ranges, so that those that need the same block follow
//		each other and find it in the cache: for few
//
// A query that meets a hot range, which would cost it more than a search of its own, is set aside when the first such range is seen; later
// it is searched alone, with radii of its own, and of what that finds the part that the tables before had found already is left out.
//
// Hits of tables after the first are fingerprints, whose documents run 0 has. They are collected and looked up there in order
// (near_batch_resolve.go).

// batch is the working memory of a batch.
type batch struct {
	order, spare []batchItem // the queries as a table permutes them
	aside        []uint8     // of each query, 1 + the table where it was set aside, or 0
	alone        []float32   // of each query, the price of searching for it alone, or 0 if nobody has asked for it
	hits         []Hit       // of a query that is searched alone
	found        []batchItem // fingerprints without their documents

	window     []batchEntry // of a table that is probed
	unresolved []batchHit   // what a window has found

	joinScratch
}

// batchItem is a query, or a fingerprint that a query has found.
type batchItem struct {
	key      uint64
	query    uint32 // position in the batch
	distance uint8
}

// batchHit is a fingerprint that a query has found, without its documents.
type batchHit struct {
	Hit
	query uint32
}

// batchEntry is a query of the window with its ranges, up to end.
type batchEntry struct {
	batchItem
	end int
}

// batchCall is one call of NearBatch.
type batchCall struct {
	ctx     context.Context
	queries []uint64
	k       int
	a       *allocation
	s       *Scratch
	emit    func(query int, h Hit) error
}

// NearBatch calls emit for every document within k bits of each query, with the query's position, each once but in no particular
// order, though always in the same. An error of emit ends it, as the context's end does. len(queries) < 1<<32; it keeps 45 bytes a query
// in s, and 32 a hit that is waiting, of which there are not many more than queries.
func (x *Index) NearBatch(ctx context.Context, queries []uint64, k int, s *Scratch, emit func(query int, h Hit) error) error {
	if k < 0 || len(queries) == 0 || x.tables[0].run.n == 0 || x.damage != nil {
		return x.damage
	}
	k = min(k, maxDistance)
	c := &batchCall{ctx, queries, k, x.standardPlan(k, s), s, emit}
	w := &s.batch
	w.found, w.unresolved = w.found[:0], w.unresolved[:0]
	w.aside = append(w.aside[:0], make([]uint8, len(queries))...)
	w.alone = append(w.alone[:0], make([]float32, len(queries))...)
	if c.a.scan {
		return x.batchScan(c)
	}
	for t := range x.tables {
		if c.a.radius[t] < 0 {
			continue
		}
		if err := x.batchTable(c, t); err != nil {
			return err
		}
	}
	for i := range queries {
		if w.aside[i] != 0 {
			if err := x.nearAlone(c, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// batchScan compares all queries with all fingerprints.
func (x *Index) batchScan(c *batchCall) error {
	if joined := x.joinCost(0, 0, 0, len(c.queries)); joined < float64(len(c.queries))*x.scanCost() {
		c.s.Stats.Scans++
		x.orderQueries(c, 0, 0)
		return x.joinTable(c, &join{permuted: &x.tables[0], all: true})
	}
	for i := range c.queries {
		if err := x.nearAlone(c, i); err != nil {
			return err
		}
	}
	return nil
}

// batchTable searches table t for all queries that have not been set aside.
func (x *Index) batchTable(c *batchCall, t int) error {
	radius := int(c.a.radius[t])
	probes := 0.0
	for d := range radius + 1 {
		probes += x.meanShell(t, d)
	}
	limit := cost.probe + overrun*probes
	bits, joined := x.joinBits(t, radius, len(c.queries))
	if joined < windowShare*probes*float64(len(c.queries)) {
		x.orderQueries(c, t, bits)
		return x.joinTable(c, &join{permuted: &x.tables[t], table: t, radius: radius, bits: bits, limit: limit})
	}
	x.orderQueries(c, t, windowBits)
	return x.probeTable(c, t, limit)
}

// nearAlone searches for one query and emits what the tables before the one where it was set aside have not found.
func (x *Index) nearAlone(c *batchCall, query int) error {
	w, q := &c.s.batch, c.queries[query]
	err := c.ctx.Err()
	if err != nil {
		return err
	}
	if w.hits, err = x.Near(q, c.k, c.s, w.hits[:0]); err != nil {
		return err
	}
	done := max(int(w.aside[query])-1, 0)
	for _, h := range w.hits {
		if x.foundBefore(c, done, h.Fingerprint^q) {
			continue
		}
		if err := c.emit(query, h); err != nil {
			return err
		}
	}
	return nil
}

// foundBefore reports whether a table before t finds a fingerprint that has these differences to a query.
func (x *Index) foundBefore(c *batchCall, t int, diff uint64) bool {
	for earlier := range t {
		if bits.OnesCount64(diff&x.tables[earlier].leadMask) <= int(c.a.radius[earlier]) {
			return true
		}
	}
	return false
}

// orderQueries leaves the queries that have not been set aside in order, sorted by the leading bits of their keys in table t: sortItems,
// but for the first pass, which makes the items.
func (x *Index) orderQueries(c *batchCall, t, leading int) {
	w, table := &c.s.batch, &x.tables[t]
	r := newItemRadix(leading)
	for i, q := range c.queries {
		if w.aside[i] == 0 {
			r.count(table.apply(q))
		}
	}
	n := r.starts()
	w.order, w.spare = resized(w.order, n), resized(w.spare, n)
	for i, q := range c.queries {
		if w.aside[i] == 0 {
			key := table.apply(q)
			slot := &r.low[r.lowDigit(key)]
			w.spare[*slot] = batchItem{key: key, query: uint32(i)}
			*slot++
		}
	}
	r.scatterHigh(w.order, w.spare)
}

// sortItems orders items stably by the leading bits of their keys. spare is room that it uses, and returns.
func sortItems(items, spare []batchItem, leading int) []batchItem {
	r := newItemRadix(leading)
	for i := range items {
		r.count(items[i].key)
	}
	r.starts()
	spare = resized(spare, len(items))
	for _, item := range items {
		slot := &r.low[r.lowDigit(item.key)]
		spare[*slot] = item
		*slot++
	}
	r.scatterHigh(items, spare)
	return spare
}

// resized returns n items, of s if it has room.
func resized(s []batchItem, n int) []batchItem { return slices.Grow(s[:0], n)[:n] }

// itemRadix is a radix sort of items by the leading bits of their keys, at most 22, in two passes.
type itemRadix struct {
	digit     int // bits of a pass
	low, high [1 << itemDigit]uint32
}

const itemDigit = 11

func newItemRadix(leading int) *itemRadix { return &itemRadix{digit: (leading + 1) / 2} }

func (r *itemRadix) lowDigit(key uint64) uint64 {
	return key >> uint(64-2*r.digit) & (1<<uint(r.digit) - 1) % (1 << itemDigit)
}

func (r *itemRadix) highDigit(key uint64) uint64 { return key >> uint(64-r.digit) % (1 << itemDigit) }

func (r *itemRadix) count(key uint64) {
	r.low[r.lowDigit(key)]++
	r.high[r.highDigit(key)]++
}

// starts turns the counts of digits into the positions of the first item with each, and returns how many items there are.
func (r *itemRadix) starts() (n int) {
	low, high := uint32(0), uint32(0)
	for i := range r.low {
		r.low[i], low = low, low+r.low[i]
		r.high[i], high = high, high+r.high[i]
	}
	return int(low)
}

// scatterHigh is the second pass.
func (r *itemRadix) scatterHigh(dst, src []batchItem) {
	for _, item := range src {
		slot := &r.high[r.highDigit(item.key)]
		dst[*slot] = item
		*slot++
	}
}

// NearBatch is Near for many queries at once: it calls emit for every document within k bits of each query, with the query's
// position, each once but in no particular order, though always in the same. An error of emit ends it, as the context's end does.
func (r *Reader) NearBatch(ctx context.Context, queries []uint64, k int, s *Scratch, emit func(query int, h Hit) error) (err error) {
	defer r.unguard(guard(), &err)
	return r.index.NearBatch(ctx, queries, k, s, emit)
}
