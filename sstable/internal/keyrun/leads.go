package keyrun

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// A probe asks a permuted table for the keys with one lead. The lead index says where they begin, so that a probe neither searches the
// directory nor counts through the unary part of a block, and asks memory for just the values that it compares. It is not stored. An entry is
// made when the block that it leads to is checked, which is when the block is first touched, as its keys are decoded then anyway; until
// then, and where an entry does not fit, the directory serves.
//
// Entry u is the position of the first key that is not less than u<<shift. It is counted from the first block in which a key of the same
// part of the guide may lie, plus one, in 16 bits; 0 is unknown. That is 2 bytes for a lead. Where most leads have no key, the index goes by
// the first bits of the lead, and some keys are compared in excess, and passed over if they are near.
type leadIndex struct {
	shift int             // of a key, to the number of its entry: 1..63
	part  int             // of the number of an entry, to the number of its part of the guide
	words []atomic.Uint32 // entries 2i and 2i+1; there is one more entry than leads. Empty if there is no index
	bases []uint32        // of each part of the guide, what its entries are counted from, less one
}

// touchedBlocks is how many blocks a run has whose directory and lead index are worth asking for before they are read: those of fewer stay in
// a near cache.
const touchedBlocks = 1 << 6

// manyLeads is how many bits of leads a lead index has though there are as few as two keys for an entry; it has more for eight keys each.
const manyLeads = 16

// IndexLeads gives the run a lead index for probes by so many leading bits. No block may have been checked.
func (r *Run) IndexLeads(leadBits int) {
	n := min(leadBits, max(bits.Len(uint(r.n/16)), min(bits.Len(uint(r.n/4)), manyLeads)))
	if n == 0 || n == 64 || n < r.guide.bits {
		return // so few keys, or so many with one lead, that it does not matter how they are found
	}
	r.leads = leadIndex{shift: 64 - n, part: n - r.guide.bits, words: make([]atomic.Uint32, 1<<n/2+2)}
	for _, blocks := range r.guide.parts {
		r.leads.bases = append(r.leads.bases, (max(blocks, 1)-1)<<BlockShift-1)
	}
}

// fillLeads makes the entries that lead to block b, which has been found good and has these keys: it is the block before the first one that
// starts at u<<shift or after.
func (r *Run) fillLeads(b int, keys []uint64) {
	l := &r.leads
	if l.words == nil {
		return
	}
	entries := uint64(1) << uint(64-l.shift)
	u, end := uint64(0), entries+1
	if b > 0 {
		u = shr(r.Base(b), l.shift) + 1
	}
	if b+1 < r.blocks {
		end = shr(r.Base(b+1), l.shift) + 1
	}
	i, word := 0, uint32(0)
	for ; u < end; u++ {
		if u == entries {
			i = len(keys)
		}
		for i < len(keys) && keys[i] < u<<uint(l.shift) {
			i++
		}
		if at := uint32(b<<BlockShift+i) - l.bases[u>>uint(l.part)]; at < 1<<16 {
			word |= at << (u & 1 * 16)
		}
		if u&1 == 1 || u+1 == end {
			l.words[u>>1].Or(word)
			word = 0
		}
	}
}

// PrefetchLead prefetches the entries for key, or if there are none, where the search in the directory will look.
func (r *Run) PrefetchLead(key uint64) {
	if len(r.leads.words) == 0 {
		r.PrefetchWindow(key)
		return
	}
	kernel.PrefetchAt(unsafe.Pointer(&r.leads.words[key>>uint(r.leads.shift)>>1]), 8)
}

// PrefetchLeads is touchLead for the first keys of many probes, if what that reads is too large to be in a near cache.
func (r *Run) PrefetchLeads(probes []Probe) {
	switch shift := r.leads.shift; {
	case len(r.leads.words) == 0:
		for i := range probes {
			r.PrefetchWindow(probes[i].First)
		}
	case r.blocks > touchedBlocks && shift >= 32: // by the upper halves of the keys; two entries are a word
		kernel.PrefetchEach(unsafe.Pointer(&r.leads.words[0]), unsafe.Add(unsafe.Pointer(&probes[0].First), 4), len(probes),
			int(unsafe.Sizeof(probes[0])), uint(shift-32), 1)
	}
}

// prefetchBlocks prefetches what the directory says of the blocks in which probes begin that are spanned, if it is too large to be in a near cache.
func (r *Run) prefetchBlocks(probes []Probe) {
	if r.blocks > touchedBlocks {
		kernel.PrefetchEach(unsafe.Pointer(&r.entries[0]), unsafe.Pointer(&probes[0].From), len(probes), int(unsafe.Sizeof(probes[0])), BlockShift, 4)
	}
}
