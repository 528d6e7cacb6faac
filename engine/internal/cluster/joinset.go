package cluster

import (
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// A joinSet is what a self-join of a snapshot works on: its visible documents with fingerprints, or
// with sketches or texts. An item is such a document, by its number; by fingerprint, items are in the
// order of classes. Clusters are formed of groups: by fingerprint classes, else single items.
type joinSet struct {
	v        *view.View
	by       view.Criterion
	progress func(view.Progress)
	items    int
	locs     []uint64            // where items are; nil where item i is document i of the only table
	classes  collection.Classes  // items of equal fingerprint, sketch, set of shingles or text
	fps      selfjoin.Columns    // by fingerprint: of each class, ascending
	several  *selfjoin.Documents // of each class: numbers in fps; nil where class c has fingerprint c
	sketches []minhash.Sketch    // by sketch: of each item
	text     *textSet            // by text; nil otherwise
}

// groups returns the groups of items.
func (j *joinSet) groups() collection.Classes {
	if j.by.Near() {
		return j.classes
	}
	return collection.Classes{N: j.items}
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

// match returns how two items, or by fingerprint two groups, match, given the score of items or less
// the distance of groups.
func (j *joinSet) match(a, b uint32, match float64) view.Match {
	switch {
	case j.by.Near():
		return view.Match{Distance: int(-match)}
	case j.sketches == nil:
		return view.Match{Score: match, Exact: true}
	}
	s := minhash.Jaccard(j.sketches[a], j.sketches[b], int(j.v.Params.Sketch))
	return view.Match{Score: s.Score, Error: s.Error, Exact: s.Exact}
}
