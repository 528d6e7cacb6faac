package cluster

import (
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// A joinSet holds the input of a self-join of a snapshot: its visible documents with
// fingerprints, or with sketches or texts. Items are numbers of such documents; for fingerprints,
// items are in the order of classes. Clusters are formed of groups, which are classes for
// fingerprints, else single items.
type joinSet struct {
	v        *view.View
	by       view.Criterion
	progress func(view.Progress)
	items    int
	locs     []uint64            // places of items; nil if item i is document i of the only table
	classes  collection.Classes  // items with equal fingerprints, sketches, sets of shingles or texts
	fps      selfjoin.Columns    // for fingerprints: by class, ascending
	several  *selfjoin.Documents // by class: its numbers in fps; nil if class c has fingerprint c
	sketches []minhash.Sketch    // for sketches: by item
	text     *textSet            // for texts; otherwise nil
}

// groups returns the groups that clusters are formed of.
func (j *joinSet) groups() collection.Classes {
	if j.by.Near() {
		return j.classes
	}
	return collection.Classes{N: j.items}
}

// loc returns the place of an item: part<<32 | document. Parts after the version's tables are
// memtables.
func (j *joinSet) loc(i uint32) uint64 {
	if j.locs == nil {
		return uint64(i)
	}
	return j.locs[i]
}

// memLoc returns the loc of a document in memtable i.
func (j *joinSet) memLoc(i int, doc uint32) uint64 {
	return uint64(len(j.v.Version.Parts)+i)<<32 | uint64(doc)
}

// place returns the place of item i.
func (j *joinSet) place(i uint32) view.Place {
	loc := j.loc(i)
	at, doc := int(loc>>32), uint32(loc)
	if tables := len(j.v.Version.Parts); at >= tables {
		return view.Place{Mem: j.v.Mems[at-tables].Docs[doc]}
	}
	return view.Place{Part: &j.v.Version.Parts[at], Doc: doc}
}

// match returns the match of two items, or of two groups for fingerprints. match is the score of
// the items, or minus the distance of the groups.
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
