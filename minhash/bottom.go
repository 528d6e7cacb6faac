package minhash

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// Bottom makes a [Sketch]: it selects the N smallest distinct values among the upper halves of a
// stream of 64-bit hashes. It must not be used concurrently. Reuse it: Reset starts the next
// sketch.
//
// Most hashes of a long stream are far too large to be among the smallest, so they are only
// compared with a limit that lets about 3N hashes pass. These are stored in a buffer. If it becomes
// full, it is reduced to its N smallest hashes, and the largest of these becomes the new limit. At
// the end a lower limit selects little more than N hashes from the buffer, one counting pass puts
// these into buckets by their leading bits, and an insertion sort does the rest.
type Bottom struct {
	n       int
	limit   uint64   // only smaller hashes pass; 1<<32 lets all pass
	guessed bool     // limit is a guess, which may have dropped some of the N smallest
	kept    int      // number of elements in buf
	buf     []uint32 // hashes below limit, in the order of the stream
	scratch []uint32
	sorted  []uint32 // the sketch
	hist    [buckets]uint32
	fine    [fineBuckets]uint8
}

const (
	buckets   = 256
	batch     = 1024 // hashes processed between checks of the buffer's capacity
	passRatio = 3    // number of hashes that should pass for each one wanted

	// Up to mostFine hashes are sorted with counters of one byte, so there can be many counters:
	// then most buckets have at most one hash, and the insertion sort has few branches that are
	// hard to predict.
	mostFine    = 255
	fineBuckets = 1024
)

// NewBottom returns a Bottom for sketches of n hashes. n must be positive.
func NewBottom(n int) *Bottom {
	size := 2*passRatio*n + 2*batch
	b := &Bottom{n: n, buf: make([]uint32, size), scratch: make([]uint32, size), sorted: make([]uint32, size)}
	b.Reset(0)
	return b
}

// Reset starts the next sketch. expected is about how many hashes will be added, or 0 if that is
// not known. It makes long streams faster, but if many hashes are equal or there are fewer, Sketch
// may need them a second time.
func (b *Bottom) Reset(expected int64) {
	b.kept = 0
	b.limit = 1 << 32
	b.guessed = false
	if pass := int64(passRatio * b.n); expected > pass {
		hi, lo := bits.Mul64(uint64(pass), 1<<32)
		b.limit, _ = bits.Div64(hi, lo, uint64(expected))
		b.guessed = true
	}
}

// Shingles adds the upper halves of hashes.
func (b *Bottom) Shingles(hashes []uint64) {
	for len(hashes) > 0 {
		if len(b.buf)-b.kept < batch {
			b.shrink()
		}
		n := min(len(hashes), batch)
		b.kept += kernel.Below(b.buf[b.kept:], hashes[:n], b.limit)
		hashes = hashes[n:]
	}
}

// shrink reduces the buffer to the smallest hashes.
func (b *Bottom) shrink() {
	s := b.smallest()
	b.kept = copy(b.buf, s)
	if len(s) == b.n {
		b.limit = uint64(s[b.n-1]) + 1 // equal hashes are useless, but pass
		b.guessed = false
	}
}

// Sketch returns the sketch of the hashes since Reset, which is valid until the next Reset. ok is
// false if the limit that Reset guessed was too low: then the same hashes must be added again after
// Reset(0).
func (b *Bottom) Sketch() (s Sketch, ok bool) {
	s = b.smallest()
	return s, len(s) == b.n || !b.guessed
}

// smallest returns the up to n smallest distinct elements of the buffer, ascending, in b.sorted.
func (b *Bottom) smallest() []uint32 {
	in := b.buf[:b.kept]
	// The elements below limit are uniformly distributed, so n and a few more are below this
	// fraction of limit.
	if most := b.n + 4*int(math.Sqrt(float64(b.n))) + 8; most < len(in) {
		near := b.limit * uint64(most) / uint64(len(in))
		low := b.scratch[:lowest(b.scratch, in, near)]
		if s := b.sort(low, near); len(s) == b.n {
			return s
		}
	}
	return b.sort(in, b.limit)
}

// lowest stores the elements of in that are below limit in dst, in order and without a branch on
// their values, and returns their number. dst must be at least as long as in.
func lowest(dst, in []uint32, limit uint64) (n int) {
	dst = dst[:len(in)]
	for _, v := range in {
		dst[n] = v
		n += int((uint64(v) - limit) >> 63) // 1 if v < limit
	}
	return n
}

// sort returns the up to n smallest distinct elements of in, ascending, in b.sorted. All must be
// below limit.
func (b *Bottom) sort(in []uint32, limit uint64) []uint32 {
	out := b.sorted[:len(in)]
	if len(in) <= mostFine {
		b.placeFine(out, in, limit)
	} else {
		b.place(out, in, limit)
	}
	if len(out) > 16*buckets {
		slices.Sort(out) // far too many for small buckets
	} else {
		sortRun(out)
	}
	s := slices.Compact(out)
	return s[:min(len(s), b.n)]
}

// place copies the elements of in to out, ordered by the buckets of their leading bits.
func (b *Bottom) place(out, in []uint32, limit uint64) {
	shift := max(0, bits.Len64(limit-1)-bits.Len(buckets-1)) & 31
	hist := &b.hist
	clear(hist[:])
	for _, v := range in {
		hist[v>>shift%buckets]++
	}
	at := uint32(0) // hist[i] becomes the position of the next element of bucket i
	for i, n := range hist {
		hist[i] = at
		at += n
	}
	for _, v := range in {
		p := &hist[v>>shift%buckets]
		out[*p] = v
		*p++
	}
}

// placeFine is place for at most mostFine elements, with more buckets. Eight counters are summed at
// a time: byte i of their product with ones is the sum of the bytes up to i, since no sum exceeds
// 255.
func (b *Bottom) placeFine(out, in []uint32, limit uint64) {
	const ones = 0x0101010101010101
	shift := max(0, bits.Len64(limit-1)-bits.Len(fineBuckets-1)) & 31
	fine := &b.fine
	clear(fine[:])
	for _, v := range in {
		fine[v>>shift%fineBuckets]++
	}
	before := uint64(0) // number of elements in earlier buckets
	for i := 0; i < fineBuckets; i += 8 {
		eight := fine[i : i+8 : i+8]
		sums := binary.LittleEndian.Uint64(eight) * ones
		binary.LittleEndian.PutUint64(eight, sums<<8+before*ones)
		before += sums >> 56
	}
	for _, v := range in {
		p := &fine[v>>shift%fineBuckets]
		out[*p] = v
		*p++
	}
}

// sortRun is an insertion sort, for elements that are close to their final positions.
func sortRun(a []uint32) {
	for i := 1; i < len(a); i++ {
		v, j := a[i], i
		for j > 0 && a[j-1] > v {
			a[j] = a[j-1]
			j--
		}
		a[j] = v
	}
}
