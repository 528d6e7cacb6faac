package setjoin

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/vfs"
)

// A Few joins a few sets, whose elements are in memory, with any number of other sets that arrive
// one by one and are not stored.
//
// Two matching sets share at least some overlap o. Of all elements but any o-1, at least one is
// therefore in the other set: the o-1 that are in most sets of the Few need not be looked up. If
// o is known for the sets of the Few, these elements are omitted from the table, and candidates
// are compared. Otherwise, elements that are in no set of the Few count towards the o-1. Most
// sets have few elements in common with any set of the Few, and are finished once their elements
// have been looked up.
type Few struct {
	t      float64
	role   FewRole
	sizes  []uint32 // sizes of the sets
	filter []uint64 // a filter with a bit for each element of the table, by its last bits
	slots  []fewSlot
	lists  []uint32   // the sets of each element, ascending, grouped by element
	sets   [][]uint64 // for FewContained and FewWeighted
}

// A FewRole says which sets of a Few match another set.
type FewRole uint8

// The roles.
const (
	FewJaccard    FewRole = iota // sets with a certain Jaccard similarity to it
	FewContained                 // sets with a certain share of their elements in it
	FewContaining                // sets that contain a certain share of its elements
	FewWeighted                  // sets with a certain weighted Jaccard similarity to it; all have the layout of features.Weighted
)

// A fewSlot is an element in the table of a Few; each run of used slots ends with a free slot.
type fewSlot struct {
	element uint64
	from, n uint32 // its part of lists; n is 0 in a free slot
}

// FewBytes returns the approximate memory of a set's element while a Few with the threshold t is
// created.
func FewBytes(t float64, role FewRole) int64 {
	const inTable, inSets = 80, 12
	if role == FewContained {
		return inSets + int64((1-t)*inTable)
	}
	return inTable
}

// NewFew returns a Few that finds matches with a share of at least t. Elements must be strictly
// ascending, except with FewWeighted. With FewContained and FewWeighted it retains the sets.
func NewFew(sets [][]uint64, t float64, role FewRole) *Few {
	f := &Few{t: t, role: role, sizes: make([]uint32, len(sets))}
	for n, set := range sets {
		f.sizes[n] = uint32(len(set))
	}
	all := f.entries(sets)
	all = ordered.SortPairs(all, ordered.MakePairs(len(all.Keys)))
	size := 64
	for size < len(all.Keys)+len(all.Keys)/4 {
		size *= 2
	}
	f.filter, f.slots, f.lists = make([]uint64, size/8), make([]fewSlot, size), all.Vals
	vfs.HugePages(f.filter)
	vfs.HugePages(f.slots)
	for from := 0; from < len(all.Keys); {
		e, to := all.Keys[from], from+1
		for to < len(all.Keys) && all.Keys[to] == e {
			to++
		}
		f.filter[e/64&uint64(len(f.filter)-1)] |= 1 << (e % 64)
		*f.slot(e) = fewSlot{e, uint32(from), uint32(to - from)}
		from = to
	}
	return f
}

// entries returns the elements of the table with their sets in ascending order. With FewContained
// these are the rarest elements of each set.
func (f *Few) entries(sets [][]uint64) (all ordered.Pairs) {
	elements := 0
	for _, set := range sets {
		elements += len(set)
	}
	if f.role == FewWeighted {
		f.sets, sets = sets, slices.Clone(sets)
		for n, set := range sets {
			sets[n] = features.Weighted(set).Hashes()
		}
	}
	if f.role != FewContained {
		all = ordered.Pairs{Keys: make([]uint64, 0, elements), Vals: make([]uint32, 0, elements)}
		for n, set := range sets {
			for _, e := range set {
				all.Keys, all.Vals = append(all.Keys, e), append(all.Vals, uint32(n))
			}
		}
		return all
	}
	f.sets = sets
	counts := newCounts(2 * int64(elements))
	for _, set := range sets {
		counts.add(set)
	}
	counts.end()
	t, ranked := Measure{Kind: Contained}.threshold(f.t), []uint64(nil)
	for n, set := range sets {
		ranked = ranked[:0]
		for i, e := range set {
			rank := uint64(0) // the rank of elements that no other set has, regardless of shared counters
			if counts.shared(e) {
				rank = 1 + counts.rankOf(e)
			}
			ranked = append(ranked, rank<<32|uint64(i))
		}
		long := t.long(len(set))
		ordered.Least(ranked, long)
		for _, r := range ranked[:long] {
			all.Keys, all.Vals = append(all.Keys, set[uint32(r)]), append(all.Vals, uint32(n))
		}
	}
	return all
}

// slot returns the slot of an element, or the free slot for it.
func (f *Few) slot(e uint64) *fewSlot {
	mask := uint64(len(f.slots) - 1)
	for at := e * 0x9e3779b97f4a7c15 >> 20; ; at++ {
		if s := &f.slots[at&mask]; s.n == 0 || s.element == e {
			return s
		}
	}
}

// Visits returns the total number of sets that contain each element of a set: roughly the cost of
// a search for the set.
func (f *Few) Visits(set []uint64) (n int) {
	for _, e := range set {
		n += int(f.slot(e).n)
	}
	return n
}

// A FewMatch is a matching set of a Few, by its index, with its similarity.
type FewMatch struct {
	Set   int
	Score float64
}

// A FewFinder finds the sets of a Few that match other sets. It is not safe for concurrent use.
type FewFinder struct {
	Wanted   []uint8 // by set: the number of matches still wanted; nil means all
	few      *Few
	weighted []weightedSlot // FewWeighted
	passed   []uint64       // elements of the current set that pass the filter
	found    []fewSlot
	common   []uint32 // by set of the Few: elements in common with the current set
	shared   []uint32 // sets whose common is not 0
}

// Finder returns a FewFinder.
func (f *Few) Finder() *FewFinder { return &FewFinder{few: f, common: make([]uint32, len(f.sizes))} }

// Append appends the sets that match a set, in their order. The set's elements must be strictly
// ascending; an empty set matches nothing.
func (x *FewFinder) Append(dst []FewMatch, set []uint64) []FewMatch {
	f := x.few
	if f.role == FewWeighted {
		return x.appendWeighted(dst, set)
	}
	x.found, x.passed = x.found[:0], slices.Grow(x.passed[:0], len(set))[:len(set)]
	n, mask := 0, uint64(len(f.filter)-1)
	for _, e := range set { // no branch depends on e, so reads from memory overlap
		x.passed[n] = e
		n += int(f.filter[e/64&mask] >> (e % 64) & 1)
	}
	for _, e := range x.passed[:n] {
		if s := f.slot(e); s.n > 0 {
			x.found = append(x.found, *s)
		}
	}
	overlap := f.leastOverlap(len(set))
	if len(set) == 0 || len(x.found) < overlap {
		return dst
	}
	slices.SortFunc(x.found, func(a, b fewSlot) int { return cmp.Compare(a.n, b.n) })
	x.shared = x.shared[:0]
	// Only sets that share one of the rarest elements can match; the other elements are only
	// counted for them.
	first := len(x.found) - overlap + 1
	for _, s := range x.found[:first] {
		for _, other := range f.lists[s.from : s.from+s.n] {
			if x.common[other]++; x.common[other] == 1 {
				x.shared = append(x.shared, other)
			}
		}
	}
	if len(x.shared) == 0 {
		return dst
	}
	for _, s := range x.found[first:] {
		for _, other := range f.lists[s.from : s.from+s.n] {
			x.common[other]++
		}
	}
	slices.Sort(x.shared)
	for _, other := range x.shared {
		if x.Wanted != nil && x.Wanted[other] == 0 {
			continue
		}
		if s := x.score(set, other); s >= f.t {
			dst = append(dst, FewMatch{int(other), s})
		}
	}
	x.forget()
	return dst
}

// appendWeighted is Append for FewWeighted. Only sets that share an element can match, other than the
// most common ones, whose weights together are below t of the whole.
func (x *FewFinder) appendWeighted(dst []FewMatch, set features.Weighted) []FewMatch {
	f, left := x.few, 0.0
	x.weighted, x.found, x.shared = x.weighted[:0], x.found[:0], x.shared[:0]
	for i, e := range set.Hashes() {
		if s := f.slot(e); s.n > 0 {
			x.weighted = append(x.weighted, weightedSlot{*s, set.Weight(i)})
			left += set.Weight(i)
		}
	}
	slices.SortFunc(x.weighted, func(a, b weightedSlot) int { return cmp.Compare(a.n, b.n) })
	for least := f.t * (1 - rounding) * set.Total(); len(x.found) < len(x.weighted) && left >= least; {
		s := x.weighted[len(x.found)]
		x.found, left = append(x.found, s.fewSlot), left-s.weight
		for _, other := range f.lists[s.from : s.from+s.n] {
			if x.common[other]++; x.common[other] == 1 {
				x.shared = append(x.shared, other)
			}
		}
	}
	slices.Sort(x.shared)
	for _, other := range x.shared {
		if x.Wanted != nil && x.Wanted[other] == 0 {
			continue
		}
		if s, ok := set.JaccardAtLeast(f.sets[other], f.t); ok {
			dst = append(dst, FewMatch{int(other), s})
		}
	}
	x.forget()
	return dst
}

// A weightedSlot is an element of the current set with its weight.
type weightedSlot struct {
	fewSlot
	weight float64
}

// score returns the similarity of the current set with a candidate. If it is below the threshold,
// the result may be any lower value.
func (x *FewFinder) score(set []uint64, other uint32) float64 {
	f, size := x.few, int(x.few.sizes[other])
	switch f.role {
	case FewContained:
		need := int(f.t * float64(size)) // or one more
		return float64(ordered.Common(f.sets[other], set, need)) / float64(size)
	case FewContaining:
		return float64(x.common[other]) / float64(len(set))
	}
	return score(len(set), size, int(x.common[other]))
}

// forget resets common to 0.
func (x *FewFinder) forget() {
	lists := 0
	for _, s := range x.found {
		lists += int(s.n)
	}
	if lists > len(x.common) {
		clear(x.common)
		return
	}
	for _, s := range x.found {
		for _, other := range x.few.lists[s.from : s.from+s.n] {
			x.common[other] = 0
		}
	}
}

// leastOverlap returns the least overlap of a set of a size with any matching set. For
// FewContained it is 1, as it depends on the other set.
func (f *Few) leastOverlap(size int) int {
	if f.role == FewContained {
		return 1
	}
	o := int(f.t * float64(size)) // for FewJaccard, the least overlap is with a subset
	for o > 1 && float64(o-1)/float64(size) >= f.t {
		o--
	}
	for float64(o)/float64(size) < f.t && o < size {
		o++
	}
	return max(o, 1)
}
