package setjoin

import (
	"math/bits"
	"unsafe"

	"github.com/simdb/simdb/internal/textsim"
	"github.com/simdb/simdb/internal/vfs"
)

// index holds the prefixes of sets, its entries, by element: a hash table of chains of nodes. The
// two parts of a prefix are in different chains, so a search for first parts does not meet second
// ones, which may be full of common elements.
type index struct {
	heads  []uint32 // by chain: the number of its first node + 1
	shift  int      // reduces a mixed tag to its chain
	chunks [][]node
	nodes  int
	sets   []uint32 // by entry
	sizes  []uint32
	pieces []uint32 // Edits: by entry

	signatures []textsim.EditSignature // Edits by length: by entry

	packed  *packed   // postings of older entries; nil while there are few
	bitmaps []bitmap  // by entry, not for Edits
	lengths []float64 // Cosine, Weighted: by entry
	crowds  *crowds   // Jaccard, Sketches
	tally   *tally    // instead of nodes; nil if there are nodes

	others map[uint64]*sharers     // Cosine: by node, see nodeOf
	part   func(set uint32) uint32 // Cosine, Components: the component of a set
	least  int                     // Cosine, Components: more connected sharers than this are many
	many   bool                    // Cosine, Components: some node has many
}

// node is an element of an entry's prefix.
type node struct {
	next  uint32 // node + 1
	tag   uint32
	entry uint32
	rest  uint32 // see prefix.node
}

// Nodes are allocated in chunks, so that growing copies nothing.
const (
	chunkBits      = 12
	nodeBytes      = 16
	leastChainBits = 10
	leastChains    = 1 << leastChainBits
)

// reset empties the index and retains its memory.
func (x *index) reset() {
	if x.heads == nil {
		chains := int64(leastChains)
		if p := x.packed; p != nil { // as many as needed, so that they never grow, and a part has its own
			chains = powerBelow(int64(max(leastChains, len(p.marks), min(p.loose, len(p.marks)*bucketPostings))))
		}
		x.makeHeads(int(chains))
	}
	clear(x.heads)
	x.nodes, x.sets, x.sizes, x.pieces = 0, x.sets[:0], x.sizes[:0], x.pieces[:0]
	x.signatures = x.signatures[:0]
	x.bitmaps, x.lengths = x.bitmaps[:0], x.lengths[:0]
	if x.packed != nil {
		x.packed.reset()
	}
	if x.crowds != nil {
		x.crowds.reset()
	}
	if x.tally != nil {
		x.tally.reset()
	}
	x.others, x.many = map[uint64]*sharers{}, false
}

// bytes returns the approximate memory of the index.
func (x *index) bytes() int64 {
	n := int64(x.nodes)*nodeBytes + int64(len(x.heads))*4
	n += int64(len(x.sets))*8 + int64(len(x.pieces))*4 + int64(len(x.bitmaps))*bitmapBytes + int64(len(x.lengths))*8
	n += int64(len(x.others)) * othersBytes
	n += int64(len(x.signatures)) * int64(unsafe.Sizeof(textsim.EditSignature{}))
	if x.packed != nil {
		n += x.packed.bytes()
	}
	if x.crowds != nil {
		n += x.crowds.bytes
	}
	if x.tally != nil {
		n += x.tally.bytes()
	}
	return n
}

func (x *index) at(n uint32) *node { return &x.chunks[n>>chunkBits][n&(1<<chunkBits-1)] }

func (x *index) head(tag uint32) *uint32 { return &x.heads[mix(tag)>>(x.shift&31)] }

// second returns the tag of an element in second parts. Both tags have adjacent buckets, and chains
// that are close, so that looking up both costs little more than one.
func (x *index) second(tag uint32) uint32 {
	bit := uint32(1 << (32 - leastChainBits))
	if x.packed != nil {
		bit = 1 << (x.packed.shift & 31)
	}
	return (mix(tag) ^ bit) * unmix
}

// add adds a set as an entry, unless no other set can find it. It reports whether the set has
// become a member of a crowd.
func (x *index) add(set uint32, p *prefix) (member bool) {
	if p.unique() {
		return false
	}
	if x.packed != nil && x.nodes > max(x.packed.loose, x.packed.n/packShare) {
		x.pack()
	}
	entry := uint32(len(x.sets))
	x.sets, x.sizes = append(x.sets, set), append(x.sizes, uint32(p.size))
	if p.pieces > 0 {
		x.pieces = append(x.pieces, uint32(p.pieces))
	}
	if p.signed {
		x.signatures = append(x.signatures, p.signature.Edit)
	}
	if p.hasBitmap {
		x.bitmaps = append(x.bitmaps, p.bitmap)
	}
	if p.rests != nil {
		x.lengths = append(x.lengths, p.length)
	}
	if x.tally != nil {
		x.tally.add(entry, p.set, x.crowds.counts)
		return false
	}
	if x.crowd(entry, p) {
		return true
	}
	x.prefetch(p, true)
	for i := range p.keys {
		tag, rest := p.node(x, i)
		if p.rests != nil && p.whole { // Cosine
			rest |= 1<<(32-shareBits) - 1 // rounded as in postings
			others, ok := x.others[nodeOf(tag, rest)]
			if !ok {
				others = &sharers{}
				x.others[nodeOf(tag, rest)] = others
			}
			if others.add(x, entry); ok {
				continue
			}
		}
		x.insert(tag, entry, rest)
	}
	return false
}

// othersBytes is the approximate memory of sharers.
const othersBytes = 64

// A sharers lists all entries that share a node. For Components, the first connected entries of
// the list are in one component.
type sharers struct {
	entries   []uint32
	connected int
}

func (l *sharers) add(x *index, entry uint32) {
	l.entries = append(l.entries, entry)
	part := func(i int) uint32 { return x.part(x.sets[l.entries[i]]) }
	for x.part != nil && l.connected < len(l.entries) && part(l.connected) == part(0) {
		l.connected++
	}
	x.many = x.many || l.connected > x.least
}

// of returns the entries that a set is compared with.
func (l *sharers) of(x *index, p *prefix) []uint32 {
	const share = 16
	switch many := l.connected > x.least; {
	case p.few && many:
		return l.entries[l.connected-max(x.least/share, 1) : l.connected]
	case p.few:
		return nil
	case many && p.connected != nil && p.connected(x.part(x.sets[l.entries[0]])):
		return l.entries[l.connected:]
	}
	return l.entries
}

// nodeOf returns the identity of a node for Cosine. All entries with the same tag and rest share
// the node: so the pages of a template are all ruled out together at each key.
func nodeOf(tag, rest uint32) uint64 { return uint64(tag)<<32 | uint64(rest) }

func (x *index) insert(tag, entry, rest uint32) {
	if x.packed != nil {
		x.packed.mark(tag)
	}
	if x.nodes >= len(x.heads) {
		x.grow()
	}
	x.chunks = growChunks(x.chunks, x.nodes)
	head := x.head(tag)
	*x.at(uint32(x.nodes)) = node{*head, tag, entry, rest}
	x.nodes++
	*head = uint32(x.nodes)
}

// growChunks appends a chunk if the next node, n, needs one.
func growChunks(chunks [][]node, n int) [][]node {
	if n>>chunkBits == len(chunks) {
		chunks = append(chunks, make([]node, 1<<chunkBits))
	}
	return chunks
}

// grow doubles the number of chains.
func (x *index) grow() {
	x.makeHeads(2 * len(x.heads))
	for n := range uint32(x.nodes) {
		nd := x.at(n)
		head := x.head(nd.tag)
		nd.next = *head
		*head = n + 1
	}
}

// makeHeads creates n empty chains.
func (x *index) makeHeads(n int) {
	x.heads = make([]uint32, n)
	vfs.HugePages(x.heads)
	x.shift = 32 - bits.TrailingZeros(uint(n))
}

// chain appends the entries of a chain with this tag whose overlap with a set may suffice.
func (x *index) chain(dst []uint32, tag uint32, p *prefix, rest uint32, t threshold) []uint32 {
	for n := *x.head(tag); n != 0; {
		nd := x.at(n - 1)
		n = nd.next
		if nd.tag != tag {
			continue
		}
		if p.visited++; !t.enough(p.size, int(x.sizes[nd.entry]), rest, nd.rest) {
			continue
		}
		dst = x.found(dst, nd.entry, nd.tag, nd.rest, p, t)
	}
	return dst
}

// found appends the entries of a node; for Edits, the entry and the rest.
func (x *index) found(dst []uint32, entry, tag, rest uint32, p *prefix, t threshold) []uint32 {
	switch t.Kind {
	case Edits:
		return append(dst, entry, rest)
	case Cosine:
		return append(dst, x.others[nodeOf(tag, rest)].of(x, p)...)
	}
	if len(dst) == 0 || dst[len(dst)-1] != entry {
		dst = append(dst, entry)
	}
	return dst
}

// enough reports whether sets of sizes x and y that share a key with these rests can match. They
// share no earlier element, or they would have met before, so the smaller rest bounds the
// overlap. For weights see weightPrefix; for Edits see finder.pieces.
func (t threshold) enough(x, y int, rest, restY uint32) bool {
	switch t.Kind {
	case Edits:
		return true
	case Cosine:
		return float64(restY) >= cosineCut(t.t)/float64(rest)*restOne*restOne
	case Weighted:
		return mayBeWeighted(rest, restY, t.t)
	}
	return int(min(rest, restY)) >= t.about(x, y)
}

const none = ^uint32(0)
