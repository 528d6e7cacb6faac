package sketchidx

import (
	"io"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/minhash"
)

// Postings list the sketches that have a hash. If two sketches have a score of t or more, and both
// are cut to prefixes of
//
//	p(a) = a - ceil(t a) + 1        hashes of a sketch of a hashes, in any common order,
//
// the prefixes share a hash (prefix filtering: Chaudhuri, Ganti, Kaushik, ICDE 2006; Bayardo, Ma,
// Srikant, WWW 2007). Proof: such sketches share at least ceil(t a) hashes (minhash.MaxMissing),
// and at least ceil(t b). Fewer hashes are outside the prefix of either sketch, so the prefix of A
// has at least one common hash, and so has the prefix of B. Therefore the first common hash, in the
// order, is in both prefixes. The bound is tight for full sketches.
//
// A table indexes prefixes for t = Params.MinJaccard, in its order of hashes (hot.Order), which
// serves every t of at least that value. To bound the memory of a writer, documents are split into
// segments of consecutive numbers, 2^19 of them by default. A segment's postings are a key run in
// KindPostings, with the keys
//
//	 63      32+w          w                 0        w = bits.Len(documents of the segment - 1)
//	+-------+------------+-------------------+
//	| zeros |  hash   32 | document number w |
//	+-------+------------+-------------------+
//	numbers are relative to the first document of the segment
const defaultSegmentDocs = 1 << 19

// prefixLength returns the length of the prefix of a sketch of size hashes. It is so long that the
// prefix shares a hash with the prefix of every other sketch whose score with it is at least t.
func prefixLength(size int, t float64) int {
	if size == 0 {
		return 0
	}
	return min(minhash.MaxMissing(size, t)+1, size)
}

// LeastSegment returns the minimum number of documents in a segment of a Writer; the last segment
// may have fewer.
func LeastSegment(p Params) int64 {
	most := prefixLength(int(p.Size), p.MinJaccard) // maximum number of postings of a document
	return int64(min(defaultSegmentDocs, maxPostings/max(most, 1)))
}

// postingsWriter collects the postings of a segment: 4 bytes per posting, and 4 bytes per document.
type postingsWriter struct {
	hashes []uint32 // prefixes of the documents, one after the other
	ends   []uint32 // ends of the prefixes
}

// maxPostings is the maximum number of postings in a segment; a segment ends before it would have
// more.
const maxPostings = 1 << 26

const (
	sortedTogether  = 1 << 20 // postings that are sorted at a time
	postingsBuckets = 12      // number of hash bits that select them
)

// writeTo writes the key run and returns the number of postings and the directory of the run. To
// save memory it sorts one range of hashes at a time, and reads all postings to collect each range.
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
			// in order; Finish returns its error
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

// documentBits returns the number of bits of a document number among n documents.
func documentBits(n int) int { return bits.Len(uint(max(n-1, 0))) }

type postings struct {
	*keyrun.Run
	docs  uint32 // documents of the segment
	shift int    // bits of a document number
	// Hashes of sketches are small, and smaller the longer the text, so their leading bits carry
	// little information. Instead, the span of the keys is split into equal parts, and spots has,
	// for each part, the number of blocks that start before it.
	spots     []uint32
	spotShift int
}

// newPostings prepares a run for searches in a segment of n documents.
func newPostings(run *keyrun.Run, n uint32) *postings {
	p := &postings{Run: run, docs: n, shift: documentBits(int(n))}
	if run.IsPaged() {
		return p
	}
	width := min(bits.Len(uint(run.NumBlocks()))+1, 20)
	p.spotShift = max(bits.Len64(run.Greatest())-width, 0)
	p.spots = make([]uint32, run.Greatest()>>p.spotShift+2)
	part := 0 // spots[:part+1] are filled
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

// probe is the look-up of the postings of a hash.
type probe struct {
	first uint64 // the least key of the hash
	// number of blocks whose first key is less than first, and not greater than the hash's last key
	block, end uint32
}

// find returns the probe of a hash. It reads only the directory.
func (p *postings) find(hash uint32) probe {
	first := uint64(hash) << p.shift
	last := first | (uint64(1)<<p.shift - 1)
	if first > p.Greatest() || p.Len() == 0 {
		return probe{first: first, block: uint32(p.NumBlocks()), end: 0}
	}
	if p.IsPaged() {
		block, end := p.Blocks(first, last)
		return probe{first: first, block: uint32(block), end: uint32(end)}
	}
	part := first >> p.spotShift
	lo, hi := int(p.spots[part]), int(p.spots[part+1])
	for lo < hi { // find the first block that starts at or after first
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

// findAll sets probes to the probes of hashes. It prefetches the unary words of the first block of each,
// and starts reading blocks from storage.
func (p *postings) findAll(probes []probe, hashes []uint32) []probe {
	if p.IsPaged() {
		for _, h := range hashes {
			p.Want(uint64(h) << p.shift)
		}
	}
	probes = probes[:0]
	for _, h := range hashes {
		pr := p.find(h)
		if pr.end > 0 {
			r := keyrun.Range{First: pr.first, Last: pr.first | (uint64(1)<<p.shift - 1), Run: p.Run, Block: pr.block, End: pr.end}
			r.Fetch()
			if pr.block > 0 {
				kernel.Prefetch(p.Unary(p.Info(int(pr.block) - 1)))
			}
		}
		probes = append(probes, pr)
	}
	return probes
}

// documents appends the documents of a probe, ascending, as numbers in the segment.
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
		if in.Width >= p.shift { // all keys of the hash have the same prefix
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
	if n := len(dst); n > before && dst[n-1] >= p.docs { // the last is the greatest, as they ascend
		return dst[:before], p.Corrupt(0, "document %d of %d in the segment", dst[n-1], p.docs)
	}
	return dst, nil
}
