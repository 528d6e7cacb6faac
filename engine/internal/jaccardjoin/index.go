package jaccardjoin

import (
	"math"
	"math/bits"
	"sync"

	"github.com/simdb/simdb/minhash"
)

// block is a number of consecutive sketches and an index of those that were added to it. Every
// sketch has room in its buckets from the beginning, so adding one moves nothing, and a bucket's
// postings stay side by side.
type block struct {
	first    int              // sketch
	bitmaps  []minhash.Bitmap // of the entries; from there on each sketch has its own, at its place in the block
	prefixes []uint32         // one after the other
	ends     []int            // of the prefixes
	spans    []span           // of the buckets
	postings []uint64         // hash<<32 | entry
	shift    int              // leaves the bits of the bucket
	entries  []uint32         // sketches in the order they were added, counted from first; dead where one was taken out
}

// dead is an entry that was taken out again.
const dead = math.MaxUint32

// span is where the postings of a bucket are. The bucket ends for good where the next one starts.
type span struct{ start, end uint32 }

// prefix returns the prefix of sketch i of the block; it is empty for one that cannot become an
// entry.
func (b *block) prefix(i int) []uint32 {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.prefixes[from:b.ends[i]]
}

// end returns the number after that of the last sketch.
func (b *block) end() int { return b.first + len(b.ends) }

// bucket returns the bucket of a hash. Hashes of sketches are small, so the leading bits of a
// product tell them apart.
func (b *block) bucket(hash uint32) int {
	return int(uint64(hash) * 0x9e3779b97f4a7c15 >> (b.shift & 63)) // 2^64 divided by the golden ratio
}

// among returns those postings of a hash's bucket whose entries are in [from, to).
func (b *block) among(hash, from, to uint32) []uint64 {
	s := b.spans[b.bucket(hash)]
	bucket := b.postings[s.start:s.end]
	if n := len(bucket); n > 0 && uint32(bucket[n-1]) >= to {
		bucket = bucket[:before(bucket, to)]
	}
	if len(bucket) > 0 && uint32(bucket[0]) < from {
		bucket = bucket[before(bucket, from):]
	}
	return bucket
}

// before returns how many postings of a bucket are of entries less than the given one.
func before(bucket []uint64, entry uint32) int {
	lo, hi := 0, len(bucket)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); uint32(bucket[mid]) < entry {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// add makes sketch i of the block its next entry. Sketches are added in ascending order.
func (b *block) add(i int) {
	entry := uint32(len(b.entries))
	b.entries = append(b.entries, uint32(i))
	b.bitmaps[entry] = b.bitmaps[i] // entry <= i: nobody needs what was there
	for _, h := range b.prefix(i) {
		s := &b.spans[b.bucket(h)]
		b.postings[s.end] = uint64(h)<<32 | uint64(entry)
		s.end++
	}
}

// indexRun is how many sketches a worker prepares at a time.
const indexRun = 512

// piece is the part of a block that one run of sketches makes.
type piece struct {
	bitmaps  []minhash.Bitmap
	prefixes []uint32
	ends     []int // from the first prefix of the piece
}

// newBlock prepares a block of the sketches from first on, as many as it may have. It has no
// entries yet. Only sketches for which may is true, or all if it is nil, can become some.
func (j *join) newBlock(first int, may func(i int) bool) *block {
	b := &block{first: first}
	for first < j.s.Len && len(b.prefixes) < j.o.blockPostings && !j.stop.Load() {
		pieces := make([]piece, 4*j.o.Workers)
		var wg sync.WaitGroup
		for w := range j.o.Workers {
			wg.Go(func() {
				p := prefixer{order: j.order}
				for i := w; i < len(pieces) && !j.stop.Load(); i += j.o.Workers {
					from := first + i*indexRun
					pieces[i] = j.prepare(&p, from, min(from+indexRun, j.s.Len), may)
				}
			})
		}
		wg.Wait()
		for _, p := range pieces {
			if len(b.prefixes) >= j.o.blockPostings {
				break
			}
			before := len(b.prefixes)
			b.prefixes = append(b.prefixes, p.prefixes...)
			b.bitmaps = append(b.bitmaps, p.bitmaps...)
			for _, end := range p.ends {
				b.ends = append(b.ends, before+end)
			}
			first += len(p.ends)
		}
	}
	j.makeRoom(b)
	return b
}

// prepare makes prefixes and bitmaps of sketches [from, to).
func (j *join) prepare(p *prefixer, from, to int, may func(i int) bool) (out piece) {
	for i := from; i < to; i++ {
		var bitmap minhash.Bitmap
		if may == nil || may(i) {
			a := minhash.Sketch(j.s.At(i))
			out.prefixes = p.append(out.prefixes, a, j.t)
			bitmap = a.Bitmap()
		}
		out.ends = append(out.ends, len(out.prefixes))
		out.bitmaps = append(out.bitmaps, bitmap)
	}
	return out
}

// checkEvery is how many postings are handled between two looks at whether the join has been
// stopped.
const checkEvery = 1 << 20

// makeRoom gives every bucket room for the postings of all prefixes.
func (j *join) makeRoom(b *block) {
	width := max(bits.Len(uint(len(b.prefixes)))-2, 1)
	b.shift = 64 - width
	b.spans = make([]span, 1<<width)
	for n, h := range b.prefixes {
		if n%checkEvery == 0 && j.stop.Load() {
			return
		}
		b.spans[b.bucket(h)].end++
	}
	sum := uint32(0)
	for i := range b.spans {
		n := b.spans[i].end
		b.spans[i] = span{sum, sum}
		sum += n
	}
	b.postings = make([]uint64, len(b.prefixes))
	b.entries = make([]uint32, 0, len(b.ends))
}

// addAll makes entries of all sketches of the block.
func (j *join) addAll(b *block) {
	for i := range b.ends {
		if i%indexRun == 0 && j.stop.Load() {
			return
		}
		b.add(i)
	}
}
