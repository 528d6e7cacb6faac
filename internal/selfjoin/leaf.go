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

const _ uint16 = base.MaxWords * base.FingerprintBits // pair.distance must be able to hold this

// chunkPairs is the number of pairs in a chunk that a worker sends to the calling goroutine.
const chunkPairs = 4096

// worker processes nodes; every goroutine has its own.
type worker struct {
	k      int
	marked bool         // pairs need a marked side
	label  []uint32     // of the join
	stop   *atomic.Bool // of the join
	plan   *planner
	levels []*level // scratch space of the splits, by depth

	// The conditions on pairs of the current node, in addition to the distance.
	agree  uint64   // positions in which the pair must agree
	differ []uint64 // blocks; the pair must differ in each of them

	copy   group   // scratch space of the splits; empty until the first use
	blocks []block // stack of the blocks of the nodes above
	chain  *chain  // nil until the first use

	hits  []uint32      // for the scan kernel
	found []pair        // not sent yet
	out   chan []pair   // receives found
	quit  chan struct{} // closed when nobody receives any more
	free  chan []pair   // slices for found, to be reused
}

// chain is the scratch space of chained passes. Positions within a group have 15 bits; links are
// positions plus one, and zero ends a chain. The arrays have 2^16 elements so that indexing them
// with 16 bits needs no bounds check.
type chain struct {
	head [1 << maxWidth]uint16 // by bucket: its last fingerprint
	prev [1 << 16]uint16       // by position: the previous fingerprint of the same bucket
	late [1 << 16]uint16       // positions whose prev is not zero
	rank [1 << 16]uint16       // by position, for those in late: number of fingerprints before it in its bucket
}

// scanLeast is the least number of comparisons with one fingerprint that makes a call of the scan
// kernel worthwhile.
const scanLeast = 64

// compareAll checks all pairs of g that include a fingerprint from position first on.
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

// compareTo compares x, at position i, with the fingerprints at positions lo to hi-1.
func (w *worker) compareTo(g group, x base.Fingerprint, i, lo, hi int) {
	keys := g.keys[lo:hi]
	w.hits = kernel.ScanFlat(w.hits[:0], keys, x, w.k)
	for _, j := range w.hits {
		w.accept(x^keys[j], g.ids[i], g.ids[lo+int(j)])
	}
}

// accept adds a pair within the distance whose fingerprints differ in x, unless another node
// reports it.
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

// link builds the chains of g's fingerprints by block b. It returns the positions that have a
// predecessor in their chain.
func (c *chain) link(g group, b block) []uint16 {
	clear(c.head[:b.size()])
	n := uint16(0)
	for i, x := range g.keys {
		h := &c.head[b.bucket(x)&(1<<maxWidth-1)]
		prev := *h
		*h = uint16(i + 1)
		c.prev[uint16(i)] = prev
		c.late[n] = uint16(i) // overwritten unless n is incremented
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

// walk compares each fingerprint of late, from position first on, with its predecessors in its
// chain. All chains advance one step at a time, because the processor cannot predict the length
// of a single chain.
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

// flush sends the pairs found so far to the calling goroutine, or drops them if it receives no
// more.
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
