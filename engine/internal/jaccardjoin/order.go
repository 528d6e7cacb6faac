package jaccardjoin

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/internal/ordered"
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
	ordered.Least(p.keys, n)
	slices.Sort(p.keys[:n])
	for _, k := range p.keys[:n] {
		dst = append(dst, uint32(k))
	}
	return dst
}

// prefixLength returns p(a) for a sketch of size hashes.
func prefixLength(size int, t float64) int {
	if size == 0 {
		return 0
	}
	return min(minhash.MaxMissing(size, t)+1, size)
}
