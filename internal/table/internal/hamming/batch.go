package hamming

import (
	"context"

	"github.com/simdb/simdb/internal/base"
)

// A batch is joined with one table at a time: the blocks of the table are decoded in order, and the
// keys of each lead are compared with all queries that have this lead, or a lead within the table's
// radius (join.go). All queries use the best radii for ranges of mean size. For a query in a hot
// range a search of its own may be cheaper; such a query is set aside when its first hot range is
// seen. Later it is searched for alone, with its own radii, and hits that earlier tables have
// already reported are dropped.
//
// Hits of tables after the first are fingerprints; run 0 has their documents. These hits are
// collected and looked up in the order of run 0 (join_resolve.go).
//
// In a small batch, all queries are searched for alone, a few at a time, step by step, in the order
// of run 0.

// Batch calls emit for every document within k bits of each query, with the index of the query:
// each pair once, in an order that is unspecified but always the same. It stops at an error of emit
// and when ctx ends. There must be fewer than 1<<32 queries. s needs 45 bytes per query, and 32
// bytes per hit without its document; there are not many more such hits than queries.
func (s *Searcher) Batch(ctx context.Context, x *Index, queries []base.Fingerprint, k int, emit func(query int, h Hit) error) error {
	if k < 0 || len(queries) == 0 || x.tables[0].run.Len() == 0 || x.damage != nil {
		return x.damage
	}
	k = min(k, maxDistance)
	c := &batchCall{ctx, queries, k, x.standardPlan(k, s), s, emit}
	w := &s.batch
	w.found = w.found[:0]
	w.aside = append(w.aside[:0], make([]uint8, len(queries))...)
	w.alone = append(w.alone[:0], make([]float32, len(queries))...)
	if joins, ns := x.planJoins(c); ns < aloneFactor*float64(len(queries))*c.a.ns {
		for _, j := range joins {
			x.orderQueries(c, j.table, j.bits, false)
			if err := x.joinTable(c, j); err != nil {
				return err
			}
		}
	} else {
		for i := range w.aside {
			w.aside[i] = 1
		}
	}
	return x.searchAlone(c)
}

// planJoins returns the joins that answer a batch, and their expected time.
func (x *Index) planJoins(c *batchCall) (joins []*join, ns float64) {
	if c.a.scan {
		return []*join{{permuted: &x.tables[0], all: true}}, x.joinCost(0, 0, 0, len(c.queries))
	}
	for t := range x.tables {
		if c.a.radius[t] < 0 {
			continue
		}
		j := &join{permuted: &x.tables[t], table: t, radius: int(c.a.radius[t]), limit: aloneFactor * cost.probe}
		for d := range j.radius + 1 {
			j.limit += aloneFactor * overrunRatio * x.meanShell(t, d)
		}
		cheapest := 0.0
		j.bits, cheapest = x.joinBits(t, j.radius, len(c.queries))
		joins, ns = append(joins, j), ns+cheapest
	}
	return joins, ns
}

// batchWindow is how many queries of searchAlone are planned together, so that their cache misses
// overlap. The data prefetched for them must stay in the first caches.
const batchWindow = 4

// searchAlone searches for each query that has been set aside, a few at a time, in the order of run
// 0.
func (x *Index) searchAlone(c *batchCall) error {
	s, w := c.s, &c.s.batch
	x.orderQueries(c, 0, resolveBits, true)
	for rest := w.order; len(rest) > 0; {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		some := rest[:min(batchWindow, len(rest))]
		rest = rest[len(some):]
		s.start()
		for i, item := range some {
			x.prepare(c.queries[item.query], c.k, s, &s.plans[i])
		}
		for i := range some {
			x.resolveLeads(s, &s.plans[i])
		}
		for i := range some {
			x.choose(s, &s.plans[i])
		}
		for i, item := range some {
			if err := x.finishAlone(c, int(item.query), &s.plans[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishAlone emits the hits of a query that was set aside, except those that earlier tables have
// reported.
func (x *Index) finishAlone(c *batchCall, query int, p *searchPlan) (err error) {
	w, q := &c.s.batch, c.queries[query]
	if w.hits, err = x.execute(c.s, p, w.hits[:0]); err != nil {
		return err
	}
	// Joins with the tables before the one where the query was set aside have reported the hits
	// within their radii; this search has other radii, and may find them again.
	done := int(w.aside[query]) - 1
	for _, h := range w.hits {
		if x.foundBefore(c.a, done, h.Fingerprint^q) {
			continue
		}
		if err := c.emit(query, h); err != nil {
			return err
		}
	}
	return nil
}

// orderQueries stores the queries that have been set aside, or those that have not, in w.order,
// sorted by the leading bits of their keys in table t. It is sortItems with a first pass that makes
// the items.
func (x *Index) orderQueries(c *batchCall, t, leading int, aside bool) {
	w, table := &c.s.batch, &x.tables[t]
	r := newItemRadix(leading)
	for i, q := range c.queries {
		if (w.aside[i] != 0) == aside {
			r.count(table.apply(q))
		}
	}
	n := r.starts()
	w.order, w.spare = resized(w.order, n), resized(w.spare, n)
	for i, q := range c.queries {
		if (w.aside[i] != 0) == aside {
			key := table.apply(q)
			slot := &r.low[r.lowDigit(key)]
			w.spare[*slot] = batchItem{key: key, query: uint32(i)}
			*slot++
		}
	}
	r.scatterHigh(w.order, w.spare)
}
