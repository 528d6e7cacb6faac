package selfjoin

import "math/bits"

// pair is a pair that was found, i < j.
type pair struct {
	i, j     uint32
	distance uint8
}

// chunkPairs is how many pairs travel at once from a worker to the calling goroutine.
const chunkPairs = 4096

// group is a set of fingerprints, with their numbers beside them. The order within a group has no meaning, so groups
// are rearranged in place.
type group struct {
	keys []uint64
	ids  []uint32 // the number in the caller's slice; markBit is set for a marked fingerprint
}

// markBit marks fingerprints of a join that is restricted to pairs with a marked side.
const markBit = 1 << 31

func (g group) len() int { return len(g.keys) }

func (g group) slice(lo, hi uint32) group { return group{g.keys[lo:hi], g.ids[lo:hi]} }

// worker works off nodes; every goroutine has its own.
type worker struct {
	j      *join
	k      int
	plan   *planner
	levels []*level // scratch space of the splits, by depth

	// The conditions on pairs of the node at hand, besides the distance.
	agree  uint64   // positions in which the pair must agree
	differ []uint64 // blocks in each of which it must differ

	blocks []block // stack of the blocks of the nodes above
	chain  *chain  // nil until it is used

	found []pair        // not yet handed over
	out   chan []pair   // where it goes
	quit  chan struct{} // closed when nobody takes it any more
}

// level is the scratch space of a split.
type level struct {
	start [1<<maxWidth + 1]uint32 // of each bucket
	next  [1 << maxWidth]uint32   // where the bucket's next fingerprint goes
}

// chain is the scratch space of chained passes. Positions within a group have 15 bits; links are positions plus one,
// and zero ends a chain. The arrays have 2^16 elements so that no index of 16 bits needs a bounds check.
type chain struct {
	head [1 << maxWidth]uint16 // last fingerprint of each bucket
	prev [1 << 16]uint16       // the one before it in its bucket
	late [1 << 16]uint16       // positions whose prev is not zero
	rank [1 << 16]uint16       // how many come before it in its bucket; meaningful for those in late
}

// compareAll looks at all pairs of g with one of the fingerprints from position first on.
func (w *worker) compareAll(g group, first int) {
	for i := max(first, 1); i < len(g.keys); i++ {
		w.compareTo(g, g.keys[i], i, 0, i)
		if i&63 == 0 && w.j.stopped() {
			return
		}
	}
}

// compareTo compares x, at position i, with those from position lo to hi.
func (w *worker) compareTo(g group, x uint64, i, lo, hi int) {
	keys, k := g.keys[lo:hi], w.k
	for j, y := range keys {
		if d := bits.OnesCount64(x ^ y); d <= k {
			w.accept(x^y, g.ids[i], g.ids[lo+j], d)
		}
	}
}

// accept takes a pair within the distance unless another node is the one to report it.
func (w *worker) accept(x uint64, i, j uint32, distance int) {
	if x&w.agree != 0 {
		return
	}
	for _, mask := range w.differ {
		if x&mask == 0 {
			return
		}
	}
	i, j = i&^markBit, j&^markBit
	if i > j {
		i, j = j, i
	}
	w.found = append(w.found, pair{i, j, uint8(distance)})
	if len(w.found) == cap(w.found) {
		w.flush()
	}
}

// link puts the fingerprints of g into chains by block b. It returns the positions that have others before them in
// their chain.
func (c *chain) link(g group, b block) []uint16 {
	clear(c.head[:b.size()])
	n := uint16(0)
	for i, x := range g.keys {
		h := &c.head[b.bucket(x)&(1<<maxWidth-1)]
		prev := *h
		*h = uint16(i + 1)
		c.prev[uint16(i)] = prev
		c.late[n] = uint16(i) // kept if n is counted up
		if prev != 0 {
			n++
		}
	}
	return c.late[:n]
}

// candidates counts the pairs of positions that share a chain, up to limit.
func (c *chain) candidates(late []uint16, limit int) int {
	total := 0
	for _, i := range late {
		p := c.prev[i] - 1
		rank := uint16(1)
		if c.prev[p] != 0 {
			rank += c.rank[p]
		}
		c.rank[i] = rank
		if total += int(rank); total > limit {
			return total
		}
	}
	return total
}

// walk compares each of late, from position first on, with those before it in its chain.
func (w *worker) walk(g group, late []uint16, first int) {
	c, k := w.chain, w.k
	for n := len(late) - 1; n >= 0 && int(late[n]) >= first; n-- {
		i := late[n]
		x := g.keys[i]
		for p := c.prev[i]; p != 0; p = c.prev[p-1] {
			y := g.keys[p-1]
			if d := bits.OnesCount64(x ^ y); d <= k {
				w.accept(x^y, g.ids[i], g.ids[p-1], d)
			}
		}
	}
}
