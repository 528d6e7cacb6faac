package jaccardjoin

import (
	"math/bits"
	"sync"

	"github.com/simdb/simdb/minhash"
)

// block is a number of consecutive sketches with their index. Postings are in buckets by hash, a few to each, with
// the sketches of a bucket ascending.
type block struct {
	first    int // sketch
	bitmaps  []minhash.Bitmap
	prefixes []uint32 // one after the other
	ends     []int    // of the prefixes
	starts   []uint32 // of the buckets, and the end of the last
	postings []uint64 // hash<<32 | sketch, counted from first
	shift    int      // leaves the bits of the bucket
}

// prefix returns the prefix of sketch i of the block.
func (b *block) prefix(i int) []uint32 {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.prefixes[from:b.ends[i]]
}

// end returns the number after that of the last sketch.
func (b *block) end() int { return b.first + len(b.ends) }

// bucket returns the bucket of a hash. Hashes of sketches are small, so the leading bits of a product tell them apart.
func (b *block) bucket(hash uint32) int {
	return int(uint64(hash) * 0x9e3779b97f4a7c15 >> (b.shift & 63)) // 2^64 divided by the golden ratio
}

// indexRun is how many sketches a worker prepares at a time.
const indexRun = 512

// piece is the part of a block that one run of sketches makes.
type piece struct {
	bitmaps  []minhash.Bitmap
	prefixes []uint32
	ends     []int // from the first prefix of the piece
}

// newBlock indexes sketches from first on, as many as it may.
func (j *join) newBlock(first int) *block {
	b := &block{first: first}
	for first < j.s.Len && len(b.prefixes) < j.o.blockPostings {
		pieces := make([]piece, 4*j.o.Workers)
		var wg sync.WaitGroup
		for w := range j.o.Workers {
			wg.Go(func() {
				p := prefixer{order: j.order}
				for i := w; i < len(pieces); i += j.o.Workers {
					from := first + i*indexRun
					pieces[i] = j.prepare(&p, from, min(from+indexRun, j.s.Len))
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
	b.fill()
	return b
}

// prepare makes prefixes and bitmaps of sketches [from, to).
func (j *join) prepare(p *prefixer, from, to int) (out piece) {
	for i := from; i < to; i++ {
		a := minhash.Sketch(j.s.At(i))
		out.prefixes = p.append(out.prefixes, a, j.t)
		out.ends = append(out.ends, len(out.prefixes))
		out.bitmaps = append(out.bitmaps, a.Bitmap())
	}
	return out
}

// fill makes the postings from the prefixes, by one counting pass.
func (b *block) fill() {
	width := max(bits.Len(uint(len(b.prefixes)))-1, 1)
	b.shift = 64 - width
	b.starts = make([]uint32, 1<<width+1)
	for _, h := range b.prefixes {
		b.starts[b.bucket(h)+1]++
	}
	sum := uint32(0)
	for i, n := range b.starts {
		sum += n
		b.starts[i] = sum
	}
	// Each start moves to the end of its bucket while that fills, which is where the next one starts.
	b.postings = make([]uint64, len(b.prefixes))
	for i := range b.ends {
		for _, h := range b.prefix(i) {
			at := &b.starts[b.bucket(h)]
			b.postings[*at] = uint64(h)<<32 | uint64(i)
			*at++
		}
	}
	copy(b.starts[1:], b.starts)
	b.starts[0] = 0
}
