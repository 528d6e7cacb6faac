package setjoin

import (
	"math"
	"math/bits"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/vfs"
)

// counts estimates how many sets contain an element. It never understates this, as elements share
// counters, which only makes the order of elements less effective. The order must be the same for
// all sets, and an element that counts as unique must not be in two sets.
type counts struct {
	few   []uint64 // counters of 2 bits: 0, 1, 2 or more; nil once all sets are counted
	many  []uint32 // further occurrences of elements whose counter in few is full; nil once all sets are counted
	lines []line   // after that
	bits  uint     // the number of lines is 1<<bits
	skip  int      // trailing bits of elements that are not part of the hash

	later [][]uint64     // chunks that are not scattered yet
	parts *parts         // buffers for scattering; nil before the first chunk, and for few counters
	batch sync.WaitGroup // waits for the goroutine that scatters
}

// A line has what is known about some elements once all sets are counted. It is a line of the
// cache, so that an element costs one read from memory.
type line struct {
	two   [lineWords]uint64 // a bit for each counter in few: 2 or more
	ranks [lineRanks]uint8  // the logarithm of each counter in many
}

const (
	lineWords = 7
	lineRanks = 8
	fewWords  = 2 * lineWords // words of few for each line
	lineBits  = 9             // bits of an element that select a counter in its line
	fewBytes  = 8 * fewWords
	lineShift = 6 // a line has 1<<lineShift bytes
)

// newCounts returns counters that use about that many bytes.
func newCounts(bytes int64) *counts {
	n := linesFor(bytes)
	c := &counts{few: make([]uint64, n*fewWords), many: make([]uint32, n*lineRanks), bits: uint(bits.TrailingZeros64(uint64(n)))}
	vfs.HugePages(c.few)
	vfs.HugePages(c.many)
	return c
}

// linesFor returns the number of lines for counters of that many bytes.
func linesFor(bytes int64) int64 { return powerBelow(max(bytes/fewBytes, leastLines)) }

// CounterBytes returns how many bytes counters and their buffers use, given SetsOptions.Counters.
func CounterBytes(bytes int64) int64 {
	n, each := linesFor(bytes), int64(fewBytes+4*lineRanks)
	if n >= leastParts*partLines {
		each += 4 * perLine
	}
	return n * each
}

const leastLines = 1 << 5

// places returns the places of an element's counters: a bit of a line, and an index of its ranks.
func (c *counts) places(h uint64) (line, bit, rank uint64) {
	h >>= c.skip & 63
	return h >> lineBits & (1<<(c.bits&63) - 1), h & (1<<lineBits - 1) * lineWords * 64 >> lineBits, h >> ((lineBits + c.bits) & 63) & (lineRanks - 1)
}

// powerBelow returns the largest power of 2 up to n.
func powerBelow(n int64) int64 {
	p := int64(1)
	for 2*p <= n {
		p *= 2
	}
	return p
}

// countTogether is the number of elements that are counted between two passes over the ranks of
// those whose counters are full: no branch depends on a counter, so the reads from memory overlap.
const countTogether = 32

// parts buffers elements, grouped by the part of the counters that they belong to, so that
// loading a part into the cache serves many elements. They are buffered as places without the bits
// that select the part (addPlaces), which fit into 32 bits.
type parts struct {
	low     uint     // bits of an element, without skip, below those that select its part
	bits    uint     // bits in the number of a part
	waiting []uint32 // divided equally between the parts; next counts the used slots of each
	next    [mostParts]uint32
}

// Counters are divided into parts of partLines, whose few fit into a cache, or into mostParts
// larger ones. With fewer parts than leastParts, elements are counted directly.
const (
	partLines  = 1 << 10
	leastParts = 1 << 4
	mostParts  = 1 << 9
)

// Elements are scattered in the background, laterChunks chunks at a time. The buffers hold
// perLine elements for each line, so that eight elements share the reads and writes of 144 bytes:
// with half as many, counting needs 1.4 times the processor time.
const (
	laterChunks = 1 << 5
	perLine     = 8
)

func (c *counts) newParts() *parts {
	n := min(1<<c.bits/partLines, mostParts)
	p := &parts{bits: uint(bits.TrailingZeros(uint(n))), waiting: make([]uint32, perLine<<c.bits)}
	p.low = lineBits + c.bits - p.bits
	vfs.HugePages(p.waiting)
	return p
}

// addLater counts elements now or later; the caller must not change them any more. Large batches
// are counted in the background, part by part of the counters.
func (c *counts) addLater(elements []uint64) {
	if c.direct() {
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

// direct reports whether elements are counted directly.
func (c *counts) direct() bool { return 1<<c.bits < leastParts*partLines }

// scatter distributes elements to the buffers of their parts. When the buffer of a part is full,
// its elements are counted.
func (c *counts) scatter(all [][]uint64) {
	p := c.parts
	most := len(p.waiting) >> (p.bits & 63)
	low, high := p.low&63, (p.low+p.bits)&63
	for _, elements := range all {
		for _, h := range elements {
			h >>= c.skip & 63
			part := int(h >> low & (1<<(p.bits&63) - 1) & (mostParts - 1))
			n := int(p.next[part])
			p.waiting[part*most+n] = uint32(h&(1<<low-1) | h>>high&(lineRanks-1)<<low)
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
	if size := len(c.few) >> p.bits; len(waiting) > size/16 {
		kernel.Prefetch(bytesOf(c.few[part*size:][:size]))
		size = len(c.many) >> p.bits
		kernel.Prefetch(bytesOf(c.many[part*size:][:size]))
	}
	addPlaces(c, uint64(part)<<(p.low-lineBits), p.low, waiting)
}

// add counts elements at once.
func (c *counts) add(set []uint64) {
	var places [countTogether]uint64
	for len(set) > 0 {
		some := set[:min(countTogether, len(set))]
		set = set[len(some):]
		for i, h := range some {
			places[i%countTogether] = h >> (c.skip & 63)
		}
		addPlaces(c, 0, lineBits+c.bits, places[:len(some)])
	}
}

// addPlaces counts elements. A place has low bits for the line, from a given one on, and the
// counter in it, and above them those of the rank.
func addPlaces[T uint32 | uint64](c *counts, from uint64, low uint, places []T) {
	var often [countTogether]uint64
	for len(places) > 0 {
		some := places[:min(countTogether, len(places))]
		places = places[len(some):]
		n := 0
		for _, place := range some {
			h := uint64(place)
			line := from + h&(1<<(low&63)-1)>>lineBits
			bit := h & (1<<lineBits - 1) * lineWords * 64 >> lineBits
			w, shift := &c.few[line*fewWords+bit>>5], bit&31*2
			full := *w >> (shift + 1) & 1
			*w += (full ^ 1) << shift
			often[n%countTogether] = line*lineRanks + h>>(low&63)&(lineRanks-1)
			n += int(full)
		}
		for _, rank := range often[:n] {
			if m := &c.many[rank]; *m < math.MaxUint32 {
				*m++
			}
		}
	}
}

// end ends the counting and compresses the counters: from now on only full counters of few and
// the logarithms of many matter. This halves the memory, or more, and fits better into the
// caches.
func (c *counts) end() {
	if c.lines != nil {
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
	if !c.direct() {
		debug.FreeOSMemory() // frees counting buffers before more memory is allocated
	}
	c.lines = make([]line, 1<<c.bits)
	vfs.HugePages(c.lines)
	for n := range c.lines {
		l, few, many := &c.lines[n], c.few[n*fewWords:], c.many[n*lineRanks:]
		for i := range l.two {
			l.two[i] = fullOf(few[2*i]) | fullOf(few[2*i+1])<<32
		}
		for i := range l.ranks {
			l.ranks[i] = logarithm(many[i])
		}
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
const lookTogether = 32

// firstPrefetched is the number of elements of a set whose lines are prefetched before it is looked up.
const firstPrefetched = 64

// prefetch prefetches the lines of elements.
func (c *counts) prefetch(set []uint64) {
	var lines [lookTogether]uint32
	for len(set) > 0 {
		some := set[:min(lookTogether, len(set))]
		set = set[len(some):]
		for i, h := range some {
			line, _, _ := c.places(h)
			lines[i%lookTogether] = uint32(line)
		}
		kernel.PrefetchEach(unsafe.Pointer(&c.lines[0]), unsafe.Pointer(&lines[0]), len(some), 4, 0, lineShift)
	}
}

// appendShared appends the elements of a set that may also be in other sets. It stops and returns
// false once it has found alone elements that are in no other set. It must be called after end.
func (c *counts) appendShared(dst, set []uint64, alone int) (_ []uint64, ok bool) {
	dst = slices.Grow(dst, len(set))
	n := len(dst)
	dst = dst[:n+len(set)]
	most := n - alone
	var two [lookTogether]uint64
	c.prefetch(set[min(firstPrefetched, len(set)):min(firstPrefetched+lookTogether, len(set))])
	for len(set) > 0 {
		some := set[:min(lookTogether, len(set))]
		set = set[len(some):]
		c.prefetch(set[min(firstPrefetched, len(set)):min(firstPrefetched+lookTogether, len(set))])
		for i, h := range some { // these reads overlap: nothing depends on them
			line, bit, _ := c.places(h)
			two[i%lookTogether] = c.lines[line].two[bit>>6] >> (bit & 63)
		}
		for i, h := range some { // without a branch that depends on h
			dst[n] = h
			n += int(two[i%lookTogether] & 1)
		}
		if most += len(some); n <= most {
			return dst[:n], false
		}
	}
	return dst[:n], true
}

// shared reports whether an element may be in more than one set.
func (c *counts) shared(h uint64) bool {
	line, bit, _ := c.places(h)
	return c.lines[line].two[bit>>6]>>(bit&63)&1 > 0
}

// rankOf returns the rank of an element, which grows with the number of sets that contain it.
func (c *counts) rankOf(h uint64) uint64 {
	line, _, rank := c.places(h)
	return uint64(c.lines[line].ranks[rank])
}

// rank replaces elements by their keys.
func (c *counts) rank(set []uint64) {
	for i, h := range set {
		set[i] = c.rankOf(h)<<hashBits | h>>(64-hashBits)
	}
}

// tagOf returns the bits of a key that identify an element in the index.
func tagOf(key uint64) uint32 { return uint32(key >> (hashBits - 32)) }
