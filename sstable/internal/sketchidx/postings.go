package sketchidx

import (
	"io"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// Postings say which sketches have a hash. If two sketches with scores of t or more are cut to
// prefixes
//
//	p(a) = a - ceil(t a) + 1        of a sketch of a hashes, in any order that all sketches share
//
// the prefixes have a hash in common (prefix filtering: Chaudhuri, Ganti, Kaushik, ICDE 2006;
// Bayardo, Ma, Srikant, WWW 2007). For such sketches share at least ceil(t a) hashes
// (minhash.MaxMissing), and as many as ceil(t b): outside of a prefix there are fewer, so one
// common hash at least is in the prefix of A; the first common hash, in the order, is in the
// prefixes of both. The bound is tight for full sketches.
//
// A table indexes prefixes for t = Params.MinJaccard, in its order of hashes (hot.Order), which
// serves every t from there on. To bound what a writer keeps in memory, documents are cut into
// segments of consecutive numbers, 2^19 of them by default. A segment's postings are a key run in
// KindPostings, of
//
//	 63      32+w          w                 0        w = bits.Len(documents of the segment - 1)
//	+-------+------------+-------------------+
//	| zeros |  hash   32 | document number w |
//	+-------+------------+-------------------+
//	numbers count from the first document of the segment
const defaultSegmentDocs = 1 << 19

// prefixLength returns the length of the prefix of a sketch of size hashes that any other sketch
// whose score with it is t or more has a hash of, in its own prefix.
func prefixLength(size int, t float64) int {
	if size == 0 {
		return 0
	}
	return min(minhash.MaxMissing(size, t)+1, size)
}

// LeastSegment returns how many documents a segment of a Writer has at least, except for the last
// one.
func LeastSegment(p Params) int64 {
	most := prefixLength(int(p.Size), p.MinJaccard) // postings of a document
	return int64(min(defaultSegmentDocs, maxPostings/max(most, 1)))
}

// postingsWriter collects the postings of a segment: 4 bytes each, and 4 bytes a document.
type postingsWriter struct {
	hashes []uint32 // prefixes of the documents, one after the other
	ends   []uint32 // of the prefixes
}

// maxPostings is how many postings a segment may have; a segment ends before it would have more.
const maxPostings = 1 << 26

const (
	sortedTogether  = 1 << 20 // postings that are sorted at a time
	postingsBuckets = 12      // bits that tell those apart
)

// writeTo writes the key run and returns the number of postings and the directory of the run. To
// need little memory it sorts ranges of hashes one after the other, each collected by going through
// all postings.
func (p *postingsWriter) writeTo(w io.Writer) (n int, dir []byte, err error) {
	run := keyrun.NewWriter(w)
	shift := documentBits(len(p.ends))
	greatest := uint32(0)
	for _, h := range p.hashes {
		greatest = max(greatest, h)
	}
	toBucket := max(bits.Len32(greatest)-postingsBuckets, 0)
	var sizes [1 << postingsBuckets]int
	for _, h := range p.hashes {
		sizes[h>>toBucket]++
	}
	keys := make([]uint64, 0, min(len(p.hashes), sortedTogether))
	var tmp []uint64
	for from := 0; from < len(sizes); {
		to, sum := from+1, sizes[from]
		for ; to < len(sizes) && sum+sizes[to] <= sortedTogether; to++ {
			sum += sizes[to]
		}
		first, more := uint32(from)<<toBucket, uint32(to-from)<<toBucket-1
		from = to
		if keys = p.collect(keys[:0], first, more); len(keys) == 0 {
			continue
		}
		if cap(tmp) < len(keys) {
			tmp = make([]uint64, cap(keys))
		}
		keys, tmp = ordered.SortParts(keys, tmp[:len(keys)], max(bits.Len32(more), 1), 1)
		for _, k := range keys {
			// in order; its error comes back from Finish
			run.Add(uint64(first+uint32(k))<<shift | k>>32)
		}
	}
	dir, err = run.Finish()
	return run.Len(), dir, err
}

// collect appends the postings of hashes in [first, first+more] in the order of documents:
// document<<32 | hash-first.
func (p *postingsWriter) collect(keys []uint64, first, more uint32) []uint64 {
	at := uint32(0)
	for doc, end := range p.ends {
		for _, h := range p.hashes[at:end] {
			if h-first <= more {
				keys = append(keys, uint64(doc)<<32|uint64(h-first))
			}
		}
		at = end
	}
	return keys
}

// documentBits returns the bits of the number of one of n documents.
func documentBits(n int) int { return bits.Len(uint(max(n-1, 0))) }

type postings struct {
	*keyrun.Run
	docs  uint32 // of the segment
	shift int    // bits of a document number
	// Hashes of sketches are small, and the more so the longer the text, so that their leading bits
	// tell little. spots says for each of equal parts of the span of the keys how many blocks start
	// before it.
	spots     []uint32
	spotShift int
}

// newPostings prepares the searches of a run for a segment of n documents.
func newPostings(run *keyrun.Run, n uint32) *postings {
	p := &postings{Run: run, docs: n, shift: documentBits(int(n))}
	width := min(bits.Len(uint(run.NumBlocks()))+1, 20)
	p.spotShift = max(bits.Len64(run.Greatest())-width, 0)
	p.spots = make([]uint32, run.Greatest()>>p.spotShift+2)
	part := 0 // the parts up to this are filled
	for b := range run.NumBlocks() {
		for ; uint64(part) < run.Base(b)>>p.spotShift; part++ {
			p.spots[part+1] = uint32(b)
		}
	}
	for ; part+1 < len(p.spots); part++ {
		p.spots[part+1] = uint32(run.NumBlocks())
	}
	return p
}

// probe is a hash that postings are looked up for.
type probe struct {
	first uint64 // the least key of the hash
	// blocks whose first key is less than first, and not greater than the hash's last
	block, end uint32
}

// find returns the probe of a hash. It reads the directory only.
func (p *postings) find(hash uint32) probe {
	first := uint64(hash) << p.shift
	last := first | (uint64(1)<<p.shift - 1)
	if first > p.Greatest() || p.Len() == 0 {
		return probe{first: first, block: uint32(p.NumBlocks()), end: 0}
	}
	part := first >> p.spotShift
	lo, hi := int(p.spots[part]), int(p.spots[part+1])
	for lo < hi { // the first block that starts at first or after it
		mid := int(uint(lo+hi) >> 1)
		if p.Base(mid) < first {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	end := lo
	for end < p.NumBlocks() && p.Base(end) <= last {
		end++
	}
	return probe{first: first, block: uint32(lo), end: uint32(end)}
}

// prefetch prefetches the unary words of the block that a probe starts in.
func (p *postings) prefetch(pr probe) {
	if pr.block > 0 && pr.end > 0 {
		in := p.Info(int(pr.block) - 1)
		kernel.Prefetch(p.Unary(in))
	}
}

// documents appends the numbers, in the segment, of the documents of a probe, ascending.
func (p *postings) documents(pr probe, keys *kernel.Keys, dst []uint32) ([]uint32, error) {
	mask := uint64(1)<<p.shift - 1
	last := pr.first | mask
	before := len(dst)
	for b := max(int(pr.block), 1) - 1; b < int(pr.end); b++ {
		if err := p.Check(b); err != nil {
			return dst, err
		}
		if len(dst)-before > int(p.docs) {
			return dst[:before], p.Corrupt(0, "more than %d postings of one hash, for as many documents", p.docs)
		}
		in := p.Info(b)
		prefix := p.Base(b) >> uint(in.Width)
		from, to := max(pr.first, p.Base(b))>>uint(in.Width)-prefix, last>>uint(in.Width)-prefix+1
		lo, hi := kernel.RankZeros(p.Unary(in), from, to, p.Count(b))
		if in.Width >= p.shift { // all keys of the hash have one prefix, and the rest decides
			packed, want := p.Packed(in), pr.first&kernel.Mask(in.Width)
			for i := lo; i < hi; i++ {
				if low := kernel.Get(packed, in.Width, i); low&^mask == want {
					dst = append(dst, uint32(low&mask))
				}
			}
			continue
		}
		for _, k := range p.Decode(b, in, lo, hi, keys) {
			if k >= pr.first && k <= last {
				dst = append(dst, uint32(k&mask))
			}
		}
	}
	if n := len(dst); n > before && dst[n-1] >= p.docs { // they ascend
		return dst[:before], p.Corrupt(0, "document %d of %d in the segment", dst[n-1], p.docs)
	}
	return dst, nil
}
