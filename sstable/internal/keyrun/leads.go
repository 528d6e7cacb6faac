package keyrun

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// touchedBlocks: directory and lead index of a run with more blocks are prefetched before they are
// read; those of smaller runs stay in a near cache.
const touchedBlocks = 1 << 6

// manyLeads is how many bits a lead index has even if there are only two keys an entry. It has more
// if there are eight keys an entry.
const manyLeads = 16

// The entries of one block are found by halving its keys if they are few, and in one pass over its
// keys if they are less than maxPlaces, a power of two.
const fewPlaces, maxPlaces = 16, 512

// IndexLeads gives the run a lead index for probes by leadBits leading bits. It must be called
// before any block is checked.
func (r *Run) IndexLeads(leadBits int) {
	n := min(leadBits, max(bits.Len(uint(r.n/16)), min(bits.Len(uint(r.n/4)), manyLeads)))
	if n == 0 || n == 64 || n < r.guide.bits {
		return // with few keys, or many a lead, it does not matter how they are found
	}
	r.leads = leadIndex{shift: 64 - n, part: n - r.guide.bits, words: make([]atomic.Uint32, 1<<n/2+2)}
	for _, blocks := range r.guide.parts {
		r.leads.bases = append(r.leads.bases, (max(blocks, 1)-1)<<BlockShift-1)
	}
}

// fillLeads makes the entries that lead to block b, which has been found good and has these keys:
// it is the block before the first one that starts at u<<shift or after.
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
	shift, n := uint(l.shift)&63, end-u
	var places [maxPlaces]uint32
	listed := n > fewPlaces && n < maxPlaces
	if listed { // the last key of a lead says where the next one begins
		for i, key := range keys {
			places[(key>>shift+1-u)&(maxPlaces-1)] = uint32(i + 1)
		}
	}
	i, word := uint32(0), uint32(0)
	for first := u; u < end; u++ {
		if listed {
			i = max(i, places[u-first])
		} else if int(i) < len(keys) && keys[i]>>shift < u {
			i += firstOfLead(keys[i:], u, shift)
		}
		if at := uint32(b<<BlockShift) + i - l.bases[u>>uint(l.part)]; at < 1<<16 {
			word |= at << (u & 1 * 16)
		}
		if u&1 == 1 || u+1 == end {
			l.words[u>>1].Or(word)
			word = 0
		}
	}
}

// firstOfLead returns the position of the first key whose lead is u or greater, the number of keys
// if there is none.
func firstOfLead(keys []uint64, u uint64, shift uint) uint32 {
	lo, n := 0, len(keys)
	for n > 0 {
		half := n / 2
		if keys[lo+half]>>(shift&63) < u {
			lo, n = lo+half+1, n-half-1
		} else {
			n = half
		}
	}
	return uint32(lo)
}

// PrefetchLead prefetches the entries for key, or if there are none, where the search in the
// directory will look.
func (r *Run) PrefetchLead(key uint64) {
	if len(r.leads.words) == 0 {
		r.PrefetchWindow(key)
		return
	}
	kernel.PrefetchAt(unsafe.Pointer(&r.leads.words[key>>uint(r.leads.shift)>>1]), 8)
}

// PrefetchLeads is touchLead for the first keys of many probes, if what that reads is too large to
// be in a near cache.
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

// prefetchBlocks prefetches what the directory says of the blocks in which probes begin that are
// spanned, if it is too large to be in a near cache.
func (r *Run) prefetchBlocks(probes []Probe) {
	if r.blocks > touchedBlocks {
		kernel.PrefetchEach(unsafe.Pointer(&r.entries[0]), unsafe.Pointer(&probes[0].From), len(probes), int(unsafe.Sizeof(probes[0])), BlockShift, 4)
	}
}
