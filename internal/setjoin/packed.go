package setjoin

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/vfs"
)

// packed holds most elements of an index in a third of the memory that chains need, with equal
// tags next to each other: its postings are sorted by bucket, which is the leading bits of a
// mixed tag. They change only when chains are merged into them (pack), in place.
type packed struct {
	t      threshold
	loose  int      // no nodes are moved while there are at most this many
	dir    []uint32 // by bucket: its first posting; then the number of postings
	marks  []uint64 // by bucket: a filter with one bit for each element of the index, including chains
	shift  int      // reduces a mixed tag to its bucket
	chunks []*postings
	n      int
	chain  []uint64 // scratch memory of pack
}

// postings is a chunk of postings.
type postings struct {
	tags    [chunkPostings]uint16 // bits of the mixed tag below those of the bucket
	entries [chunkPostings]uint32 // the entry, and in the low bits the part of its set that comes before the element
}

const (
	chunkPostings  = 1 << 14
	postingBytes   = 6
	bucketPostings = 8 // on average, once there are as many as expected
	leastBuckets   = 1 << 6
	mostPostings   = 1 << 31
	markShift      = 3 // marks of a bucket have 1<<markShift bytes
	dirShift       = 2 // an element of dir or index.heads has 1<<dirShift bytes
	shareBits      = 8 // bits for the part of a set before an element
	mostEntries    = 1 << (32 - shareBits)
)

// Nodes become postings once they exceed this share of the memory or of the postings: a larger
// share costs memory, a smaller one time. If few nodes suffice, there are no postings.
const (
	packShare      = 8
	mostLoose      = 1 << 20
	mostLooseEdits = 1 << 12
)

// newPacked returns an empty packed. It is fastest if the number of postings is close to
// expected.
func newPacked(t threshold, expected int64, loose int) *packed {
	buckets := powerBelow(max(leastBuckets, min(expected, mostPostings)/bucketPostings))
	p := &packed{t: t, loose: loose, dir: make([]uint32, buckets+1), marks: make([]uint64, buckets)}
	p.shift = 32 - bits.TrailingZeros(uint(buckets))
	vfs.HugePages(p.dir)
	vfs.HugePages(p.marks)
	return p
}

// reset removes all postings and retains their memory.
func (p *packed) reset() {
	clear(p.dir)
	clear(p.marks)
	p.n = 0
}

func (p *packed) bytes() int64 {
	return int64(p.n)*postingBytes + int64(len(p.dir))*4 + int64(len(p.marks))*8
}

// mix spreads the bits of a tag. Tags are hashes, but as elements are chosen for being rare, only
// their trailing bits are evenly distributed.
func mix(tag uint32) uint32 { return tag * 0x9e3779b1 }

const unmix = 0x0e8b2f51 // times 0x9e3779b1 is 1

// split returns the bucket of a mixed tag, and the bits that identify the tag within the bucket.
func (p *packed) split(mixed uint32) (bucket int, tag uint16) {
	return int(mixed >> (p.shift & 31)), uint16(mixed << ((32 - p.shift) & 31) >> 16)
}

func (p *packed) mark(tag uint32) {
	bucket, low := p.split(mix(tag))
	p.marks[bucket] |= 1 << (low >> 10)
}

// marked returns 0 if the index does not have a tag, and 1 if it may have it.
func (x *index) marked(tag uint32) int {
	p := x.packed
	if p == nil {
		return 1
	}
	bucket, low := p.split(mix(tag))
	return int(p.marks[bucket] >> (low >> 10) & 1)
}

// before returns the part of a set that comes before an element with that rest, in 256ths,
// rounded down.
func (t threshold) before(size, rest uint32) uint32 {
	if t.Kind.shares() {
		return ^rest >> (32 - shareBits)
	}
	return uint32(uint64(size-rest) << shareBits / uint64(size))
}

// restAfter inverts before; the result may be slightly larger than the original rest.
func (t threshold) restAfter(size, before uint32) uint32 {
	if t.Kind.shares() {
		return ^(before << (32 - shareBits))
	}
	return size - uint32((uint64(before)*uint64(size)+1<<shareBits-1)>>shareBits)
}

// pack moves the elements of the chains to the postings.
func (x *index) pack() {
	p := x.packed
	from, to := p.n, p.n+x.nodes
	for len(p.chunks)*chunkPostings < to {
		p.chunks = append(p.chunks, new(postings))
	}
	p.n = to
	bucket := len(p.dir) - 1
	p.dir[bucket] = uint32(to)
	down := func(until int) { // moves up the postings of the buckets from until on
		for bucket--; bucket >= until; bucket-- {
			first := int(p.dir[bucket])
			p.move(first, from, to)
			to -= from - first
			from = first
			p.dir[bucket] = uint32(to)
		}
		bucket++
	}
	for h := len(x.heads) - 1; h >= 0; h-- { // chains are in the order of mixed tags, too
		if h%lookupsAtOnce == lookupsAtOnce-1 { // so that reads of the next chains overlap
			for _, n := range x.heads[h+1-lookupsAtOnce : h+1] {
				if n > 0 {
					kernel.PrefetchAt(unsafe.Pointer(x.at(n-1)), 4)
				}
			}
		}
		p.chain = p.chain[:0]
		for n := x.heads[h]; n != 0; n = x.at(n - 1).next {
			p.chain = append(p.chain, uint64(mix(x.at(n-1).tag))<<32|uint64(n-1))
		}
		if len(p.chain) > 1 {
			slices.Sort(p.chain)
		}
		for _, c := range slices.Backward(p.chain) {
			nd := x.at(uint32(c))
			in, tag := p.split(uint32(c >> 32))
			down(in + 1)
			to--
			at, i := p.chunks[to/chunkPostings], to%chunkPostings
			at.tags[i], at.entries[i] = tag, nd.entry<<shareBits|p.t.before(x.sizes[nd.entry], nd.rest)
		}
	}
	down(0)
	clear(x.heads)
	x.nodes = 0
}

// move moves postings [first, from) so that they end at to, which is at or above from.
func (p *packed) move(first, from, to int) {
	if from == to {
		return
	}
	for from > first {
		from, to = from-1, to-1
		src, dst := p.chunks[from/chunkPostings], p.chunks[to/chunkPostings]
		dst.tags[to%chunkPostings] = src.tags[from%chunkPostings]
		dst.entries[to%chunkPostings] = src.entries[from%chunkPostings]
	}
}

type lookup struct {
	tag, rest  uint32
	from, to   int    // Edits: the positions of runs
	first, end uint32 // postings of its bucket
	ahead      uint16 // has no meaning: it keeps the compiler from removing a read that loads postings into the cache
}

// lookupsAtOnce is how many lookups begin before the first one continues: a lookup mostly waits
// for a read from memory, and the reads of several lookups overlap.
const lookupsAtOnce = 32

// candidates appends to dst the entries that may match a set, possibly with duplicates.
func (x *index) candidates(dst []uint32, p *prefix, t threshold) []uint32 {
	for next := 0; next < p.look; {
		dst, next = x.lookUp(dst, p, t, next, p.look, lookupsAtOnce)
	}
	return dst
}

// lookUp is candidates for the keys of a set from one up to another. It stops after that many
// lookups in memory, and returns the next key.
func (x *index) lookUp(dst []uint32, p *prefix, t threshold, from, to, most int) (_ []uint32, next int) {
	var all [lookupsAtOnce]lookup
	n := 0
	for ; from < to && n <= min(most, len(all))-2; from++ { // no branch depends on marks
		tag, rest := tagOf(p.keys[from]), p.rest(from)
		all[n].tag, all[n].rest = tag, rest
		n += x.marked(tag)
		if p.first(from) && !p.whole {
			tag = x.second(tag)
			all[n].tag, all[n].rest = tag, rest
			n += x.marked(tag)
		}
	}
	x.begin(all[:n])
	return x.finish(dst, all[:n], p, t), from
}

// prefetch prefetches the marks of a set's keys, and their chains if the set is added.
func (x *index) prefetch(p *prefix, add bool) {
	var tags [lookupsAtOnce]uint32
	for keys := p.keys[:p.look]; len(keys) > 0; {
		n := min(len(keys), len(tags))
		for i, key := range keys[:n] {
			tags[i] = mix(tagOf(key))
		}
		if x.packed != nil {
			kernel.PrefetchEach(unsafe.Pointer(&x.packed.marks[0]), unsafe.Pointer(&tags[0]), n, 4, uint(x.packed.shift), markShift)
		}
		if add {
			kernel.PrefetchEach(unsafe.Pointer(&x.heads[0]), unsafe.Pointer(&tags[0]), n, 4, uint(x.shift), dirShift)
		}
		keys = keys[n:]
	}
}

// begin finds the postings of lookups.
func (x *index) begin(all []lookup) {
	p := x.packed
	var heads [lookupsAtOnce]uint32
	if p != nil && len(all) > 0 {
		var tags [lookupsAtOnce]uint32
		for i := range all {
			tags[i] = mix(all[i].tag)
		}
		kernel.PrefetchEach(unsafe.Pointer(&p.dir[0]), unsafe.Pointer(&tags[0]), len(all), 4, uint(p.shift), dirShift)
		kernel.PrefetchEach(unsafe.Pointer(&x.heads[0]), unsafe.Pointer(&tags[0]), len(all), 4, uint(x.shift), dirShift)
	}
	for i := range all {
		l := &all[i]
		heads[i] = *x.head(l.tag)
		if p == nil {
			continue
		}
		bucket, _ := p.split(mix(l.tag))
		if l.first, l.end = p.dir[bucket], p.dir[bucket+1]; l.first < l.end {
			at := p.chunks[l.first/chunkPostings]
			l.ahead = at.tags[l.first%chunkPostings]
			kernel.PrefetchAt(unsafe.Pointer(&at.entries[l.first%chunkPostings]), 4)
		}
	}
	for i, head := range heads[:len(all)] {
		if head > 0 {
			all[i].ahead += uint16(x.at(head - 1).tag)
		}
	}
}

// finish appends the entries that lookups find.
func (x *index) finish(dst []uint32, all []lookup, p *prefix, t threshold) []uint32 {
	if x.packed != nil {
		dst = x.finishPacked(dst, all, p, t)
	}
	for i := range all {
		dst = x.chain(dst, all[i].tag, p, all[i].rest, t)
	}
	return dst
}

// A hit is a posting with the tag of a lookup.
type hit struct{ posting, lookup uint32 }

// hitsAtOnce is how many hits are collected before the first one's entry is read, so that the reads
// overlap.
const hitsAtOnce = 64

// finishPacked appends the entries that lookups find in postings.
func (x *index) finishPacked(dst []uint32, all []lookup, p *prefix, t threshold) []uint32 {
	var hits [hitsAtOnce]hit
	n := 0
	for i := range all {
		l := &all[i]
		_, tag := x.packed.split(mix(l.tag))
		for l.first < l.end {
			from := l.first % chunkPostings
			to := min(from+l.end-l.first, from+uint32(hitsAtOnce-n), chunkPostings)
			for k, other := range x.packed.chunks[l.first/chunkPostings].tags[from:to] { // no branch depends on tags
				hits[n%hitsAtOnce] = hit{l.first + uint32(k), uint32(i)}
				_, same := bits.Sub32(uint32(other^tag), 1, 0)
				n += int(same)
			}
			if l.first += to - from; n > hitsAtOnce/2 {
				dst = x.entries(dst, hits[:n], all, p, t)
				n = 0
			}
		}
	}
	return x.entries(dst, hits[:n], all, p, t)
}

// entries appends the entries of hits whose overlap with a set may suffice.
func (x *index) entries(dst []uint32, hits []hit, all []lookup, p *prefix, t threshold) []uint32 {
	var entries, sizes [hitsAtOnce]uint32
	for i, h := range hits {
		entries[i] = x.packed.chunks[h.posting/chunkPostings].entries[h.posting%chunkPostings]
		sizes[i] = x.sizes[entries[i]>>shareBits]
	}
	p.visited += len(hits)
	for i, h := range hits {
		entry, before := entries[i]>>shareBits, entries[i]&(1<<shareBits-1)
		l, rest := &all[h.lookup], t.restAfter(sizes[i], before)
		if t.enough(p.size, int(sizes[i]), l.rest, rest) {
			dst = x.found(dst, entry, l.tag, rest, p, t)
		}
	}
	return dst
}
