package cluster

import (
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// A joinSet is what a self-join of a snapshot works on: its visible documents with fingerprints, or
// with sketches, in groups. Documents of equal fingerprint are a group: they are joined as one, and
// only the results are expanded to documents again. By sketch every document is a group of its own.
// An item is such a document, by its number in the order of groups.
type joinSet struct {
	v        *view.View
	items    int
	locs     []uint64            // where items are; nil where item i is document i of the only table
	first    []uint32            // first[g] is where the items of group g begin; one more than groups; nil where item g is group g
	fps      selfjoin.Columns    // by fingerprint: of each group, ascending
	several  *selfjoin.Documents // of each group: numbers in fps; nil where group g has fingerprint g
	sketches []minhash.Sketch    // by sketch: of each group
	sets     []uint32            // by sketch or text: of each item, the first item whose set of shingles, or text, is equal
	text     *textSet            // by text; nil otherwise
	next     []uint32            // by sketch or text: of each item, the next one of its set, or the item itself
}

// groups returns how many groups there are.
func (j *joinSet) groups() int {
	if j.first == nil {
		return j.items
	}
	return len(j.first) - 1
}

// span returns the items of group g: from lo on, and below hi.
func (j *joinSet) span(g uint32) (lo, hi uint32) {
	if j.first == nil {
		return g, g + 1
	}
	return j.first[g], j.first[g+1]
}

// A loc says where an item is: part<<32 | document. Parts after the version's tables are
// memtables.
func (j *joinSet) loc(i uint32) uint64 {
	if j.locs == nil {
		return uint64(i)
	}
	return j.locs[i]
}

// memLoc returns the loc of a document of memtable i.
func (j *joinSet) memLoc(i int, doc uint32) uint64 {
	return uint64(len(j.v.Version.Parts)+i)<<32 | uint64(doc)
}

// place returns where item i is.
func (j *joinSet) place(i uint32) view.Place {
	loc := j.loc(i)
	at, doc := int(loc>>32), uint32(loc)
	if tables := len(j.v.Version.Parts); at >= tables {
		return view.Place{Mem: j.v.Mems[at-tables].Docs[doc]}
	}
	return view.Place{Part: &j.v.Version.Parts[at], Doc: doc}
}

// match returns how group f compares with group g, by fingerprints or sketches.
func (j *joinSet) match(f, g uint32) view.Match {
	if j.sketches == nil {
		return view.Match{Distance: j.distance(f, g)}
	}
	s := j.estimate(f, g)
	return view.Match{Score: s.Score, Error: s.Error, Exact: s.Exact}
}

// estimate returns the score of two items by their sketches.
func (j *joinSet) estimate(a, b uint32) minhash.Score {
	return minhash.Jaccard(j.sketches[a], j.sketches[b], int(j.v.Params.Sketch))
}
