package format

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// MaxIDParts is the maximum number of parts, which are numbered with 16 bits.
const MaxIDParts = 1 << 14

// An IDDivider divides the IDs of a table into parts by their order: every ID of a part is less
// than every ID of the next. Documents are in the order of fingerprints, so consecutive IDs, or
// those with a prefix, are scattered over the table. A list of the documents of each part, at most
// two bytes per document, makes it possible to find the IDs with a prefix, or the next IDs in
// order, without reading all others.
type IDDivider struct {
	bounds [][]byte // ascending: part p has the IDs in [bounds[p-1], bounds[p])
	shared []byte   // common prefix of all bounds
	keys   []uint64 // keys of the bounds, padded with MaxUint64 to the next power of two
}

// NewIDDivider returns an IDDivider into at most parts parts, 2 to MaxIDParts, with about the same
// number of IDs each, estimated from a non-empty sample. It sorts the sample, and copies some of
// it, at most MaxIDBound bytes of each ID.
func NewIDDivider(sample [][]byte, parts int) *IDDivider {
	slices.SortFunc(sample, bytes.Compare)
	d := &IDDivider{}
	for p := 1; p < parts; p++ {
		b := sample[p*len(sample)/parts]
		b = b[:min(len(b), MaxIDBound)]
		if n := len(d.bounds); n == 0 || !bytes.Equal(b, d.bounds[n-1]) {
			d.bounds = append(d.bounds, bytes.Clone(b))
		}
	}
	d.index()
	return d
}

// MaxIDBound is the maximum length of a bound in bytes.
const MaxIDBound = 255

// DivideIDs returns the IDDivider with the given ascending bounds, at least one and fewer than
// MaxIDParts. It retains them.
func DivideIDs(bounds [][]byte) *IDDivider {
	d := &IDDivider{bounds: bounds}
	d.index()
	return d
}

// Bounds returns the bounds, which ascend: part p has the IDs in [bound p-1, bound p). They must
// not be changed.
func (d *IDDivider) Bounds() [][]byte { return d.bounds }

// index computes the keys of the bounds.
func (d *IDDivider) index() {
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
			d.keys[i] = boundKey(d.bounds[i][n:])
		}
	}
}

// boundKey returns the first 8 bytes of s, padded with zeros, as a number that preserves their
// order.
func boundKey(s []byte) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(s)
	}
	var word [8]byte
	copy(word[:], s)
	return binary.BigEndian.Uint64(word[:])
}

// Parts returns the number of parts, at least 1.
func (d *IDDivider) Parts() int { return len(d.bounds) + 1 }

// Part returns the part to which an ID belongs.
func (d *IDDivider) Part(id []byte) int {
	if len(id) < len(d.shared) || string(id[:len(d.shared)]) != string(d.shared) {
		if bytes.Compare(id, d.shared) < 0 {
			return 0
		}
		return len(d.bounds)
	}
	k, at := boundKey(id[len(d.shared):]), 0
	for step := len(d.keys) / 2; step > 0; step >>= 1 { // at keys are less than k, never the last
		_, less := bits.Sub64(d.keys[at+step-1], k, 0)
		at += step & -int(less) // a branch would be mispredicted half the time
	}
	return d.decide(at, k, id)
}

// decide returns the part of an ID with key k; at is the number of bounds with a smaller key.
func (d *IDDivider) decide(at int, k uint64, id []byte) int {
	if at >= len(d.bounds) || d.keys[at] != k {
		return at
	}
	// Several bounds may have this key, so compare whole IDs.
	return at + sort.Search(len(d.bounds)-at, func(i int) bool { return bytes.Compare(d.bounds[at+i], id) > 0 })
}

// Range returns the parts [first, end) that may have IDs at or after from and before to; an empty
// to means no bound.
func (d *IDDivider) Range(from, to []byte) (first, end int) {
	first, end = d.Part(from), d.Parts()
	if len(to) > 0 {
		end = max(d.Part(to)+1, first)
	}
	return first, end
}

// idsTogether is how many IDs are looked up in parallel, so that their steps overlap.
const idsTogether = 8

// AppendParts appends the parts to which IDs belong.
func (d *IDDivider) AppendParts(parts []uint16, ids [][]byte) []uint16 {
	for len(ids) > 0 {
		n := min(len(ids), idsTogether)
		parts, ids = d.appendSome(parts, ids[:n]), ids[n:]
	}
	return parts
}

// appendSome is AppendParts for at most idsTogether IDs.
func (d *IDDivider) appendSome(parts []uint16, ids [][]byte) []uint16 {
	var keys [idsTogether]uint64
	for j, id := range ids {
		if len(ids) < idsTogether || !bytes.HasPrefix(id, d.shared) {
			for _, id := range ids {
				parts = append(parts, uint16(d.Part(id)))
			}
			return parts
		}
		keys[j] = boundKey(id[len(d.shared):])
	}
	var at [idsTogether]int
	for step := len(d.keys) / 2; step > 0; step >>= 1 {
		for j, k := range keys {
			_, less := bits.Sub64(d.keys[at[j]+step-1], k, 0)
			at[j] += step & -int(less)
		}
	}
	for j, id := range ids {
		parts = append(parts, uint16(d.decide(at[j], keys[j], id)))
	}
	return parts
}

// IDPartShift returns how many bits of a key are the document number, in a stretch of n documents.
func IDPartShift(n int) int { return bits.Len(uint(n - 1)) }
