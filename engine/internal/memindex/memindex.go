// Package memindex has the indexes that a database has in memory alone.
//
//	memindex.go, search.go             fingerprints of a memtable that are near to one
//	sketches.go                        sketches of a memtable that may be similar to one
//	textindex.go, lazy.go, growing.go  texts, of a table or a memtable, that may be similar to
//	                                   one by edit distance or word counts
//	families.go                        texts that searches have compared in vain
//
// Those of memtables are searched while documents are added.
package memindex

import (
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
)

const (
	blocks     = 4
	blockBits  = base.FingerprintBits / blocks
	values     = 1 << blockBits
	maxRadius  = 3
	firstRoom  = 4096 // entries of a new index
	entryBytes = int(unsafe.Sizeof(entry{}))
	headBytes  = blocks * values * 4
)

// MinSize is how many fingerprints an index is worth its memory for. Fewer are compared about as
// fast as they are looked up.
const MinSize = 2048

// An entry is a fingerprint and, for each block, the position after the newest one before it with
// the same value; 0 for none.
type entry struct {
	fp   base.Fingerprint
	next [blocks]uint32
}

// An Index holds fingerprints in the order in which they were added. One goroutine at a time adds;
// any number may search meanwhile.
//
// It cuts a fingerprint into four blocks of 16 bits. Two fingerprints that differ in at most
// k bits differ in few bits of at least one block (the pigeonhole principle): where radii r add up
// to k+1 as the sum of r+1, one block differs in at most its radius. So a search looks up all
// values of each block within its radius, and compares the fingerprints that have them.
//
// The fingerprints with the same value of a block form a chain, newest first, from a head. An
// addition writes four heads and one entry and never moves an older one, so readers need no locks:
// what a head or an entry links to was complete before the link. A reader that sees only the first
// n fingerprints passes through the newer ones of a chain.
//
// Where a search would visit more entries than it costs to compare all fingerprints, it compares
// all: at great distances, and where many fingerprints share the values of blocks.
type Index struct {
	heads   [blocks][values]atomic.Uint32 // position after the newest fingerprint with the value; 0 for none
	entries atomic.Pointer[[]entry]       // as long as there is room; replaced by a copy with more
	n       int                           // entries in use; the adder's own
}

// New returns an index of the given fingerprints, at positions from 0.
func New(fps []base.Fingerprint) *Index {
	x := &Index{}
	room := make([]entry, max(firstRoom, len(fps)))
	x.entries.Store(&room)
	for _, fp := range fps {
		x.Add(fp)
	}
	return x
}

// Add adds a fingerprint at the next position, and returns by how many bytes the index has grown.
func (x *Index) Add(fp base.Fingerprint) (grown int) {
	room := *x.entries.Load()
	if x.n == len(room) {
		more := make([]entry, 2*len(room))
		copy(more, room)
		x.entries.Store(&more)
		grown, room = entryBytes*len(room), more
	}
	e := &room[x.n]
	x.n++
	e.fp = fp
	for b := range blocks {
		e.next[b] = x.heads[b][uint16(fp>>(b*blockBits))].Load()
	}
	// Links to the entry come when it is complete.
	for b := range blocks {
		x.heads[b][uint16(fp>>(b*blockBits))].Store(uint32(x.n))
	}
	return grown
}

// Bytes returns the memory of the index.
func (x *Index) Bytes() int { return headBytes + len(*x.entries.Load())*entryBytes }

// Prefetch prefetches what a search for q within k bits reads first, where it is little. x may be
// nil.
func (x *Index) Prefetch(q base.Fingerprint, k int) {
	if x == nil || k >= 2*blocks {
		return
	}
	for b, r := range radii(k) {
		if r < 0 {
			break
		}
		heads, own := &x.heads[b], uint16(q>>(b*blockBits))
		kernel.PrefetchAt(unsafe.Pointer(&heads[own]), 1)
		for bit := lineBits; r > 0 && bit < blockBits; bit++ { // the others are in the same line
			kernel.PrefetchAt(unsafe.Pointer(&heads[own^1<<bit]), 1)
		}
	}
}

// lineBits is how many of the lowest bits of a value say where in a cache line its head is.
const lineBits = 4
