package selfjoin

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
)

// pair is a pair that was found, i < j.
type pair struct {
	i, j     uint32
	distance uint16
}

const _ uint16 = base.MaxWords * base.FingerprintBits // pair.distance can count that many

// chunkPairs is how many pairs travel at once from a worker to the calling goroutine.
const chunkPairs = 4096

// worker works off nodes; every goroutine has its own.
type worker struct {
	k      int
	marked bool         // pairs need a marked side
	label  []uint32     // of the join
	stop   *atomic.Bool // of the join
	plan   *planner
	levels []*level // scratch space of the splits, by depth

	// The conditions on pairs of the current node, in addition to the distance.
	agree  uint64   // positions in which the pair must agree
	differ []uint64 // blocks in each of which it must differ

	copy   group   // scratch space of the splits; empty until it is used
	blocks []block // stack of the blocks of the nodes above
	chain  *chain  // nil until it is used

	hits  []uint32      // of the scan kernel
	found []pair        // not yet handed over
	out   chan []pair   // where it goes
	quit  chan struct{} // closed when nobody takes it any more
	free  chan []pair   // slices for found, to be used again
}

// chain is the scratch space of chained passes. Positions within a group have 15 bits; links are
// positions plus one, and zero ends a chain. The arrays have 2^16 elements so that no index of 16
// bits needs a bounds check.
type chain struct {
	head [1 << maxWidth]uint16 // last fingerprint of each bucket
	prev [1 << 16]uint16       // the one before it in its bucket
	late [1 << 16]uint16       // positions whose prev is not zero
	rank [1 << 16]uint16       // how many come before it in its bucket; meaningful for those in late
}

// scanLeast is the least number of comparisons with one fingerprint that are worth a call of the
// scan kernel.
const scanLeast = 64

// compareAll looks at all pairs of g with one of the fingerprints from position first on.
func (w *worker) compareAll(g group, first int) {
	for i := max(first, 1); i < len(g.keys); i++ {
		if i >= scanLeast {
			w.compareTo(g, g.keys[i], i, 0, i)
			if i&63 == 0 && w.stop.Load() {
				return
			}
			continue
		}
		x, k := g.keys[i], w.k
		for j, y := range g.keys[:i] {
			if base.Distance(x, y) <= k {
				w.accept(x^y, g.ids[i], g.ids[j])
			}
		}
	}
}

// compareTo compares x, at position i, with those from position lo to hi.
func (w *worker) compareTo(g group, x base.Fingerprint, i, lo, hi int) {
	keys := g.keys[lo:hi]
	w.hits = kernel.ScanFlat(w.hits[:0], keys, x, w.k)
	for _, j := range w.hits {
		w.accept(x^keys[j], g.ids[i], g.ids[lo+int(j)])
	}
}

// accept takes a pair within the distance, whose fingerprints differ in x, unless another node is
// the one to report it.
func (w *worker) accept(x uint64, i, j uint32) {
	if x&w.agree != 0 {
		return
	}
	for _, mask := range w.differ {
		if x&mask == 0 {
			return
		}
	}
	i, j = i&^markBit, j&^markBit
	if w.label != nil && w.label[i] == w.label[j] {
		return
	}
	if i > j {
		i, j = j, i
	}
	w.found = append(w.found, pair{i, j, uint16(bits.OnesCount64(x))})
	if len(w.found) == cap(w.found) {
		w.flush()
	}
}

// link puts the fingerprints of g into chains by block b. It returns the positions that have others
// before them in their chain.
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
	if len(late)*(len(late)+1)/2 <= limit {
		return 0
	}
	total := 0
	for _, i := range late {
		p := c.prev[i] - 1
		rank := uint16(1)
		if c.prev[p] != 0 {
			rank += c.rank[p]
		}
		c.rank[i] = rank
		if total += int(rank); total > limit {
			break
		}
	}
	return total
}

// walk compares each of late, from position first on, with those before it in its chain. All of
// them take one step at a time, because the length of a single chain can't be predicted by the
// processor.
func (w *worker) walk(g group, late []uint16, first int) {
	c, k := w.chain, w.k
	from, _ := slices.BinarySearch(late, uint16(first))
	late = late[from:]
	link := c.rank[:len(late)]
	for s, i := range late {
		link[s] = c.prev[i]
	}
	for n := len(late); n > 0; {
		left := 0
		for s, i := range late[:n] {
			p := link[s] - 1
			if x := g.keys[i] ^ g.keys[p]; bits.OnesCount64(x) <= k {
				w.accept(x, g.ids[i], g.ids[p])
			}
			late[left], link[left] = i, c.prev[p]
			if c.prev[p] != 0 {
				left++
			}
		}
		n = left
	}
}

// flush sends the pairs found so far to the calling goroutine, or drops them if that has gone.
func (w *worker) flush() {
	if len(w.found) == 0 {
		return
	}
	select {
	case w.out <- w.found:
	case <-w.quit:
	}
	select {
	case w.found = <-w.free:
	default:
		w.found = make([]pair, 0, chunkPairs)
	}
}
