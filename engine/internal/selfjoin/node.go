package selfjoin

import "github.com/simdb/simdb/internal/base"

// node reports the wanted pairs of g: those within distance k that agree in w.agree and differ in
// each of w.differ. avail and budget are as the package comment says. depth is the number of nodes
// above.
func (w *worker) node(g group, avail uint64, budget, depth int) {
	if g.len() < 2 || w.j.stopped() {
		return
	}
	first := 1
	if w.j.marked != nil {
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

// splitting says how a node is worked off.
type splitting struct {
	estimate
	avail  uint64 // bits that the blocks are cut from
	budget int
}

// split chooses how to work off g, or finds that it can't hold a wanted pair.
func (w *worker) split(g group, avail uint64, budget int) (s splitting, ok bool) {
	vary := g.vary()
	for _, mask := range w.differ {
		if mask&vary == 0 {
			return s, false
		}
	}
	s = splitting{avail: avail & vary, budget: budget}
	s.estimate = w.plan.plan(g, s.avail, budget)
	if fresh := vary &^ w.agree; fresh != s.avail || budget != w.k {
		if e := w.plan.plan(g, fresh, w.k); e.cost < s.cost {
			s = splitting{e, fresh, w.k}
		}
	}
	return s, true
}

// passes makes one pass over g for each block of s.
func (w *worker) passes(g group, s splitting, first, depth int) {
	agree, differ, base := w.agree, len(w.differ), len(w.blocks)
	w.blocks = cut(w.blocks, s.avail, int(s.width), s.budget+1)
	for j := 0; j <= s.budget; j++ {
		b := w.blocks[base+j] // the stack may move below
		s.avail &^= b.mask
		w.agree = agree | b.mask
		if !s.chained || !w.chainedPass(g, b, first) {
			w.splitPass(g, b, s.avail, s.budget-j, depth)
			if w.j.marked != nil {
				g.markedLast() // the split has mixed them up
			}
		}
		w.differ = append(w.differ, b.mask)
	}
	w.agree, w.differ, w.blocks = agree, w.differ[:differ], w.blocks[:base]
}

// chainedPass reports the pairs of g that agree in b by chaining the fingerprints of a bucket, or
// returns false if they are so skewed that another split is better.
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

// splitPass makes a child node of each bucket of b.
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

// split arranges g by bucket and leaves the start of each bucket in l.start. scratch is allocated
// when it is first used.
func (l *level) split(g group, b block, scratch *group) {
	size := b.size()
	start := l.start[:size+1]
	clear(start)
	for _, x := range g.keys {
		start[b.bucket(x)+1]++
	}
	for i := range size {
		l.next[i] = start[i]
		start[i+1] += start[i]
	}
	if g.len() <= copiedGroup {
		if scratch.len() == 0 {
			*scratch = group{make([]base.Fingerprint, copiedGroup), make([]uint32, copiedGroup)}
		}
		l.copySplit(g, b, scratch.slice(0, uint32(g.len())))
	} else {
		l.swapSplit(g, b)
	}
}

// copiedGroup is the size of the largest group that is split by way of a copy, which is faster but
// takes memory.
const copiedGroup = 1 << 15

// copySplit splits a group by way of scratch, which has its size.
func (l *level) copySplit(g group, b block, scratch group) {
	copy(scratch.keys, g.keys)
	copy(scratch.ids, g.ids)
	for i, x := range scratch.keys {
		to := &l.next[b.bucket(x)&(1<<maxWidth-1)]
		g.keys[*to], g.ids[*to] = x, scratch.ids[i]
		*to++
	}
}

// swapSplit splits a group in place (McIlroy, Bostic and McIlroy's American flag sort).
func (l *level) swapSplit(g group, b block) {
	next := &l.next
	for i := range uint32(b.size()) {
		for end := l.start[i+1]; next[i] < end; next[i]++ {
			at := next[i]
			x, id := g.keys[at], g.ids[at]
			to := b.bucket(x)
			if to == i {
				continue
			}
			for ; to != i; to = b.bucket(x) {
				p := next[to]
				next[to]++
				x, g.keys[p] = g.keys[p], x
				id, g.ids[p] = g.ids[p], id
			}
			g.keys[at], g.ids[at] = x, id
		}
	}
}

// vary returns the positions in which not all fingerprints of g agree.
func (g group) vary() uint64 {
	or, and := uint64(0), ^uint64(0)
	for _, x := range g.keys {
		or |= x
		and &= x
	}
	return or &^ and
}

// markedLast moves marked fingerprints to the end and returns the position of the first of them.
func (g group) markedLast() int {
	at := len(g.ids)
	for i := 0; i < at; {
		if g.ids[i]&markBit == 0 {
			i++
			continue
		}
		at--
		g.keys[i], g.keys[at] = g.keys[at], g.keys[i]
		g.ids[i], g.ids[at] = g.ids[at], g.ids[i]
	}
	return at
}
