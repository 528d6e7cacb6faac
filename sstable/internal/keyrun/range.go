package keyrun

import (
	"github.com/simdb/simdb/internal/kernel"
)

// prefetchMargin is how many keys the guess of a position may be off before a cache line is missed:
// about two standard deviations of the number of uniform keys in half a block.
const prefetchMargin = 16

// keysPerStep is, for a number of unary words, how many keys a step of the prefix passes in a full
// block, times 1<<16.
var keysPerStep = func() (all [256]int64) { // not int: on 32-bit platforms products overflow it
	for high := range all {
		all[high] = BlockLen << 16 / int64(max(64*high-BlockLen, 1))
	}
	return all
}()

// Range is the keys of Run in [First, Last]. Block and End are the numbers of blocks whose first
// key is less than First, and not greater than Last: see Run.Blocks.
type Range struct {
	First, Last uint64
	Run         *Run
	Block, End  uint32
}

// Start returns the block that the range starts in.
func (r *Range) Start() int { return max(int(r.Block), 1) - 1 }

// Prefetch prefetches the unary part of the block that the range starts in, up to the range's end,
// and the packed bits of a number of keys, from about where they start. These may reach into the
// next block, which follows.
func (r *Range) Prefetch(keys int) {
	run, b := r.Run, r.Start()
	if run.src.Pages != nil {
		r.fetch()
	}
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

// fetch has the blocks of the range that have not been touched yet read from storage. A range of
// many blocks is read by a scan, which skips some and reads ahead itself.
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
	if run.sums > 0 {
		in := run.Info(end - 1)
		_, to = run.partsExtent(end-1, in, 0, r.endIn(end-1, in))
	}
	run.fetchBytes(from, to)
}

// isSeen reports whether what the range has of block b has been found good before.
func (r *Range) isSeen(b int) bool {
	in, known := r.Run.InfoKnown(b)
	return known.Keys(r.firstIn(b, in), r.endIn(b, in))
}

// PrefetchNext prefetches what the range has of block b, which is not its first. It is called
// before the block before b is scanned: the hardware prefetcher is a microsecond late at fifty
// million keys, where every range has two or three blocks.
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

// firstIn returns about which key of block b is the first of the range, less a margin.
func (r *Range) firstIn(b int, in Info) int {
	if !r.startsIn(b) {
		return 0
	}
	steps := int64(shr(r.First, in.Width) - shr(r.Run.Base(b), in.Width))
	return min(max(int(steps*keysPerStep[in.High]>>16)-prefetchMargin, 0), BlockLen)
}

// endIn returns about which key of block b is the last of the range, and a margin.
func (r *Range) endIn(b int, in Info) int {
	if !r.endsIn(b) {
		return BlockLen
	}
	steps := min(shr(r.Last, in.Width)-shr(r.Run.Base(b), in.Width), 64*maxHighWords)
	return min(int(int64(steps)*keysPerStep[in.High]>>16)+prefetchMargin, BlockLen)
}

// startsIn and endsIn report whether the range starts, or ends, inside block b, which is one of its
// own.
func (r *Range) startsIn(b int) bool { return b < int(r.Block) }
func (r *Range) endsIn(b int) bool   { return b == int(r.End)-1 && r.Last < r.Run.last }

// Borders returns the prefixes [from, to) that the range has in block b, counted from the block's
// first. Where prefixes are shorter than the lead, its neighbours may share them.
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
