package setjoin

import (
	"cmp"
	"slices"
)

// A Few joins a few sets, whose elements are held in memory, with any number of others that come
// one by one and are not kept. It is for Jaccard similarity.
//
// A set that is similar to another one shares at least its least overlap o with it. So one of its
// elements other than any o-1 of them is in the other set: the o-1 in most sets of the Few need not
// be looked up. Elements in none of them count among the others, so that most sets, which have few
// elements of any, are done with when their elements have been looked for.
type Few struct {
	t      float64
	sizes  []uint32 // of the sets
	filter []uint64 // a bit for each element of any set, by its last bits
	slots  []fewSlot
	lists  []uint32 // of the elements one after the other: the sets that each is in, ascending
}

// A fewSlot is an element in the table of a Few, which has a free slot after each run of others.
type fewSlot struct {
	element uint64
	from, n uint32 // its part of lists; no n is 0
}

// FewBytes is about how many bytes an element of a set takes while a Few is made.
const FewBytes = 96

// NewFew returns a Few of sets, whose elements are strictly ascending, that finds similarities from
// t on. It does not keep the sets.
func NewFew(sets [][]uint64, t float64) *Few {
	type entry struct {
		element uint64
		set     uint32
	}
	elements := 0
	for _, set := range sets {
		elements += len(set)
	}
	all := make([]entry, 0, elements)
	for n, set := range sets {
		for _, e := range set {
			all = append(all, entry{e, uint32(n)})
		}
	}
	slices.SortFunc(all, func(x, y entry) int { return cmp.Or(cmp.Compare(x.element, y.element), cmp.Compare(x.set, y.set)) })
	size := 64
	for size < 2*len(all) {
		size *= 2
	}
	f := &Few{t: t, sizes: make([]uint32, len(sets)), filter: make([]uint64, size/8), slots: make([]fewSlot, size), lists: make([]uint32, len(all))}
	for n, set := range sets {
		f.sizes[n] = uint32(len(set))
	}
	for i, e := range all {
		f.lists[i] = e.set
		if i == 0 || e.element != all[i-1].element {
			f.insert(e.element, uint32(i))
		}
		f.slot(e.element).n++
	}
	return f
}

// insert makes a slot for an element.
func (f *Few) insert(e uint64, from uint32) {
	f.filter[e/64%uint64(len(f.filter))] |= 1 << (e % 64)
	*f.slot(e) = fewSlot{element: e, from: from}
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

// A FewMatch is a set of a Few, by its place, and how similar it is.
type FewMatch struct {
	Set   int
	Score float64
}

// A FewFinder finds the sets of a Few that others are similar to. It serves one goroutine.
type FewFinder struct {
	few    *Few
	found  []fewSlot
	common []uint32 // of each set of the Few: elements in common with the current set
	met    []uint32 // sets whose common is not 0
}

// Finder returns a FewFinder.
func (f *Few) Finder() *FewFinder { return &FewFinder{few: f, common: make([]uint32, len(f.sizes))} }

// Append appends the sets that a set is similar to, in their order. Its elements are strictly
// ascending; a set without any is similar to none.
func (x *FewFinder) Append(dst []FewMatch, set []uint64) []FewMatch {
	f := x.few
	x.found = x.found[:0]
	for _, e := range set {
		if f.filter[e/64%uint64(len(f.filter))]>>(e%64)&1 == 0 {
			continue
		}
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
	// Those that share the rarest elements alone can be similar: with others, only what they share
	// is counted.
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
		if s := score(len(set), int(f.sizes[other]), int(x.common[other])); s >= f.t {
			dst = append(dst, FewMatch{int(other), s})
		}
	}
	x.forget()
	return dst
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

// leastOverlap returns how many elements a set of a size shares at least with any similar one.
func (f *Few) leastOverlap(size int) int {
	o := int(f.t * float64(size))
	for o > 1 && score(size, o-1, o-1) >= f.t {
		o--
	}
	for score(size, o, o) < f.t && o < size {
		o++
	}
	return max(o, 1)
}
