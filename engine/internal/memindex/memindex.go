// Package memindex has the indexes of a database that exist in memory only.
//
//	memindex.go, search.go             fingerprints of a memtable that are near to one
//	sketches.go                        sketches of a memtable that may be similar to one
//	textindex.go, lazy.go, growing.go  texts of a table or a memtable that may be similar to
//	                                   one by edit distance or word counts
//	families.go                        texts already compared without a match
//
// The indexes of memtables can be searched while documents are added.
package memindex

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
)

const (
	blocks     = 4
	blockBits  = base.FingerprintBits / blocks
	maxRadius  = 3
	minEntries = 4096 // entries of a new index
	entryBytes = int(unsafe.Sizeof(entry{}))
)

// MinSize is the number of fingerprints from which an index is worth its memory. Comparing fewer is
// about as fast as looking them up.
const MinSize = 2048

// An entry is a fingerprint and, for each block, one plus the position of the previous entry with
// the same value; 0 if none.
type entry struct {
	fp   base.Fingerprint
	next [blocks]uint32
}

// An Index holds fingerprints in the order in which they were added. One goroutine at a time adds;
// any number may search meanwhile.
//
// It divides a fingerprint into four blocks of 16 bits. Two fingerprints that differ in at most k
// bits differ in few bits of at least one block (the pigeonhole principle): if the sum of r+1 over
// the radii r of the blocks is k+1, at least one block differs in at most its radius. A search
// therefore looks up all values of each block within its radius, and compares the fingerprints that
// have them. While there are few fingerprints, only the lowest bits of a block are its value.
//
// The fingerprints with the same value of a block form a chain, newest first, from a head. Adding a
// fingerprint writes four heads and one entry and never moves an older entry, so readers need no
// locks: an entry is complete before a head or another entry links to it. A reader that sees only
// the first n fingerprints skips the newer ones of a chain.
//
// If comparing all fingerprints is cheaper than visiting the entries of a search, it compares all:
// at large distances, and if many fingerprints share the values of blocks.
type Index struct {
	chains atomic.Pointer[chains] // replaced by larger ones when full
	n      int                    // entries in use; only the adder accesses it
}

// chains holds entries, and a head for each value of each block.
type chains struct {
	bits    int             // number of bits of a block that form its value
	heads   []atomic.Uint32 // block after block: one plus the position of the newest entry with the value; 0 if none
	entries []entry
}

// valueBits is how many bits of a block form its value in an index of n fingerprints: there are as
// many values as entries, so that heads need no more memory than entries.
func valueBits(n int) int { return min(blockBits, bits.Len(uint(max(n, minEntries)-1))) }

func newChains(n int) *chains {
	b := valueBits(n)
	return &chains{b, make([]atomic.Uint32, blocks<<b), make([]entry, max(n, minEntries))}
}

// headsOf returns the heads of a block.
func (c *chains) headsOf(block int) []atomic.Uint32 { return c.heads[block<<c.bits:][:1<<c.bits] }

// mask selects the bits of a block that form its value.
func (c *chains) mask() uint16 { return uint16(1<<c.bits - 1) }

// set makes fp the entry at position at, which must be the newest.
func (c *chains) set(at int, fp base.Fingerprint) {
	e := &c.entries[at]
	e.fp = fp
	var heads [blocks]*atomic.Uint32
	for b := range blocks {
		heads[b] = &c.headsOf(b)[uint16(fp>>(b*blockBits))&c.mask()]
		e.next[b] = heads[b].Load()
	}
	// Link to the entry only when it is complete.
	for _, h := range heads {
		h.Store(uint32(at + 1))
	}
}

// Size returns the memory of an index with space for n fingerprints.
func Size(n int) int { return entryBytes*max(n, minEntries) + 4*blocks<<valueBits(n) }

// New returns an index of the given fingerprints, at positions from 0, with space for capacity
// fingerprints.
func New(fps []base.Fingerprint, capacity int) *Index {
	x := &Index{}
	x.chains.Store(newChains(max(capacity, len(fps))))
	for _, fp := range fps {
		x.Add(fp)
	}
	return x
}

// Add adds a fingerprint at the next position, and returns by how many bytes the index has grown.
func (x *Index) Add(fp base.Fingerprint) (grown int) {
	c := x.chains.Load()
	if x.n == len(c.entries) {
		grown = -x.Bytes()
		more := newChains(2 * x.n)
		for at := range c.entries {
			more.set(at, c.entries[at].fp)
		}
		x.chains.Store(more)
		c, grown = more, grown+x.Bytes()
	}
	c.set(x.n, fp)
	x.n++
	return grown
}

// Bytes returns the memory of the index.
func (x *Index) Bytes() int {
	c := x.chains.Load()
	return 4*len(c.heads) + entryBytes*len(c.entries)
}

// Prefetch prefetches the heads that a search for q within k bits reads first, if they are few. x
// may be nil.
func (x *Index) Prefetch(q base.Fingerprint, k int) {
	if x == nil || k >= 2*blocks {
		return
	}
	c := x.chains.Load()
	for b, r := range radii(k) {
		if r < 0 {
			break
		}
		heads, own := c.headsOf(b), uint16(q>>(b*blockBits))&c.mask()
		kernel.PrefetchAt(unsafe.Pointer(&heads[own]), 1)
		for bit := lineBits; r > 0 && bit < c.bits; bit++ { // the others are in the same cache line
			kernel.PrefetchAt(unsafe.Pointer(&heads[own^1<<bit]), 1)
		}
	}
}

// lineBits is how many of the lowest bits of a value select a head within a cache line.
const lineBits = 4
