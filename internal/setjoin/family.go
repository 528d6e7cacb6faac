package setjoin

import "sync"

// A Family is a collection of variants of one set, the pivot, with a few changes each: a crowd
// (crowd.go) whose members are added one by one. It finds the members that are similar to a set,
// exactly, roughly in the time it takes to read the lists of the elements that distinguish that
// set from the pivot. Concurrent searches are safe while no member is added.
type Family struct {
	crowd crowd
	bytes int64
}

// FamilySample is the number of sets that suffice to find a family's pivot.
const FamilySample = crowdSample

// elementBytes is the approximate memory of a difference's element that no other member has.
const elementBytes = 64

// NewFamily returns an empty family whose pivot is the majority of some sets, which it does not
// retain. Elements must be strictly ascending.
func NewFamily(sets [][]uint64) *Family {
	pivot := majority(sets)
	return &Family{crowd: crowd{pivot: pivot}, bytes: 8 * int64(len(pivot))}
}

// Bytes returns the approximate memory of the family.
func (f *Family) Bytes() int64 { return f.bytes }

// Add adds a set as a member with a number. It returns false if the set differs too much from the
// pivot.
func (f *Family) Add(number uint32, set []uint64) bool {
	differs, missing := f.crowd.difference(nil, set, nil)
	if len(differs) > len(set)/crowdShare {
		return false
	}
	if f.crowd.add(number, len(set), missing, differs) {
		f.bytes += chunkBytes
	}
	f.bytes += elementBytes * int64(len(differs))
	return true
}

// familyFinders recycles the finders of Family.Similar.
var familyFinders = sync.Pool{New: func() any { return new(finder) }}

// Similar appends to dst the numbers of all members whose Jaccard similarity to a set is at least
// t. It returns false if the set has so little in common with the pivot that few members, if any,
// can be similar to it.
func (f *Family) Similar(dst []uint32, set []uint64, t float64) ([]uint32, bool) {
	x := familyFinders.Get().(*finder)
	defer familyFinders.Put(x)
	if x.differs, _ = f.crowd.difference(x.differs[:0], set, nil); len(x.differs) > len(set) {
		return dst, false
	}
	x.found = x.found[:0]
	x.members(&f.crowd, new(crowds), &prefix{set: set, size: len(set)}, newThreshold(t), false)
	return append(dst, x.found...), true
}
