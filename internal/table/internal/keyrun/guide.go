package keyrun

import (
	"math/bits"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// The directory of a run is searched by interpolation. A single line through all keys would be off
// by the square root of their number: three blocks at ten million keys, more with skewed ones. So
// the run has a guide, made when it is opened, with the start of each of up to 65,536 equal parts
// of the key space, and the search interpolates within a part. The guess is then usually off by
// less than a block. The search looks at the few blocks in a window around it and counts those that
// come before the key, without a branch that could be mispredicted. Only if the window was off does
// a galloping search follow, in O(log blocks) for any keys.

const (
	maxGuideBits = 16
	// guideWindow is the size of the window in blocks; it starts guideBefore blocks before the
	// guess.
	guideWindow = 6
	guideBefore = 2
	// guidePart is about how many blocks a part of the guide has, until the number of parts reaches
	// its maximum.
	guidePart = 64
)

// fillGuide makes the guide. The keys have shift leading zeros, and first keys must ascend.
func (r *Run) fillGuide(shift uint) {
	g := guide{bits: min(bits.Len(uint(r.blocks/guidePart)), maxGuideBits), shift: shift}
	for b := range r.blocks {
		for uint64(len(g.parts)) <= shr(r.Base(b)<<g.shift, 64-g.bits) {
			g.parts = append(g.parts, uint32(b))
		}
	}
	for len(g.parts) <= 1<<g.bits {
		g.parts = append(g.parts, uint32(r.blocks))
	}
	r.guide = g
}

// window returns the start of the window for key.
func (r *Run) window(key uint64) int {
	g := &r.guide
	key <<= g.shift & 63
	part := g.parts[shr(key, 64-g.bits):][:2]
	blocks := uint64(part[1] - part[0])
	guess := int(part[0]) + int(key<<uint(g.bits)>>32*blocks>>32)
	return max(min(guess-guideBefore, r.blocks-guideWindow), 0)
}

// PrefetchWindow prefetches the window for key and returns its start.
func (r *Run) PrefetchWindow(key uint64) (window int) {
	if r.lazy != nil { // blocksFrom needs no window
		r.Want(key)
		return 0
	}
	window = r.window(key)
	kernel.PrefetchAt(unsafe.Pointer(&r.entries[window]), guideWindow*unsafe.Sizeof(blockEntry{}))
	return window
}

// Blocks returns the number of blocks whose first key is less than first, and the number of those
// whose first key is not greater than last. first must not exceed last.
func (r *Run) Blocks(first, last uint64) (block, end int) {
	return r.blocksFrom(r.window(first), first, last)
}

// blocksFrom is Blocks for callers that know the window for first.
func (r *Run) blocksFrom(start int, first, last uint64) (block, end int) {
	if r.lazy != nil {
		return r.pagedBlocks(first, last)
	}
	if start+guideWindow > r.blocks { // fewer blocks than a window
		for block < r.blocks && r.Base(block) < first {
			block++
		}
		for end = block; end < r.blocks && r.Base(end) <= last; end++ {
		}
		return block, end
	}
	w := (*[guideWindow]blockEntry)(r.entries[start:])
	_, l0 := bits.Sub64(w[0].base, first, 0) // 1 if w[0].base < first
	_, l1 := bits.Sub64(w[1].base, first, 0)
	_, l2 := bits.Sub64(w[2].base, first, 0)
	_, l3 := bits.Sub64(w[3].base, first, 0)
	_, l4 := bits.Sub64(w[4].base, first, 0)
	_, l5 := bits.Sub64(w[5].base, first, 0)
	_, g0 := bits.Sub64(last, w[0].base, 0) // 1 if w[0].base > last
	_, g1 := bits.Sub64(last, w[1].base, 0)
	_, g2 := bits.Sub64(last, w[2].base, 0)
	_, g3 := bits.Sub64(last, w[3].base, 0)
	_, g4 := bits.Sub64(last, w[4].base, 0)
	_, g5 := bits.Sub64(last, w[5].base, 0)
	block = int(l0 + l1 + l2 + l3 + l4 + l5)
	end = guideWindow - int(g0+g1+g2+g3+g4+g5)
	if block > 0 && end < guideWindow { // block <= end, so both are inside
		return start + block, start + end
	}
	// A count at a border of the window only says whether the result is before or after it, unless
	// the directory also ends there.
	if block == 0 && start > 0 || block == guideWindow && start+guideWindow < r.blocks {
		block = r.gallop(start, first)
	} else {
		block += start
	}
	switch {
	case end > 0 && end < guideWindow || end == 0 && start == 0 || end == guideWindow && start+guideWindow == r.blocks:
		end += start
	case last == ^uint64(0):
		end = r.blocks
	default:
		end = r.gallop(max(block-1, 0), last+1)
	}
	return block, end
}

// gallop returns the number of blocks whose first key is less than key. It starts at block b and
// doubles its steps.
func (r *Run) gallop(b int, key uint64) int {
	// Invariant: the first key of block lo-1, if it exists, is less than key; that of block hi, if
	// it exists, is not.
	lo, hi := 0, r.blocks
	if r.Base(b) < key {
		lo = b + 1
		for step := 1; lo+step < hi; step *= 2 {
			if r.Base(lo+step) >= key {
				hi = lo + step
				break
			}
			lo += step + 1
		}
	} else {
		hi = b
		for step := 1; hi-step > lo; step *= 2 {
			if r.Base(hi-step) < key {
				lo = hi - step + 1
				break
			}
			hi -= step
		}
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r.Base(mid) < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
