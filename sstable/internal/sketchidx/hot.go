package sketchidx

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// A few shingles are in very many texts: licences, page furniture. Postings of such hot hashes are
// long and tell little. So every table keeps a list of its hot hashes, and orders the hashes of a
// sketch cold ones first, then by how hot they are: bits.Len32 of the number of documents, 0 for
// those that are not in the list; equally hot ones by value. Any list gives right answers, because
// the prefix argument (see postings) asks only that all sketches of a table, and those it is
// searched for, are in one order. KindHot is
//
//	+----------------------+ ... +------------------+--------+
//	| hash  4 | documents 4 |     | entry of hash H  | CRC32C |    hashes ascend, each in one document or more
//	+----------------------+ ... +------------------+--------+

const (
	hotSection = "hot" // for errors
	hotEntry   = 8
	// Every document is counted of up to HotAll; of more, a sample of as many, of an eighth, or of
	// hotMost.
	HotAll    = 1 << 15
	hotStride = 8
	hotMost   = 1 << 18
	// A hash is hot if HotLeast documents have it, by this estimate, and hotCounted of those that
	// are counted do.
	HotLeast   = 32
	hotCounted = 8
)

// HotHash is a hash that many sketches of a table have.
type HotHash struct {
	Hash      uint32
	Documents uint32 // how many documents have it, about; at least 1
}

// HotHashes returns the hot hashes, ascending, of a table of n documents with the given sketches.
// It calls sketch twice for each document of a sample, which is all of them up to 32,768, and uses
// the result of a call before the next one. It counts twice: first all hashes, in counters that
// several hashes may share, then those alone whose counter is high enough. Memory: 256 bytes a
// document of the sample, at most 48 MiB, and 8 bytes for each hash that is hot, or nearly.
func HotHashes(n int, sketch func(i int) ([]uint32, error)) ([]HotHash, error) {
	stride := max(min((n+HotAll-1)/HotAll, hotStride), (n+hotMost-1)/hotMost, 1)
	threshold := max(HotLeast/stride, hotCounted)
	counters := make([]uint8, 1<<min(max(bits.Len(uint(n/stride))+7, 12), 25))
	mask := uint32(len(counters) - 1)
	for i := 0; i < n; i += stride {
		s, err := sketch(i)
		if err != nil {
			return nil, err
		}
		for _, h := range s {
			if c := &counters[h&mask]; int(*c) < threshold {
				*c++
			}
		}
	}
	var t tally
	for i := 0; i < n; i += stride {
		s, err := sketch(i)
		if err != nil {
			return nil, err
		}
		for _, h := range s {
			if int(counters[h&mask]) >= threshold {
				t.add(h)
			}
		}
	}
	t.merge()
	hot := slices.DeleteFunc(t.counts, func(h HotHash) bool { return int(h.Documents) < threshold })
	for i := range hot {
		hot[i].Documents *= uint32(stride)
	}
	return hot, nil
}

// tally counts hashes exactly, in memory that the number of different ones bounds.
type tally struct {
	recent []uint32  // not in counts yet
	room   []uint32  // to sort them
	counts []HotHash // ascending
}

// tallyRecent is how many hashes are merged at a time.
const tallyRecent = 1 << 21

// add counts a hash once more.
func (t *tally) add(hash uint32) {
	if len(t.recent) == tallyRecent {
		t.merge()
	}
	t.recent = append(t.recent, hash)
}

// merge brings counts up to date.
func (t *tally) merge() {
	if cap(t.room) < len(t.recent) {
		t.room = make([]uint32, len(t.recent))
	}
	t.recent, t.room = ordered.Sort32(t.recent, t.room[:len(t.recent)])
	var merged []HotHash
	old := t.counts
	for i := 0; i < len(t.recent); {
		h := HotHash{Hash: t.recent[i]}
		for ; i < len(t.recent) && t.recent[i] == h.Hash; i++ {
			h.Documents++
		}
		for len(old) > 0 && old[0].Hash < h.Hash {
			merged, old = append(merged, old[0]), old[1:]
		}
		if len(old) > 0 && old[0].Hash == h.Hash {
			h.Documents += old[0].Documents
			old = old[1:]
		}
		merged = append(merged, h)
	}
	t.counts, t.recent = append(merged, old...), t.recent[:0]
}

// checkHot reports whether a list is one that a table can have.
func checkHot(hot []HotHash) error {
	for i, h := range hot {
		if i > 0 && h.Hash <= hot[i-1].Hash || h.Documents == 0 {
			return fmt.Errorf("hot hash %d of %d is out of order or in no document", i, len(hot))
		}
	}
	return nil
}

// appendHot appends the section of a list.
func appendHot(dst []byte, hot []HotHash) []byte {
	start := len(dst)
	for _, h := range hot {
		dst = binary.LittleEndian.AppendUint32(dst, h.Hash)
		dst = binary.LittleEndian.AppendUint32(dst, h.Documents)
	}
	return binary.LittleEndian.AppendUint32(dst, crc.Sum(dst[start:]))
}

// parseHot decodes a section of the right size, which may hold anything.
func parseHot(data []byte, file string, off int64) ([]HotHash, error) {
	end := len(data) - 4
	if crc.Sum(data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, base.Corruptf(file, hotSection, off, "wrong checksum")
	}
	hot := make([]HotHash, end/hotEntry)
	for i := range hot {
		e := data[i*hotEntry:][:hotEntry]
		hot[i] = HotHash{Hash: binary.LittleEndian.Uint32(e), Documents: binary.LittleEndian.Uint32(e[4:])}
	}
	if err := checkHot(hot); err != nil {
		return nil, base.Corruptf(file, hotSection, off, "%w", err)
	}
	return hot, nil
}

// hotOrder is the order of hashes in the sketches of a table: a hash table of the hot ones, at most
// half full, and a bitmap that tells nearly all others without a look at the table.
type hotOrder struct {
	slots  []uint64 // class<<32 | hash; 0 if free, as no hot hash has class 0
	filter []uint8  // 8 bits a slot; those of hot hashes are set
	seed   uint64   // odd, drawn at random: no list of hashes can make many of them collide
	shift  int
}

// newHotOrder returns the order that a list says.
func newHotOrder(hot []HotHash) *hotOrder {
	size := bits.Len(uint(2 * len(hot)))
	o := &hotOrder{
		slots: make([]uint64, 1<<size), filter: make([]uint8, 1<<size), seed: rand.Uint64() | 1, shift: 64 - size,
	}
	for _, h := range hot {
		bit := uint64(h.Hash) * o.seed >> (o.shift - 3)
		o.filter[bit>>3] |= 1 << (bit & 7)
		i := int(bit >> 3)
		for o.slots[i] != 0 {
			i = (i + 1) & (len(o.slots) - 1)
		}
		o.slots[i] = uint64(bits.Len32(h.Documents))<<32 | uint64(h.Hash)
	}
	return o
}

// filterAt returns the bit of the filter for a hash, and is also where a look at the table begins:
// by multiply-shift hashing (Dietzfelbinger et al., J. Algorithms 1997).
func (o *hotOrder) filterAt(hash uint32) uint64 {
	return uint64(hash) * o.seed >> ((o.shift - 3) & 63)
}

// key returns what hashes are ordered by, class<<32 | hash, by a look at the table.
func (o *hotOrder) key(hash uint32) uint64 {
	for i := int(o.filterAt(hash) >> 3); ; i = (i + 1) & (len(o.slots) - 1) {
		switch k := o.slots[i]; {
		case k == 0:
			return uint64(hash)
		case uint32(k) == hash:
			return k
		}
	}
}

// prefixStep is how many hashes prefix looks up at a time.
const prefixStep = 64

// prefix appends to dst the first n hashes of a sketch in this order, all of them if there are no
// more; hot is room for keys, which is returned to be used again. The filter is asked for some
// hashes at a time, without a branch, so that cache misses overlap.
func (o *hotOrder) prefix(dst []uint32, sketch []uint32, n int, hot []uint64) (prefix []uint32, room []uint64) {
	hot = hot[:0]
	n = min(n, len(sketch))
	dst = slices.Grow(dst, n)
	end := len(dst) + n
	for len(dst) < end && len(sketch) > 0 { // the sketch ascends, and so do the cold ones in it
		some := sketch[:min(end-len(dst), len(sketch), prefixStep)]
		sketch = sketch[len(some):]
		maybe := uint64(0) // bit i is that of some[i]
		for i, h := range some {
			bit := o.filterAt(h)
			maybe |= uint64(o.filter[bit>>3]>>(bit&7)&1) << (i & 63)
		}
		are := uint64(0)
		for ; maybe != 0; maybe &= maybe - 1 {
			i := bits.TrailingZeros64(maybe)
			if k := o.key(some[i]); k>>32 != 0 {
				hot = append(hot, k)
				are |= 1 << i
			}
		}
		cold := dst[len(dst) : len(dst)+len(some)]
		to := 0
		for i, h := range some {
			cold[to] = h
			to += int(are>>(i&63)&1 ^ 1)
		}
		dst = dst[:len(dst)+to]
	}
	return appendLeast(dst, hot, end-len(dst)), hot
}

// appendLeast appends the hashes of the n least of keys to dst, which has room for them. Keys of a
// class ascend, so they are only counted by class.
func appendLeast(dst []uint32, keys []uint64, n int) []uint32 {
	if n == 0 {
		return dst
	}
	var next [33]uint32 // where the next of a class goes
	for _, k := range keys {
		next[k>>32%33]++
	}
	at := uint32(0)
	for class, count := range next {
		next[class] = at
		at += count
	}
	least := dst[len(dst) : len(dst)+n]
	for _, k := range keys {
		p := &next[k>>32%33]
		if int(*p) < n {
			least[*p] = uint32(k)
		}
		*p++
	}
	return dst[:len(dst)+n]
}
