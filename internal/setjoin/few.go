package setjoin

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/vfs"
)

// A Few joins a few sets, whose elements are held in memory, with any number of others that come
// one by one and are not kept.
//
// A set that matches another one shares at least some overlap o with it. So one of its elements
// other than any o-1 of them is in the other set: the o-1 in most sets of the Few need not be
// looked up. Where o is known of the sets of the Few, it is these elements that are not in the
// table, and what is met is compared. Otherwise elements in none of the sets count among those that
// are not looked up, so that most sets, which have few elements of any, are done with when their
// elements have been looked for.
type Few struct {
	t      float64
	role   FewRole
	sizes  []uint32 // of the sets
	filter []uint64 // a bit for each element of the table, by its last bits
	slots  []fewSlot
	lists  []uint32   // of the elements one after the other: the sets that each is in, ascending
	sets   [][]uint64 // of FewContained
}

// A FewRole says what sets of a Few match another one.
type FewRole uint8

// The roles.
const (
	FewAlike      FewRole = iota // those of some Jaccard similarity with it
	FewContained                 // those of which it has a share of the elements
	FewContaining                // those that have a share of its elements
)

// A fewSlot is an element in the table of a Few, which has a free slot after each run of others.
type fewSlot struct {
	element uint64
	from, n uint32 // its part of lists; no n is 0
}

// FewBytes is about how many bytes an element of a set takes while a Few is made that finds matches
// from a share t on.
func FewBytes(t float64, role FewRole) int64 {
	const inTable, inSets = 80, 12
	if role == FewContained {
		return inSets + int64((1-t)*inTable)
	}
	return inTable
}

// NewFew returns a Few of sets, whose elements are strictly ascending, that finds matches from a
// share t on. FewContained keeps the sets.
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

// entries returns the elements of the table and their sets, these ascending: of FewContained the
// rarest elements of each set.
func (f *Few) entries(sets [][]uint64) (all ordered.Pairs) {
	elements := 0
	for _, set := range sets {
		elements += len(set)
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
			rank := uint64(0) // of what no other set has, whatever it shares a counter with
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

// slot returns the slot of an element, or the free one where it would be.
func (f *Few) slot(e uint64) *fewSlot {
	mask := uint64(len(f.slots) - 1)
	for at := e * 0x9e3779b97f4a7c15 >> 20; ; at++ {
		if s := &f.slots[at&mask]; s.n == 0 || s.element == e {
			return s
		}
	}
}

// Visits returns how many sets the elements of a set are in, with repetitions: about what it takes
// to look for what is similar to it.
func (f *Few) Visits(set []uint64) (n int) {
	for _, e := range set {
		n += int(f.slot(e).n)
	}
	return n
}

// A FewMatch is a set of a Few, by its place, and how well it matches.
type FewMatch struct {
	Set   int
	Score float64
}

// A FewFinder finds the sets of a Few that others match. It serves one goroutine.
type FewFinder struct {
	Wanted []uint8 // by set: matches of it that are still wanted; nil for all
	few    *Few
	passed []uint64 // elements of the current set that the filter lets pass
	found  []fewSlot
	common []uint32 // of each set of the Few: elements in common with the current set
	met    []uint32 // sets whose common is not 0
}

// Finder returns a FewFinder.
func (f *Few) Finder() *FewFinder { return &FewFinder{few: f, common: make([]uint32, len(f.sizes))} }

// Append appends the sets that a set matches, in their order. Its elements are strictly ascending;
// a set without any matches none.
func (x *FewFinder) Append(dst []FewMatch, set []uint64) []FewMatch {
	f := x.few
	x.found, x.passed = x.found[:0], slices.Grow(x.passed[:0], len(set))[:len(set)]
	n, mask := 0, uint64(len(f.filter)-1)
	for _, e := range set { // without a branch that depends on e, so that reads from memory overlap
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
	x.met = x.met[:0]
	// Those that share the rarest elements alone can match: with others, only what they share is
	// counted.
	first := len(x.found) - overlap + 1
	for _, s := range x.found[:first] {
		for _, other := range f.lists[s.from : s.from+s.n] {
			if x.common[other]++; x.common[other] == 1 {
				x.met = append(x.met, other)
			}
		}
	}
	if len(x.met) == 0 {
		return dst
	}
	for _, s := range x.found[first:] {
		for _, other := range f.lists[s.from : s.from+s.n] {
			x.common[other]++
		}
	}
	slices.Sort(x.met)
	for _, other := range x.met {
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

// score returns how well the current set matches one that was met. If that is below the threshold,
// it may be anything below.
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

// forget sets all of common to 0.
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

// leastOverlap returns how many elements a set of a size shares at least with any that matches: of
// FewContained one, as that depends on the other set.
func (f *Few) leastOverlap(size int) int {
	if f.role == FewContained {
		return 1
	}
	o := int(f.t * float64(size)) // of FewAlike, a set that is a part of it
	for o > 1 && float64(o-1)/float64(size) >= f.t {
		o--
	}
	for float64(o)/float64(size) < f.t && o < size {
		o++
	}
	return max(o, 1)
}
