package keyrun

import (
	"encoding/binary"
	"math/bits"
	"sort"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

// touchedBlocks: if a run has more blocks, its directory and lead index are prefetched before they
// are read. In smaller runs they stay in a near cache.
const touchedBlocks = 1 << 6

// manyLeads is the number of bits up to which a lead index needs only two keys per entry. For more
// bits it needs eight keys per entry.
const manyLeads = 16

// IndexLeads gives the run a lead index for probes by leadBits leading bits. It must be called
// before any block is verified.
func (r *Run) IndexLeads(leadBits int) {
	if r.lazy != nil {
		return // the index needs the whole directory
	}
	if r.guide.shift > 0 {
		r.fillGuide(0)
	}
	n := min(leadBits, max(bits.Len(uint(r.n/16)), min(bits.Len(uint(r.n/4)), manyLeads)))
	if n == 0 || n == 64 || n < r.guide.bits {
		return // with few keys, or many per lead, an index would not save time
	}
	r.leads = leadIndex{shift: 64 - n, part: n - r.guide.bits, words: make([]atomic.Uint32, 1<<n/2+2)}
	for _, blocks := range r.guide.parts {
		r.leads.bases = append(r.leads.bases, (max(blocks, 1)-1)<<BlockShift-1)
	}
}

// fillLeads fills in the entries that point into block b, which has just been verified. Entry u
// belongs to the last block whose first key is less than u<<shift, or to block 0 if there is none.
// keys are needed only if the low bits of the block reach into the leads.
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
		default: // the unary part alone determines prefixes
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

// A zeroWalk counts the ones before zeros of a unary part. The numbers of the zeros must ascend.
type zeroWalk struct {
	unary []byte
	at    int    // offset of the current word in bytes
	zeros uint64 // number of zeros before it
}

// ones returns how many ones come before zero number h, counted from 1; if there is no such zero,
// it returns the number of all bits.
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

// firstOfLead returns the position of the first key whose lead is u or greater, len(keys) if there
// is none.
func firstOfLead(keys []uint64, u uint64, shift uint) uint32 {
	return uint32(sort.Search(len(keys), func(i int) bool { return keys[i]>>shift >= u }))
}

// PrefetchLead prefetches the entries for key or, without an index, the window in the directory.
func (r *Run) PrefetchLead(key uint64) {
	if len(r.leads.words) == 0 {
		r.PrefetchWindow(key)
		return
	}
	kernel.PrefetchAt(unsafe.Pointer(&r.leads.words[key>>uint(r.leads.shift)>>1]), 8)
}

// PrefetchLeads is PrefetchLead for the first keys of many probes. It does nothing if the index is
// small enough for a near cache.
func (r *Run) PrefetchLeads(probes []Probe) {
	switch shift := r.leads.shift; {
	case len(r.leads.words) == 0:
		for i := range probes {
			r.PrefetchWindow(probes[i].First)
		}
	case r.blocks > touchedBlocks && shift >= 32: // upper halves of keys; two entries a word
		kernel.PrefetchEach(unsafe.Pointer(&r.leads.words[0]), unsafe.Add(unsafe.Pointer(&probes[0].First), 4), len(probes),
			int(unsafe.Sizeof(probes[0])), uint(shift-32), 1)
	}
}

// prefetchBlocks prefetches the directory entries of the blocks in which exact probes start, unless
// the directory is small enough for a near cache.
func (r *Run) prefetchBlocks(probes []Probe) {
	if r.blocks > touchedBlocks {
		kernel.PrefetchEach(unsafe.Pointer(&r.entries[0]), unsafe.Pointer(&probes[0].From), len(probes), int(unsafe.Sizeof(probes[0])), BlockShift, 4)
	}
}
