package selfjoin

// node reports the wanted pairs of g: those within distance k that agree in w.agree and differ in
// each block of w.differ. The package comment explains avail and budget. depth is the number of
// nodes above.
func (w *worker) node(g group, avail uint64, budget, depth int) {
	if g.len() < 2 || w.stop.Load() || w.oneLabel(g) {
		return
	}
	first := 1
	if w.marked {
		if first = g.markedLast(); first == g.len() {
			return
		}
	}
	if g.len() <= tinyGroup {
		w.compareAll(g, first)
		return
	}
	s, ok := w.split(g, avail, budget)
	switch {
	case !ok:
	case s.width == 0:
		w.compareAll(g, first)
	default:
		w.passes(g, s, first, depth)
	}
}

// oneLabel reports whether all fingerprints of g have the same label, so that g has no wanted
// pair.
func (w *worker) oneLabel(g group) bool {
	if w.label == nil {
		return false
	}
	first := w.label[g.ids[0]&^markBit]
	for _, id := range g.ids[1:] {
		if w.label[id&^markBit] != first {
			return false
		}
	}
	return true
}

// splitting says how to process a node.
type splitting struct {
	estimate
	avail  uint64 // bits that the blocks are cut from
	budget int
}

// split chooses how to process g. It returns false if g has no wanted pair.
func (w *worker) split(g group, avail uint64, budget int) (s splitting, ok bool) {
	vary := g.vary()
	for _, mask := range w.differ {
		if mask&vary == 0 {
			return s, false
		}
	}
	s = splitting{avail: avail & vary, budget: budget}
	s.estimate = w.plan.plan(g, g.len(), s.avail, budget)
	if fresh := vary &^ w.agree; fresh != s.avail || budget != w.k {
		if e := w.plan.plan(g, g.len(), fresh, w.k); e.cost < s.cost {
			s = splitting{e, fresh, w.k}
		}
	}
	return s, true
}

// passes reads g once for each block of s.
func (w *worker) passes(g group, s splitting, first, depth int) {
	agree, differ, base := w.agree, len(w.differ), len(w.blocks)
	w.blocks = cut(w.blocks, s.avail, int(s.width), s.budget+1)
	for j := 0; j <= s.budget; j++ {
		b := w.blocks[base+j] // the stack may be reallocated below
		s.avail &^= b.mask
		w.agree = agree | b.mask
		if !s.chained || !w.chainedPass(g, b, first) {
			w.splitPass(g, b, s.avail, s.budget-j, depth)
			if w.marked {
				g.markedLast() // the split has mixed them up
			}
		}
		w.differ = append(w.differ, b.mask)
	}
	w.agree, w.differ, w.blocks = agree, w.differ[:differ], w.blocks[:base]
}

// chainedPass reports the pairs of g that agree in b, using chains of the fingerprints in a
// bucket. It returns false if they are so skewed that a split is better.
func (w *worker) chainedPass(g group, b block, first int) bool {
	if w.chain == nil {
		w.chain = new(chain)
	}
	late := w.chain.link(g, b)
	limit := chainLoad * g.len()
	if g.len() > 2*chainLoad && w.chain.candidates(late, limit) > limit {
		return false
	}
	w.walk(g, late, first)
	return true
}

// splitPass creates a child node for each bucket of b.
func (w *worker) splitPass(g group, b block, avail uint64, budget, depth int) {
	for len(w.levels) <= depth {
		w.levels = append(w.levels, new(level))
	}
	l := w.levels[depth]
	l.split(g, b, &w.copy)
	for i := range b.size() {
		if lo, hi := l.start[i], l.start[i+1]; hi-lo > 1 {
			w.node(g.slice(lo, hi), avail, budget, depth+1)
		}
	}
}
