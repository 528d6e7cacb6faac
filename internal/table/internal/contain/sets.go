package contain

import (
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// Sets has the sets of the records of a table that is being written, in memory: 4 bytes for each
// feature, and a few for each record. The zero value is empty.
type Sets struct {
	groups []Group
	sizes  []uint32 // size of the set of each record
	keys   int
}

// A Group has the sets of some consecutive records. It has the bins of all their features, sorted
// together, so that a range of bins is read at a few places, not at one for each record.
type Group struct {
	first uint32 // number of the first record
	sizes []uint32
	bins  []uint32 // bin << groupBits | index of the record in the group
}

// groupBits is the number of bits of an entry that are the index of the record in its group.
const groupBits = 32 - BinBits

// Full reports whether the group has the maximum number of sets.
func (g *Group) Full() bool { return len(g.sizes) == 1<<groupBits }

// Add adds the set of the next record, as ascending hashes of features.
func (g *Group) Add(set []uint64) {
	record, last := uint32(len(g.sizes)), uint32(0)
	for i, hash := range set {
		if bin := BinOf(hash); i == 0 || bin != last {
			g.bins, last = append(g.bins, bin<<groupBits|record), bin
		}
	}
	g.sizes = append(g.sizes, uint32(len(set)))
}

// End must be called once all sets have been added.
func (g *Group) End() { g.bins, _ = ordered.Sort32(g.bins, make([]uint32, len(g.bins))) }

// Add adds the groups of the next records. It retains them.
func (s *Sets) Add(groups []Group) {
	for _, g := range groups {
		g.first = uint32(len(s.sizes))
		s.sizes = append(s.sizes, g.sizes...)
		s.groups, s.keys = append(s.groups, g), s.keys+len(g.bins)
	}
}

// Keys returns the number of keys in the index for the records so far.
func (s *Sets) Keys() int { return s.keys }

// Bytes returns the size of the sets in memory.
func (s *Sets) Bytes() int64 { return 4*int64(s.keys) + 8*int64(len(s.sizes)) }

// Size returns the size of the set of a record, 0 if the record does not exist.
func (s *Sets) Size(record uint32) uint32 {
	if uint64(record) < uint64(len(s.sizes)) {
		return s.sizes[record]
	}
	return 0
}

// NoDocument is the document number of a record that belongs to no document.
const NoDocument = 1<<32 - 1

// AppendKeys appends the keys with bins in [from, to), unsorted. docs has the documents of the
// records, and width is the width of document numbers.
func (s *Sets) AppendKeys(dst []uint64, docs []uint32, from, to uint32, width uint) []uint64 {
	for i := range s.groups {
		g := &s.groups[i]
		at, _ := slices.BinarySearch(g.bins, from<<groupBits)
		for _, e := range g.bins[at:] {
			bin := e >> groupBits
			if bin >= to {
				break
			}
			if doc := docs[g.first+e&(1<<groupBits-1)]; doc != NoDocument {
				dst = append(dst, uint64(bin)<<width|uint64(doc))
			}
		}
	}
	return dst
}
