// Package collection joins items with each other: it finds all pairs of matching items, and forms
// clusters. Its callers, a view of a database or documents of files, provide the features to
// compare; this package does everything from there to ordered rows.
//
//	classes.go       items that are joined as one
//	groups.go        which items may match: across groups, or within one
//	pairs.go         pairs in the order in which they are found, and their number
//	sorted.go        pairs ordered by similarity, then by the ranks of the two items
//	fingerprints.go  stars and components by fingerprints
//	keepers.go       stars and components by fingerprints or sets
//	clusters.go      clusters ordered by decreasing size
package collection

import (
	"context"

	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// A Collection is items, identified by number, with their fingerprints, or with Sets their sets.
type Collection struct {
	Items   int     // number of items
	Classes Classes // items that are joined as one; stars ignore them
	Groups  *Groups // which items may match; nil: any two

	Fingerprints selfjoin.Columns    // of classes, ascending and distinct
	Docs         *selfjoin.Documents // by class: its numbers in Fingerprints; nil: class c has number c
	K            int                 // greatest distance of a match in bits

	Sets  func(items []uint32) (*Sets, error)                   // returns the sets of some items, in their order; nil: of all items
	T     float64                                               // least score of a match
	Equal func(a, b uint32) (score float64, ok bool, err error) // compares two items of a class; nil: the score is 1

	// Rank ranks the items that are in pairs; n is above all ranks.
	Rank   func(ctx context.Context, in ItemSet) (of func(item uint32) uint32, n int, err error)
	Report func(stage string, done, total int64) // may be nil
}

// Sets are sets of items.
type Sets struct {
	*setjoin.Sets
	Of      []uint32        // by set: its item; nil: set i belongs to item i
	Options setjoin.Options // for joins
	// Compare returns the score of each set with its partner.
	Compare func(ctx context.Context, partner []uint32) ([]float64, error)
}

// item returns the item of a set.
func (s *Sets) item(set int) uint32 {
	if s.Of == nil {
		return uint32(set)
	}
	return s.Of[set]
}

// progress returns the progress function of a join. Joins count documents times passes, or other
// units; progress reports the share that is done as documents.
func (c *Collection) progress() func(done, total int64) {
	if c.Report == nil {
		return nil
	}
	return func(done, total int64) {
		share := float64(done) / float64(max(total, 1))
		c.Report("join", int64(share*float64(c.Items)), int64(c.Items))
	}
}

// sorting reports that pairs or clusters are being sorted, which has no count.
func (c *Collection) sorting() {
	if c.Report != nil {
		c.Report("sort", 0, 0)
	}
}

// setsOf returns the sets of some items, with the options of a join.
func (c *Collection) setsOf(items []uint32) (*Sets, setjoin.Options, error) {
	s, err := c.Sets(items)
	if err != nil {
		return nil, setjoin.Options{}, err
	}
	o := s.Options
	if told := c.progress(); told != nil {
		o.Progress = func(done, total int) { told(int64(done), int64(total)) }
	}
	return s, o, nil
}
