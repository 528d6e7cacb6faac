package setjoin

import "sync"

// A Family is sets that are one set with a few changes each, the pivot: a crowd (crowd.go) whose
// members come one by one. It finds those that are similar to a set, exactly, in about the time
// that it takes to read the lists of the elements by which that set differs from the pivot. Any
// number of goroutines may ask while none adds.
type Family struct {
	crowd crowd
	bytes int64
}

// FamilySample is how many sets are enough to find out what most sets of a family have in common.
const FamilySample = crowdSample

// elementBytes is about what an element of a difference takes that no other member has.
const elementBytes = 64

// NewFamily returns a family without members whose pivot is what most of some sets have. It does
// not keep these. Elements are strictly ascending.
func NewFamily(sets [][]uint64) *Family {
	pivot := majority(sets)
	return &Family{crowd: crowd{pivot: pivot}, bytes: 8 * int64(len(pivot))}
}

// Bytes returns about how many bytes the family takes.
func (f *Family) Bytes() int64 { return f.bytes }

// Add makes a set a member with a number, unless it differs too much from the pivot.
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

// familyFinders are the finders of Family.Similar.
var familyFinders = sync.Pool{New: func() any { return new(finder) }}

// Similar appends the numbers of all members whose Jaccard similarity to a set is t or more to dst.
// It returns false instead if the set has so little in common with the pivot that few members, if
// any, can be similar to it.
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
