package sstable

const (
	// batchWindow is how many queries are looked up, and their ranges prefetched, before they are scanned.
	batchWindow = 16
	// windowBits is how finely the queries are sorted: a finer order would bring no block closer that these bits do not.
	windowBits = 22
	// windowShare is what a probe costs in a window, as a share of what it costs alone: ranges that follow each other share blocks.
	windowShare = 0.7
)

// probeTable probes table t for all queries in order. Queries whose ranges cost more than limit are set aside.
func (x *Index) probeTable(c *batchCall, t int, limit float64) error {
	w := &c.s.batch
	for rest := w.order; len(rest) > 0; {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		n := min(batchWindow, len(rest))
		x.lookUpWindow(c, rest[:n], t, limit)
		if err := x.scanWindow(c, t); err != nil {
			return err
		}
		rest = rest[n:]
		if err := x.resolveSome(c, t); err != nil {
			return err
		}
	}
	return x.resolveFound(c, t)
}

// lookUpWindow finds the ranges of some queries in table t and prefetches them.
func (x *Index) lookUpWindow(c *batchCall, some []batchItem, t int, limit float64) {
	s := c.s
	w := &s.batch
	s.ranges, w.window = s.ranges[:0], w.window[:0]
	for _, b := range some {
		start, sum := len(s.ranges), 0.0
		for d := range int(c.a.radius[t]) + 1 {
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
func (x *Index) scanWindow(c *batchCall, t int) error {
	s := c.s
	w := &s.batch
	s.Stats.Probes += len(s.ranges)
	table := &x.tables[t]
	f := scanFor{permuted: table, a: c.a, table: t, k: c.k, lead: table.leadBits, batch: w}
	next := 0
	for _, e := range w.window {
		f.q, f.query = e.key, e.query
		s.dst = s.dst[:0]
		for ; next < e.end; next++ {
			f.off = int(s.ranges[next].dist)
			if err := x.scanRange(&f, &s.ranges[next], s); err != nil {
				return err
			}
		}
		for _, h := range s.dst {
			if err := c.emit(int(e.query), h); err != nil {
				return err
			}
		}
	}
	for _, u := range w.unresolved {
		w.found = append(w.found, batchItem{u.Fingerprint, u.query, u.Distance})
	}
	w.unresolved = w.unresolved[:0]
	return nil
}
