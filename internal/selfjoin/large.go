package selfjoin

import (
	"context"
)

// run searches all fingerprints.
func (j *join) run() error {
	defer context.AfterFunc(j.ctx, func() { j.stop.Store(true) })()
	j.load()
	return j.large(j.root, ^uint64(0), j.k, 0)
}

// load copies the fingerprints to the root group.
func (j *join) load() {
	copy(j.root.keys, j.fps)
	for i := range j.root.ids {
		j.root.ids[i] = j.id(i)
	}
}

// large is worker.node for a group of any size; it processes the children of a large group in
// parallel.
func (j *join) large(g group, avail uint64, budget, depth int) error {
	if j.lead.oneLabel(g) {
		return nil
	}
	first := 1
	if j.marked != nil {
		if first = g.markedLast(); first == g.len() {
			return nil
		}
	}
	if depth > 0 && g.len() < j.largeGroup() || g.len() <= tinyGroup {
		return j.single(g, avail, budget, depth)
	}
	s, ok := j.lead.split(g, avail, budget)
	switch {
	case !ok:
		return nil
	case s.width == 0:
		return j.compareRows(g, first, depth)
	case depth == 0 && g.len() < j.largeGroup():
		return j.single(g, avail, budget, depth)
	}
	return j.passes(g, s, depth)
}

// passes reads g once for each block of s.
func (j *join) passes(g group, s splitting, depth int) error {
	w := j.lead
	agree, differ := w.agree, len(w.differ)
	blocks := cut(nil, s.avail, int(s.width), s.budget+1)
	if depth == 0 {
		j.total = int64(len(blocks)) * int64(g.len())
	}
	for i, b := range blocks {
		s.avail &^= b.mask
		w.agree = agree | b.mask
		l := new(level)
		if depth == 0 {
			l.scatter(j, b)
		} else {
			l.split(g, b, &w.copy)
		}
		if err := j.children(g, l, b.size(), s.avail, s.budget-i, depth+1); err != nil {
			return err
		}
		w.differ = append(w.differ, b.mask)
	}
	w.agree, w.differ = agree, w.differ[:differ]
	return nil
}

// children processes the buckets of g: large ones one after the other, the others in units of
// neighbouring buckets.
func (j *join) children(g group, l *level, size int, avail uint64, budget, depth int) error {
	var units [][2]int // first bucket, and the bucket after the last one
	flush := func() error {
		us := units
		units = units[:0]
		return j.runUnits(len(us), func(w *worker, u int) {
			for i := us[u][0]; i < us[u][1]; i++ {
				w.node(g.slice(l.start[i], l.start[i+1]), avail, budget, depth)
			}
		}, func(u int) {
			j.progress(depth, int(l.start[us[u][1]]-l.start[us[u][0]]))
		})
	}
	least, from := uint32(max(1<<12, g.len()/512)), 0
	cutUnit := func(to int) {
		if from < to {
			units = append(units, [2]int{from, to})
		}
		from = to
	}
	for i := range size {
		switch n := l.start[i+1] - l.start[i]; {
		case int(n) >= j.largeGroup():
			cutUnit(i)
			if err := flush(); err != nil {
				return err
			}
			if err := j.large(g.slice(l.start[i], l.start[i+1]), avail, budget, depth); err != nil {
				return err
			}
			j.progress(depth, int(n))
			from = i + 1
		case l.start[i+1]-l.start[from] >= least:
			cutUnit(i + 1)
		}
	}
	cutUnit(size)
	return flush()
}

// single processes a node as one unit.
func (j *join) single(g group, avail uint64, budget, depth int) error {
	if depth == 0 {
		j.total = int64(g.len())
	}
	return j.runUnits(1, func(w *worker, _ int) { w.node(g, avail, budget, depth) }, func(int) {
		if depth == 0 {
			j.progress(1, g.len())
		}
	})
}

// Tiles of compareRows: rows are compared with one tile of columns at a time, so that the tile
// stays in the first-level cache.
const (
	tileRows    = 512
	tileColumns = 2048
)

// compareRows compares all pairs of a large group, with one unit for every tileRows fingerprints.
func (j *join) compareRows(g group, first, depth int) error {
	rows := g.len() - first
	if depth == 0 {
		j.total = int64(rows)
	}
	return j.runUnits((rows+tileRows-1)/tileRows, func(w *worker, u int) {
		lo := first + u*tileRows
		hi := min(lo+tileRows, g.len())
		for c := 0; c < hi && !j.stop.Load(); c += tileColumns {
			for i := max(lo, c+1); i < hi; i++ {
				w.compareTo(g, g.keys[i], i, c, min(c+tileColumns, i))
			}
		}
	}, func(int) {
		if depth == 0 {
			j.progress(1, min(tileRows, rows))
		}
	})
}

// progress reports that n fingerprints of a pass are done, if depth is the depth of the root's
// children.
func (j *join) progress(depth, n int) {
	if depth != 1 {
		return
	}
	j.done = min(j.done+int64(n), j.total)
	if j.opts.Progress != nil {
		j.opts.Progress(j.done, j.total)
	}
}
