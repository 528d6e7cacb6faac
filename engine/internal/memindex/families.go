package memindex

import (
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
)

// Families store the shingle sets of those documents of a table or memtable that are one text with
// a few changes each. If a threshold lies among the similarities of such documents, each of these
// looks similar to all others by its sketch but has few or no matches. Searches record the
// documents that they have compared without a match, and later searches ask the families instead of
// comparing these documents again. The zero value is ready to use; any number of goroutines may use
// it.
type Families struct {
	mu     sync.RWMutex
	all    []*family
	vain   int     // how often documents had too little in common to form a family
	from   *Budget // budget that the families are charged to
	bytes  int64
	closed bool
}

type family struct {
	sets    *setjoin.Family
	members []uint64 // a bit for each document; replaced, never changed
	n       int      // number of members
	ours    bool     // members was copied by the running Learn, which may change it
}

// bytes returns the approximate size of the family.
func (y *family) bytes() int64 { return y.sets.Bytes() + 8*int64(len(y.members)) }

// A noted document is a candidate for membership.
type noted struct {
	doc uint32
	set features.Hashes
}

// Notes are documents that a search has compared, with their sets.
type Notes struct {
	docs     []noted
	elements int
}

// Notes are learned before they exceed these numbers of documents and elements.
const (
	mostNoted    = 64
	mostElements = 1 << 17
)

// leastFamily is the smallest number of documents, compared with one query, that may form a family.
// mostVain is how many attempts may fail because the documents had too little in common.
const (
	leastFamily = setjoin.FamilySample
	mostVain    = 16
)

// Note records a document and a copy of its set. It ignores very large sets, because too few of
// that size could be learned together. It returns true if it is time to learn.
func (n *Notes) Note(doc uint32, set features.Hashes) (full bool) {
	if len(set) > mostElements/leastFamily {
		return false
	}
	n.docs = append(n.docs, noted{doc, slices.Clone(set)})
	n.elements += len(set)
	return len(n.docs) >= mostNoted || n.elements >= mostElements
}

// Empty reports whether there are no notes.
func (n *Notes) Empty() bool { return len(n.docs) == 0 }

// An Exclusion is the set of family members that are known not to match. The zero value is empty.
type Exclusion struct {
	N       int        // members of the families that were asked
	members [][]uint64 // members of each family, a bit per document
	matches []uint32   // members that do match, ascending
}

// Matches returns how many members of these families match.
func (x *Exclusion) Matches() int { return len(x.matches) }

// Has reports whether a document is excluded.
func (x *Exclusion) Has(doc uint32) bool {
	if !slices.ContainsFunc(x.members, func(f []uint64) bool { return has(f, doc) }) {
		return false
	}
	_, matches := slices.BinarySearch(x.matches, doc)
	return !matches
}

// has reports whether a bit set contains a document.
func has(set []uint64, doc uint32) bool {
	return int(doc/64) < len(set) && set[doc/64]>>(doc%64)&1 == 1
}

// Empty reports whether there are no families.
func (f *Families) Empty() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.all) == 0
}

// Exclude returns the members of families whose similarity to a set is less than t.
func (f *Families) Exclude(set features.Hashes, t float64) (x Exclusion) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, y := range f.all {
		var ok bool
		if x.matches, ok = y.sets.Similar(x.matches, set, t); ok {
			x.members = append(x.members, y.members)
			x.N += y.n
		}
	}
	slices.Sort(x.matches)
	return x
}

// Learn adds documents, noted by one search, to existing families or a new one, as far as the
// budget allows and the documents have enough in common. It empties the notes.
func (f *Families) Learn(b *Budget, n *Notes) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var others []noted
	for _, d := range n.docs {
		if f.closed || !b.fits(int64(len(d.set))*setBytes) {
			break
		}
		f.from = b
		if !slices.ContainsFunc(f.all, func(y *family) bool { return has(y.members, d.doc) || f.add(y, d) }) {
			others = append(others, d)
		}
	}
	if len(others) >= leastFamily && f.vain < mostVain {
		f.found(others)
	}
	for _, y := range f.all {
		y.ours = false
	}
	clear(n.docs)
	n.docs, n.elements = n.docs[:0], 0
}

// setBytes is about the largest memory that an element of a set needs while it is learned.
const setBytes = 64

// found makes documents a family, unless fewer than half have enough in common.
func (f *Families) found(docs []noted) {
	sets := make([][]uint64, setjoin.FamilySample)
	for i := range sets {
		sets[i] = docs[i*len(docs)/len(sets)].set
	}
	y := &family{sets: setjoin.NewFamily(sets)}
	f.take(y.sets.Bytes())
	for _, d := range docs {
		if !has(y.members, d.doc) {
			f.add(y, d)
		}
	}
	if y.n < len(docs)/2 {
		f.take(-y.bytes())
		f.vain++
		return
	}
	f.all = append(f.all, y)
}

// add makes a document a member of a family, if it has enough in common with it.
func (f *Families) add(y *family, d noted) bool {
	before := y.bytes()
	if !y.sets.Add(d.doc, d.set) {
		return false
	}
	if !y.ours {
		y.members, y.ours = slices.Clone(y.members), true
	}
	if more := int(d.doc/64) + 1 - len(y.members); more > 0 {
		y.members = append(y.members, make([]uint64, more)...)
	}
	y.members[d.doc/64] |= 1 << (d.doc % 64)
	y.n++
	f.take(y.bytes() - before)
	return true
}

// take charges the budget, which the caller must have checked.
func (f *Families) take(bytes int64) {
	f.from.left.Add(-bytes)
	f.bytes += bytes
}

// GiveBack forgets the families, and returns their memory to the budget. Nothing can be learned
// afterwards.
func (f *Families) GiveBack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed = true; f.from != nil {
		f.take(-f.bytes)
	}
	f.all = nil
}
