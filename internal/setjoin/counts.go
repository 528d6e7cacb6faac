package setjoin

import (
	"math"
	"math/bits"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/vfs"
)

// counts estimates how many sets contain an element. It never understates this, as elements share
// counters, which only makes the order of elements less effective. The order must be the same for
// all sets, and an element that counts as unique must not be in two sets.
type counts struct {
	few   []uint64 // counters of 2 bits: 0, 1, 2 or more; nil once all sets are counted
	many  []uint32 // further occurrences of elements whose counter in few is full; nil once all sets are counted
	two   []uint64 // after that: a bit for each counter in few: 2 or more
	ranks []uint8  // after that: the logarithm of each counter in many
	skip  int      // trailing bits of elements that are not part of the hash
	// ahead has no meaning: it stops the compiler from removing reads that load counters into the
	// cache.
	ahead uint64

	later [][]uint64     // chunks that are not scattered yet
	parts *parts         // buffers for scattering; nil before the first chunk, and for few counters
	batch sync.WaitGroup // waits for the goroutine that scatters
}

// newCounts returns counters that use about that many bytes.
func newCounts(bytes int64) *counts {
	few := powerBelow(max(bytes, leastCounts))
	c := &counts{few: make([]uint64, few/8), many: make([]uint32, max(few/8, leastCounts)/4)}
	vfs.HugePages(c.few)
	vfs.HugePages(c.many)
	return c
}

// CounterBytes returns how many bytes counters use, given SetsOptions.Counters.
func CounterBytes(bytes int64) int64 {
	few := powerBelow(max(bytes, leastCounts))
	return few + max(few/8, leastCounts)
}

// leastCounts is the least number of bytes of counters.
const leastCounts = 1 << 12

// powerBelow returns the largest power of 2 up to n.
func powerBelow(n int64) int64 {
	p := int64(1)
	for 2*p <= n {
		p *= 2
	}
	return p
}

// countTogether is the number of elements that are counted in one batch: as no branch depends on
// the counters, their reads from memory overlap.
const countTogether = 32

// parts buffers elements, grouped by the part of the counters that they belong to, so that
// loading a part into the cache serves many elements. Buffered elements omit the bits that select
// the part; the other bits that add uses fit into 32 bits.
type parts struct {
	low     uint     // bits of an element, without skip, below those that select its part
	bits    uint     // bits in the number of a part
	waiting []uint32 // divided equally between the parts; next counts the used slots of each
	next    [mostParts]uint32
	again   [countTogether]uint64
}

// Counters are divided into parts of partBytes, which fit into a cache, or into mostParts larger
// ones. With fewer parts than leastParts, elements are counted directly.
const (
	partBytes  = 1 << 18
	leastParts = 1 << 5
	mostParts  = 1 << 9
)

// Elements are scattered in the background, laterChunks chunks at a time. The buffers hold
// perLine elements for each cache line of the counters, which amortizes reading and writing back
// the counters.
const (
	laterChunks = 1 << 5
	perLine     = 2
)

func (c *counts) newParts() *parts {
	n := min(len(c.few)*8/partBytes, mostParts)
	p := &parts{bits: uint(bits.TrailingZeros(uint(n))), waiting: make([]uint32, len(c.few)/8*perLine)}
	p.low = 5 + uint(bits.TrailingZeros(uint(len(c.few)/n)))
	vfs.HugePages(p.waiting)
	return p
}

// addLater counts elements now or later; the caller must not change them any more. Large batches
// are counted in the background, part by part of the counters.
func (c *counts) addLater(elements []uint64) {
	if len(c.few)*8 < leastParts*partBytes {
		c.add(elements)
		return
	}
	if c.parts == nil {
		c.parts = c.newParts()
	}
	if c.later = append(c.later, elements); len(c.later) < laterChunks {
		return
	}
	c.batch.Wait()
	all := c.later
	c.later = nil
	c.batch.Go(func() { c.scatter(all) })
}

// scatter distributes elements to the buffers of their parts. When the buffer of a part is full,
// its elements are counted.
func (c *counts) scatter(all [][]uint64) {
	p := c.parts
	most := len(p.waiting) >> (p.bits & 63)
	for _, elements := range all {
		for _, h := range elements {
			h >>= c.skip & 63
			part := int(h >> (p.low & 63) & (1<<(p.bits&63) - 1) & (mostParts - 1))
			n := int(p.next[part])
			p.waiting[part*most+n] = uint32(h>>((p.low+p.bits)&63)<<(p.low&63) | h&(1<<(p.low&63)-1))
			if p.next[part]++; n+1 == most {
				c.addPart(part)
			}
		}
	}
}

// addPart counts the buffered elements of a part.
func (c *counts) addPart(part int) {
	p := c.parts
	most := len(p.waiting) >> p.bits
	waiting := p.waiting[part*most:][:p.next[part]]
	p.next[part] = 0
	if lines := len(c.few) / 8 >> p.bits; len(waiting) > lines/2 {
		for i := range lines {
			c.ahead += c.few[(part*lines+i)*8]
		}
	}
	for len(waiting) > 0 {
		n := min(len(waiting), len(p.again))
		for i, h := range waiting[:n] {
			p.again[i] = (uint64(h)>>(p.low&63)<<(p.bits&63)|uint64(part))<<(p.low&63) | uint64(h)&(1<<(p.low&63)-1)
			p.again[i] <<= c.skip & 63
		}
		c.add(p.again[:n])
		waiting = waiting[n:]
	}
}

func (c *counts) add(set []uint64) {
	words, slots := uint64(len(c.few)-1), uint64(len(c.many)-1)
	var often [countTogether]uint64
	for len(set) > 0 {
		some := set[:min(countTogether, len(set))]
		set = set[len(some):]
		for _, h := range some {
			c.ahead += c.few[h>>(c.skip&63)>>5&words]
		}
		n := 0
		for _, h := range some {
			h >>= c.skip & 63
			w, shift := &c.few[h>>5&words], h&31*2
			full := *w >> (shift + 1) & 1
			*w += (full ^ 1) << shift
			often[n%countTogether] = h
			n += int(full)
		}
		for _, h := range often[:n] {
			if m := &c.many[h>>9&slots]; *m < math.MaxUint32 {
				*m++
			}
		}
	}
}

// end ends the counting and compresses the counters: from now on only full counters of few and
// the logarithms of many matter. This halves the memory, or more, and fits better into the
// caches.
func (c *counts) end() {
	if c.two != nil {
		return
	}
	c.batch.Wait()
	if c.parts != nil {
		c.scatter(c.later)
		for part := range 1 << c.parts.bits {
			c.addPart(part)
		}
	}
	c.later, c.parts = nil, nil
	if len(c.few)*8 >= leastParts*partBytes {
		debug.FreeOSMemory() // frees counting buffers before more memory is allocated
	}
	c.two = make([]uint64, len(c.few)/2)
	vfs.HugePages(c.two)
	for i := range c.two {
		c.two[i] = fullOf(c.few[2*i]) | fullOf(c.few[2*i+1])<<32
	}
	c.ranks = make([]uint8, len(c.many))
	vfs.HugePages(c.ranks)
	for i, n := range c.many {
		c.ranks[i] = logarithm(n)
	}
	c.few, c.many = nil, nil
}

// logarithm returns a monotonic function of n: n itself below 16, else the exponent and the
// leading 4 bits.
func logarithm(n uint32) uint8 {
	e := max(bits.Len32(n), 4) - 4
	return uint8(e<<3 + int(n>>e))
}

// fullOf returns the upper bits of a word's counters, packed together.
func fullOf(w uint64) uint64 {
	w = w >> 1 & 0x5555555555555555
	w = (w | w>>1) & 0x3333333333333333
	w = (w | w>>2) & 0x0f0f0f0f0f0f0f0f
	w = (w | w>>4) & 0x00ff00ff00ff00ff
	w = (w | w>>8) & 0x0000ffff0000ffff
	return (w | w>>16) & 0xffffffff
}

// Sets are ordered by keys: the rank of an element, then the leading 40 bits of its hash.
// Different elements may have one key. Sets of keys are then multisets; all statements about
// prefixes hold for them, too, and they share at least as many keys as elements.
const hashBits = 40

// lookTogether is the number of elements that are looked up between two checks of the limit.
const lookTogether = 16

// appendShared appends the elements of a set that may also be in other sets. It stops and returns
// false once it has found alone elements that are in no other set. It must be called after end.
func (c *counts) appendShared(dst, set []uint64, alone int) (_ []uint64, ok bool) {
	words := uint64(len(c.two) - 1)
	dst = slices.Grow(dst, len(set))
	n := len(dst)
	dst = dst[:n+len(set)]
	most := n - alone
	for len(set) > 0 {
		some := set[:min(lookTogether, len(set))]
		set = set[len(some):]
		for _, h := range some { // without a branch that depends on h
			dst[n] = h
			h >>= c.skip & 63
			n += int(c.two[h>>6&words] >> (h & 63) & 1)
		}
		if most += len(some); n <= most {
			return dst[:n], false
		}
	}
	return dst[:n], true
}

// shared reports whether an element may be in more than one set.
func (c *counts) shared(h uint64) bool {
	h >>= c.skip & 63
	return c.two[h>>6&uint64(len(c.two)-1)]>>(h&63)&1 > 0
}

// rankOf returns the rank of an element, which grows with the number of sets that contain it.
func (c *counts) rankOf(h uint64) uint64 {
	return uint64(c.ranks[h>>(c.skip&63)>>9&uint64(len(c.ranks)-1)])
}

// rank replaces elements by their keys.
func (c *counts) rank(set []uint64) {
	slots := uint64(len(c.ranks) - 1)
	for i, h := range set {
		set[i] = uint64(c.ranks[h>>(c.skip&63)>>9&slots])<<hashBits | h>>(64-hashBits)
	}
}

// tagOf returns the bits of a key that identify an element in the index.
func tagOf(key uint64) uint32 { return uint32(key >> (hashBits - 32)) }
