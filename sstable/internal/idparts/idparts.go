// Package idparts divides the IDs of a table into parts by their order: every ID of a part is less
// than every ID of the next. Documents lie in the order of fingerprints, so that IDs in order, or
// those with a prefix, are anywhere. A list of the documents of each part, of two bytes a document
// or less, finds those with a prefix, or the next in order, without a look at all others.
package idparts

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Most is the most parts that there are: a 16-bit number says which.
const Most = 1 << 14

// A Divider says in which part an ID is.
type Divider struct {
	bounds [][]byte // ascending: part p has the IDs from bounds[p-1] up to, and without, bounds[p]
	shared []byte   // what all bounds begin with
	keys   []uint64 // of the bounds, and then the greatest: a power of two, more than there are bounds
}

// NewDivider returns a Divider into at most parts parts, 2 to Most, of about as many IDs each, as
// far as a sample, which is not empty, tells. It sorts the sample, and keeps copies of some of it,
// of at most MostBound bytes.
func NewDivider(sample [][]byte, parts int) *Divider {
	slices.SortFunc(sample, bytes.Compare)
	d := &Divider{}
	for p := 1; p < parts; p++ {
		b := sample[p*len(sample)/parts]
		b = b[:min(len(b), MostBound)]
		if n := len(d.bounds); n == 0 || !bytes.Equal(b, d.bounds[n-1]) {
			d.bounds = append(d.bounds, bytes.Clone(b))
		}
	}
	d.index()
	return d
}

// MostBound is the most bytes of a bound.
const MostBound = 255

// Divide returns the Divider of bounds, at least one and less than Most, which ascend. It keeps
// them.
func Divide(bounds [][]byte) *Divider {
	d := &Divider{bounds: bounds}
	d.index()
	return d
}

// Bounds returns the bounds, which ascend: part p has the IDs from bound p-1 up to, and without,
// bound p. They must not be changed.
func (d *Divider) Bounds() [][]byte { return d.bounds }

// index makes the keys of the bounds.
func (d *Divider) index() {
	first, last := d.bounds[0], d.bounds[len(d.bounds)-1]
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	d.shared = first[:n]
	d.keys = make([]uint64, 1<<bits.Len(uint(len(d.bounds))))
	for i := range d.keys {
		d.keys[i] = math.MaxUint64
		if i < len(d.bounds) {
			d.keys[i] = key(d.bounds[i][n:])
		}
	}
}

// key returns the first 8 bytes of s, zeros after its end, as a number that is in order as they
// are.
func key(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var room [8]byte
	copy(room[:], s)
	return binary.BigEndian.Uint64(room[:])
}

// Parts returns the number of parts, at least 1.
func (d *Divider) Parts() int { return len(d.bounds) + 1 }

// Part returns the part that an ID is in.
func (d *Divider) Part(id []byte) int {
	if len(id) < len(d.shared) || string(id[:len(d.shared)]) != string(d.shared) {
		if bytes.Compare(id, d.shared) < 0 {
			return 0
		}
		return len(d.bounds)
	}
	k, at := key(id[len(d.shared):]), 0
	for step := len(d.keys) / 2; step > 0; step >>= 1 { // of keys, at are less than k; the last is never less
		_, less := bits.Sub64(d.keys[at+step-1], k, 0)
		at += step & -int(less) // a branch here is mispredicted half the time
	}
	return d.decide(at, k, id)
}

// decide returns the part of an ID with a key, which the keys of at bounds are less than.
func (d *Divider) decide(at int, k uint64, id []byte) int {
	if at >= len(d.bounds) || d.keys[at] != k {
		return at
	}
	// The bounds of this key decide by their ends.
	return at + sort.Search(len(d.bounds)-at, func(i int) bool { return bytes.Compare(d.bounds[at+i], id) > 0 })
}

// Range returns the parts that may have IDs with a prefix: from first to end-1.
func (d *Divider) Range(prefix []byte) (first, end int) {
	first = d.Part(prefix)
	// The first bound from which on no ID has the prefix.
	end = first + sort.Search(len(d.bounds)-first, func(i int) bool {
		b := d.bounds[first+i]
		return bytes.Compare(b, prefix) > 0 && !bytes.HasPrefix(b, prefix)
	})
	return first, end + 1
}
