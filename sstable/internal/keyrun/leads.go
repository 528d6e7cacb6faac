package keyrun

import (
	"encoding/binary"
	"math/bits"
	"sort"
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

// IndexLeads gives the run a lead index for probes by leadBits leading bits. It must be called
// before any block is checked.
func (r *Run) IndexLeads(leadBits int) {
	if r.guide.shift > 0 {
		r.fillGuide(0)
	}
	n := min(leadBits, max(bits.Len(uint(r.n/16)), min(bits.Len(uint(r.n/4)), manyLeads)))
	if n == 0 || n == 64 || n < r.guide.bits {
		return // with few keys, or many a lead, it does not matter how they are found
	}
	r.leads = leadIndex{shift: 64 - n, part: n - r.guide.bits, words: make([]atomic.Uint32, 1<<n/2+2)}
	for _, blocks := range r.guide.parts {
		r.leads.bases = append(r.leads.bases, (max(blocks, 1)-1)<<BlockShift-1)
	}
}

// fillLeads makes the entries that lead to block b, which has been found good: it is the block
// before the first one that starts at u<<shift or after. keys are needed if their low bits reach
// into the leads.
func (r *Run) fillLeads(b int, in Info, keys []uint64) {
	l := &r.leads
	if l.words == nil {
		return
	}
	base, entries := r.Base(b), uint64(1)<<uint(64-l.shift)
	u, end := uint64(0), entries+1
	if b > 0 {
		u = shr(base, l.shift) + 1
	}
	if b+1 < r.blocks {
		end = shr(r.Base(b+1), l.shift) + 1
	}
	zeros, n := zeroWalk{unary: r.Unary(in)}, r.Count(b)
	word := uint32(0)
	for ; u < end; u++ {
		i := uint32(n)
		switch first := u << uint(l.shift); {
		case u == entries:
		case first <= base:
			i = 0
		case in.Width > l.shift:
			i = firstOfLead(keys, u, uint(l.shift))
		default: // the unary part alone has the prefixes of keys
			i = uint32(min(zeros.ones(shr(first, in.Width)-shr(base, in.Width)), n))
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

// A zeroWalk counts the ones before zeros of a unary part, whose numbers must ascend.
type zeroWalk struct {
	unary []byte
	at    int    // of the current word, in bytes
	zeros uint64 // before it
}

// ones returns how many ones come before zero number h, counted from 1; all bits that are left if
// there is no such zero.
func (z *zeroWalk) ones(h uint64) int {
	for ; z.at < len(z.unary); z.at += 8 {
		word := ^binary.LittleEndian.Uint64(z.unary[z.at:])
		n := uint64(bits.OnesCount64(word))
		if z.zeros+n >= h {
			return 8*z.at + kernel.Select(word, int(h-z.zeros-1)) - int(h-1)
		}
		z.zeros += n
	}
	return 8 * len(z.unary)
}

// firstOfLead returns the position of the first key whose lead is u or greater, the number of keys
// if there is none.
func firstOfLead(keys []uint64, u uint64, shift uint) uint32 {
	return uint32(sort.Search(len(keys), func(i int) bool { return keys[i]>>shift >= u }))
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

// PrefetchLeads is PrefetchLead for the first keys of many probes, if the data that it reads is too
// large for a near cache.
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
