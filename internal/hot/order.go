package hot

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// An Order is an order of the hashes of sketches: first cold hashes, by value, then hot hashes by
// class, which is bits.Len32 of the number of documents, and within a class by value. It consists
// of a hash table of the hot hashes, at most half full, and a bitmap that identifies nearly all
// cold hashes without accessing the table.
type Order struct {
	slots  []Key   // 0 if free
	filter []uint8 // 8 bits per slot; the bits of hot hashes are set
	seed   uint64  // odd and random: no list of hashes can be made to collide
	shift  int
}

// A Key is a hot hash: number<<40 | class<<32 | hash. Its number is its index in the list, modulo
// maskBits.
type Key uint64

func (k Key) class() uint8 { return uint8(k>>32) % 33 }

// NewOrder returns the order for a list of hot hashes.
func NewOrder(hot []Hash) *Order {
	size := bits.Len(uint(2 * len(hot)))
	o := &Order{
		slots: make([]Key, 1<<size), filter: make([]uint8, 1<<size), seed: rand.Uint64() | 1, shift: 64 - size,
	}
	for n, h := range hot {
		bit := uint64(h.Hash) * o.seed >> (o.shift - 3)
		o.filter[bit>>3] |= 1 << (bit & 7)
		i := int(bit >> 3)
		for o.slots[i] != 0 {
			i = (i + 1) & (len(o.slots) - 1)
		}
		o.slots[i] = Key(n%maskBits)<<40 | Key(bits.Len32(h.Documents))<<32 | Key(h.Hash)
	}
	return o
}

// filterAt returns the bit of the filter for a hash; its slot is where a search of the table
// begins. It uses multiply-shift hashing (Dietzfelbinger et al., J. Algorithms 1997).
func (o *Order) filterAt(hash uint32) uint64 {
	return uint64(hash) * o.seed >> ((o.shift - 3) & 63)
}

// key looks up the key of a hash in the table. It returns 0 if the hash is cold.
func (o *Order) key(hash uint32) Key {
	for i := int(o.filterAt(hash) >> 3); ; i = (i + 1) & (len(o.slots) - 1) {
		if k := o.slots[i]; k == 0 || uint32(k) == hash {
			return k
		}
	}
}

// prefixStep is the number of hashes that Prefix looks up at a time.
const prefixStep = 64

// Prefix appends to dst the first n hashes of a sketch in this order, or all if there are fewer,
// and returns the number of cold ones. If there are hot ones, keys are the keys of all hot hashes
// in the sketch, stored in the buffer buf. Prefix tests the filter for several hashes at a time,
// without a branch, so that cache misses overlap.
func (o *Order) Prefix(dst []uint32, sketch []uint32, n int, buf []Key) (prefix []uint32, cold int, keys []Key) {
	hot, first := buf[:0], len(dst)
	n = min(n, len(sketch))
	if len(o.slots) == 1 { // the list is empty
		return append(dst, sketch[:n]...), n, hot
	}
	dst = slices.Grow(dst, n)
	end := len(dst) + n
	for len(dst) < end && len(sketch) > 0 { // the sketch is ascending, and so are its cold hashes
		some := sketch[:min(end-len(dst), len(sketch), prefixStep)]
		sketch = sketch[len(some):]
		maybe := uint64(0) // bit i is set if some[i] may be hot
		for i, h := range some {
			bit := o.filterAt(h)
			maybe |= uint64(o.filter[bit>>3]>>(bit&7)&1) << (i & 63)
		}
		are := uint64(0)
		for ; maybe != 0; maybe &= maybe - 1 {
			i := bits.TrailingZeros64(maybe)
			if k := o.key(some[i]); k != 0 {
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
	return appendLeast(dst, hot, end-len(dst)), len(dst) - first, hot
}

// appendLeast appends the hashes of the n smallest keys to dst, whose capacity must suffice. Keys
// within a class are ascending, so it only needs to count them by class.
func appendLeast(dst []uint32, keys []Key, n int) []uint32 {
	if n == 0 {
		return dst
	}
	var next [33]uint32 // position of the next hash, by class
	for _, k := range keys {
		next[k.class()]++
	}
	at := uint32(0)
	for class, count := range next {
		next[class] = at
		at += count
	}
	least := dst[len(dst) : len(dst)+n]
	for _, k := range keys {
		p := &next[k.class()]
		if int(*p) < n {
			least[*p] = uint32(k)
		}
		*p++
	}
	return dst[:len(dst)+n]
}
