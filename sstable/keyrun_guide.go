package sstable

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// The directory of a run is searched by interpolation. One line through all keys would miss by the square root of their number: three
// blocks at ten million keys, more on skewed ones. So the run keeps where each of 256 equal parts of the key space starts, which is
// not stored but made on opening, and interpolates within a part. The guess is then off by less than a block, as a rule, and a look at
// the few blocks around it counts those that come before the key, without a branch to mispredict. Only where the window was off does a
// galloping search follow: O(log blocks) on any keys.

const (
	guideBits = 8
	// guideWindow is how many first keys are looked at, the first of them guideBefore before the guess.
	guideWindow = 6
	guideBefore = 2
)

// guide[i] is the number of blocks whose first key is below i<<56, so the last is the number of blocks.
type guide [1<<guideBits + 1]uint32

// fillGuide makes the guide; first keys ascend.
func (r *keyRun) fillGuide() {
	part := uint64(0) // the parts below this are filled
	for b := range r.blocks {
		for ; part <= r.base(b)>>(64-guideBits); part++ {
			r.guide[part] = uint32(b)
		}
	}
	for ; part < uint64(len(r.guide)); part++ {
		r.guide[part] = uint32(r.blocks)
	}
}

// window returns where the window for key starts.
func (r *keyRun) window(key uint64) int {
	part := key >> (64 - guideBits)
	from := int(r.guide[part])
	blocks := uint64(int(r.guide[part+1]) - from)
	guess := from + int(key<<guideBits>>32*blocks>>32)
	return max(min(guess-guideBefore, r.blocks-guideWindow), 0)
}

// touch prefetches what blockRange will look at, and the info words beside it, and returns the window.
func (r *keyRun) touch(key uint64) (window int) {
	window = r.window(key)
	if window+guideWindow <= r.blocks {
		kernel.Prefetch(r.bases[8*window : 8*window+8*guideWindow])
		kernel.Prefetch(r.infos[8*window+8 : 8*window+24])
	}
	return window
}

// blockRange returns the numbers of blocks whose first key is less than first, and not greater than last; first <= last.
func (r *keyRun) blockRange(first, last uint64) (block, end int) {
	return r.blockRangeFrom(r.window(first), first, last)
}

// blockRangeFrom is blockRange for callers that know the window for first.
func (r *keyRun) blockRangeFrom(start int, first, last uint64) (block, end int) {
	if start+guideWindow > r.blocks { // fewer blocks than the window has
		for block < r.blocks && r.base(block) < first {
			block++
		}
		for end = block; end < r.blocks && r.base(end) <= last; end++ {
		}
		return block, end
	}
	window := r.bases[8*start : 8*start+8*guideWindow]
	for i := 0; i < 8*guideWindow; i += 8 {
		base := binary.LittleEndian.Uint64(window[i:])
		_, less := bits.Sub64(base, first, 0)
		_, more := bits.Sub64(last, base, 0)
		block += int(less)
		end += 1 - int(more)
	}
	// At a border of the window the count says only on which side of it the place is, unless the directory ends there too.
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

// gallop returns the number of blocks whose first key is less than key. It starts at block b and doubles its steps.
func (r *keyRun) gallop(b int, key uint64) int {
	// Invariant: block lo-1, if there is one, starts below key; block hi, if there is one, does not.
	lo, hi := 0, r.blocks
	if r.base(b) < key {
		lo = b + 1
		for step := 1; lo+step < hi; step *= 2 {
			if r.base(lo+step) >= key {
				hi = lo + step
				break
			}
			lo += step + 1
		}
	} else {
		hi = b
		for step := 1; hi-step > lo; step *= 2 {
			if r.base(hi-step) < key {
				lo = hi - step + 1
				break
			}
			hi -= step
		}
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r.base(mid) < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
