package sstable

import "github.com/simdb/simdb/internal/kernel"

// A search waits for memory more than for anything else, so what its ranges need is asked for ahead. Where a range's keys lie in their
// block is known only once the block's unary part is there; to ask for about the right lines at once takes a few lines more, and is faster.

const (
	// prefetchAhead is how many probes the prefetch is ahead of the scan, at least, and prefetchAheadMost at most: as many as have
	// prefetchAheadKeys keys, which is enough to hide a cache miss, and few enough to stay in the first cache.
	prefetchAhead, prefetchAheadMost = 8, 32
	prefetchAheadKeys                = 1344
	// prefetchMargin is how many keys the guess of a position may be off before a cache line is missed: about two standard deviations
	// of the number of uniform keys in half a block.
	prefetchMargin = 16
	// prefetchKeys bounds the keys that are asked for by a guess.
	prefetchKeys = 2 * blockKeys
	// prefetchNames is how many hits have their names asked for: those of more would not stay in the first caches.
	prefetchNames = 64
)

// keysPerStep is, for a number of unary words, how many keys a step of the prefix passes in a full block, times 1<<16.
var keysPerStep = func() (all [256]int64) { // not int: on 32-bit platforms products overflow it
	for high := range all {
		all[high] = blockKeys << 16 / int64(max(64*high-blockKeys, 1))
	}
	return all
}()

// keyRange is the keys of a run in [first, last]. block and end are the numbers of blocks whose first key is less than first, and not greater
// than last.
type keyRange struct {
	first, last uint64
	run         *keyRun
	block, end  uint32
}

// start returns the block that the range starts in.
func (r *keyRange) start() int { return max(int(r.block), 1) - 1 }

// prefetch asks for the unary part of the block that the range starts in, as far as the range's end, and for the packed bits of so many
// keys, from about where they start; these may reach into the next block, which lies behind.
func (r *keyRange) prefetch(keys int) {
	run, b := r.run, r.start()
	in := run.info(b)
	keys += 2 * prefetchMargin
	from := 0
	if r.startsIn(b) {
		steps := int64(shr(r.first, in.width) - shr(run.base(b), in.width))
		from = min(max(int(steps*keysPerStep[in.high]>>16)-prefetchMargin, 0), blockKeys)
	}
	unary := min(uint((from+keys)*in.high)/(blockKeys/8)+8, uint(8*in.high))
	packed := in.off + 8*in.high
	at := min(packed+from*in.width>>3, run.dirOff)
	kernel.Prefetch2(run.data[in.off:in.off+int(unary)], run.data[at:min(at+keys*in.width>>3, run.dirOff)])
}

// prefetchNext asks for what a range has of block b, which is not its first, before the one before is scanned. The hardware, which follows
// a stream by itself, is a microsecond late at fifty million keys, where every range has two or three blocks.
func (r *keyRange) prefetchNext(b int) {
	run, in, keys := r.run, r.run.info(b), blockKeys
	if r.endsIn(b) {
		steps := min(shr(r.last, in.width)-shr(run.base(b), in.width), 64*maxHighWords)
		keys = min(int(int64(steps)*keysPerStep[in.high]>>16)+prefetchMargin, blockKeys)
	}
	kernel.Prefetch(run.data[in.off:min(in.off+8*in.high+keys*in.width>>3, run.dirOff)])
}
