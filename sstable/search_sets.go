package sstable

import (
	"github.com/simdb/simdb/sstable/internal/contain"
	"github.com/simdb/simdb/sstable/internal/table"
)

// SetQuery is a search for the documents that hold at least the share T of a set of features, or of
// which the set holds that share at least:
//
//	type SetQuery struct {
//		Set    []uint64 // hashes of features, which ascend
//		T      float64
//		Within bool // the share is that of the document's set that is in Set
//		Most   int  // documents that may be counted, at SetDocBytes of memory each
//	}
type SetQuery = contain.Query

// SetDocBytes is what a document takes that a search by sets counts.
const SetDocBytes = contain.DocBytes

// SetCandidates appends the documents to dst that may be what a query looks for, ascending: all
// that are, and few others. Read is how many entries of the index were read for it. It returns
// false if there is no index, or reading all texts takes less time.
func (r *Reader) SetCandidates(dst []uint32, q SetQuery) (docs []uint32, read int, ok bool, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if r.t.Sets == nil {
		return dst, 0, false, nil
	}
	return r.t.Sets.Candidates(dst, q)
}

// RunCandidates is SetCandidates for the documents that may have all of some number of features, 1
// or more, that follow each other in features.
func (r *Reader) RunCandidates(dst []uint32, features []uint64, number, most int) (docs []uint32, read int, ok bool, err error) {
	defer r.t.Unguard(table.Guard(), &err)
	if r.t.Sets == nil {
		return dst, 0, false, nil
	}
	return r.t.Sets.Runs(dst, features, number, most)
}
