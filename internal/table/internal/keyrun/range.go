package keyrun

import (
	"github.com/simdb/simdb/internal/kernel"
)

// prefetchMargin is how many keys the guess of a position may be off without missing a cache line:
// about two standard deviations of the number of uniform keys in half a block.
const prefetchMargin = 16

// keysPerStep is, indexed by the number of unary words, the average number of keys per step of the
// prefix in a full block, times 1<<16.
var keysPerStep = func() (all [256]int64) { // int would overflow on 32-bit platforms
	for high := range all {
		all[high] = BlockLen << 16 / int64(max(64*high-BlockLen, 1))
	}
	return all
}()

// Range is the keys of Run in [First, Last]. Block is the number of blocks whose first key is less
// than First, End the number of those whose first key is not greater than Last: see Run.Blocks.
type Range struct {
	First, Last uint64
	Run         *Run
	Block, End  uint32
}

// Start returns the first block of the range.
func (r *Range) Start() int { return max(int(r.Block), 1) - 1 }

// Prefetch prefetches the unary part of the first block of the range, up to the end of the range,
// and the packed bits of a number of keys, from about the start of the range. These may reach into
// the next block, which follows.
func (r *Range) Prefetch(keys int) {
	run, b := r.Run, r.Start()
	r.Fetch()
	in, known := run.InfoKnown(b)
	from := r.firstIn(b, in)
	if !known.All() {
		if end := r.endIn(b, in); !known.Keys(from, end) {
			run.prefetchUnchecked(b, in, from, end)
			return
		}
	}
	keys += 2 * prefetchMargin
	unary := min(uint((from+keys)*in.High)/(BlockLen/8)+8, uint(8*in.High))
	packed := in.Off + 8*in.High
	at := min(packed+from*in.Width>>3, run.size)
	kernel.Prefetch2(run.data[in.Off:in.Off+int(unary)], run.data[at:min(at+keys*in.Width>>3, run.size)])
}

// Fetch starts reading the blocks of the range that have not been verified from storage. It leaves
// ranges of many blocks to the scan, which skips some blocks and reads ahead itself.
func (r *Range) Fetch() {
	if r.Run.src.Pages != nil {
		r.fetch()
	}
}

func (r *Range) fetch() {
	run, b, end := r.Run, r.Start(), int(r.End)
	for b < end && r.isSeen(b) {
		b++
	}
	for b < end && r.isSeen(end-1) {
		end--
	}
	if b >= end || end-b > aheadBlocks {
		return
	}
	from, _ := run.extent(b)
	_, to := run.extent(end - 1)
	if run.sums > 0 && !run.src.Pages.IsRemote() { // then checkSum needs whole blocks
		in := run.Info(end - 1)
		_, to = run.partsExtent(end-1, in, 0, r.endIn(end-1, in))
	}
	run.fetchBytes(from, to)
}

// isSeen reports whether the keys of the range in block b have been verified.
func (r *Range) isSeen(b int) bool {
	in, known := r.Run.InfoKnown(b)
	return known.Keys(r.firstIn(b, in), r.endIn(b, in))
}

// PrefetchNext prefetches the part of the range in block b, which is not its first block. It is
// called before the previous block is scanned: the hardware prefetcher is a microsecond late at
// fifty million keys, where every range has two or three blocks.
func (r *Range) PrefetchNext(b int) {
	run := r.Run
	in, known := run.InfoKnown(b)
	keys := r.endIn(b, in)
	if !known.Keys(0, keys) {
		run.prefetchUnchecked(b, in, 0, keys)
		return
	}
	kernel.Prefetch(run.data[in.Off:min(in.Off+8*in.High+keys*in.Width>>3, run.size)])
}

// firstIn returns roughly which key of block b is the first of the range, minus a margin.
func (r *Range) firstIn(b int, in Info) int {
	if !r.startsIn(b) {
		return 0
	}
	steps := int64(shr(r.First, in.Width) - shr(r.Run.Base(b), in.Width))
	return min(max(int(steps*keysPerStep[in.High]>>16)-prefetchMargin, 0), BlockLen)
}

// endIn returns roughly which key of block b is the last of the range, plus a margin.
func (r *Range) endIn(b int, in Info) int {
	if !r.endsIn(b) {
		return BlockLen
	}
	steps := min(shr(r.Last, in.Width)-shr(r.Run.Base(b), in.Width), 64*maxHighWords)
	return min(int(int64(steps)*keysPerStep[in.High]>>16)+prefetchMargin, BlockLen)
}

// startsIn and endsIn report whether the range starts, or ends, inside block b, one of its blocks.
func (r *Range) startsIn(b int) bool { return b < int(r.Block) }
func (r *Range) endsIn(b int) bool   { return b == int(r.End)-1 && r.Last < r.Run.last }

// Borders returns the prefixes [from, to) of the range in block b, relative to the prefix of the
// block's first key. If prefixes are shorter than the lead, neighbouring leads may share them.
func (r *Range) Borders(b int, in Info) (from, to uint64) {
	base := shr(r.Run.Base(b), in.Width)
	to = ^uint64(0)
	if r.startsIn(b) {
		from = shr(r.First, in.Width) - base
	}
	if r.endsIn(b) {
		to = shr(r.Last, in.Width) - base + 1
	}
	return from, to
}
