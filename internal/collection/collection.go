// Package collection joins items with each other: it finds all pairs of items that match, and forms
// clusters of them. Whoever has the items, a view of a database or documents of files, gathers what
// they are compared by; everything from there to ordered rows is here.
//
//	classes.go     items that are joined as one
//	groups.go      which items may match: those of two groups, or of one
//	pairs.go       pairs as they are found, and how many they are
//	sorted.go      pairs in order: the best match first, then by the ranks of the two items
//	prints.go      stars and components by fingerprints
//	keepers.go     stars and components by either
//	clusters.go    clusters in order: the largest first
package collection

import (
	"context"

	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// A Collection is items, by number, and what they are compared by: fingerprints, or with Sets sets.
type Collection struct {
	Items   int     // how many there are
	Classes Classes // of items that are joined as one; stars don't look at them
	Groups  *Groups // which items may match; nil: any two

	Prints selfjoin.Columns    // of classes, ascending and distinct
	Docs   *selfjoin.Documents // of each class: its numbers in Prints; nil: class c has number c
	K      int                 // bits that those of a match may differ in

	Sets  func(items []uint32) (*Sets, error)                   // those of some items, in their order; nil: of all
	T     float64                                               // the least score of a match
	Equal func(a, b uint32) (score float64, ok bool, err error) // of two items of a class; nil: 1

	// Rank returns ranks for items that are in pairs, which are below a number.
	Rank   func(ctx context.Context, in ItemSet) (of func(item uint32) uint32, n int, err error)
	Report func(stage string, done, total int64) // may be nil
}

// Sets are sets of items.
type Sets struct {
	*setjoin.Sets
	Of      []uint32        // of each set: the item; nil: set i is that of item i
	Options setjoin.Options // of joins
	// Compare returns the scores of sets with others.
	Compare func(ctx context.Context, partner []uint32) ([]float64, error)
}

// item returns the item of a set.
func (s *Sets) item(set int) uint32 {
	if s.Of == nil {
		return uint32(set)
	}
	return s.Of[set]
}

// progress returns what a join reports to. What it counts is its own affair, documents times passes:
// the share of it that is done is told as documents.
func (c *Collection) progress() func(done, total int64) {
	if c.Report == nil {
		return nil
	}
	return func(done, total int64) {
		share := float64(done) / float64(max(total, 1))
		c.Report("join", int64(share*float64(c.Items)), int64(c.Items))
	}
}

// sorting reports that pairs or clusters are sorted, of which nothing can be counted.
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
