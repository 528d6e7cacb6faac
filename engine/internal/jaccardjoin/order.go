package jaccardjoin

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/minhash"
)

// order is an order of hashes, about the rarest first: by the number of sampled sketches that have
// the hash, or another one with the same counter, then by value. Shared counters make it less good,
// never wrong.
type order struct {
	counters []uint16
}

// sampled is how many sketches are counted, at most.
const sampled = 1 << 16

// newOrder counts a sample of the sketches, until it is told to stop.
func newOrder(s Sketches, stop *atomic.Bool) *order {
	stride := max((s.Len+sampled-1)/sampled, 1)
	width := bits.Len(uint(s.Len/stride)) + bits.Len(uint(s.Size))
	o := &order{counters: make([]uint16, 1<<min(max(width, 10), 23))}
	mask := uint32(len(o.counters) - 1)
	for i := 0; i < s.Len && !stop.Load(); i += stride {
		for _, h := range s.At(i) {
			if c := &o.counters[h&mask]; *c < math.MaxUint16 {
				*c++
			}
		}
	}
	return o
}

// prefixer makes prefixes; it is the scratch memory of one goroutine.
type prefixer struct {
	*order
	keys []uint64
}

// append appends to dst the first p(a) hashes of sketch a.
func (p *prefixer) append(dst []uint32, a minhash.Sketch, t float64) []uint32 {
	n := prefixLength(len(a), t)
	mask := uint32(len(p.counters) - 1)
	p.keys = p.keys[:0]
	for _, h := range a {
		p.keys = append(p.keys, uint64(p.counters[h&mask])<<32|uint64(h))
	}
	selectLeast(p.keys, n)
	slices.Sort(p.keys[:n])
	for _, k := range p.keys[:n] {
		dst = append(dst, uint32(k))
	}
	return dst
}

// selectLeast brings the n least keys to the front, in no order (quickselect: Hoare, "Algorithm 65:
// Find", CACM 1961). It is fast for keys that differ.
func selectLeast(keys []uint64, n int) {
	for len(keys) > smallSelect && n > 0 && n < len(keys) {
		last := len(keys) - 1
		a, b, c := keys[0], keys[last/2], keys[last]
		pivot := max(min(a, b), min(max(a, b), c)) // their median
		less := 0
		for i, k := range keys { // without a branch that depends on keys
			keys[i], keys[less] = keys[less], k
			_, below := bits.Sub64(k, pivot, 0)
			less += int(below)
		}
		switch {
		case less == 0: // equal keys
			slices.Sort(keys)
			return
		case n <= less:
			keys = keys[:less]
		default:
			keys, n = keys[less:], n-less
		}
	}
	if 0 < n && n < len(keys) {
		slices.Sort(keys)
	}
}

// smallSelect keys are sorted rather than partitioned.
const smallSelect = 24

// prefixLength returns p(a) for a sketch of size hashes.
func prefixLength(size int, t float64) int {
	if size == 0 {
		return 0
	}
	return min(minhash.MaxMissing(size, t)+1, size)
}
