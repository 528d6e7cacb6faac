package selfjoin

import (
	"context"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// Forest is a union-find structure: a partition of the numbers 0..n-1 that starts as n sets of
// one (Tarjan and van Leeuwen's path halving). Each set is named by its least member, so the
// names don't depend on the order of the unions.
type Forest struct{ parent []uint32 }

// NewForest returns the partition of 0..n-1 into sets of one. It uses 4 bytes for each number.
func NewForest(n int) *Forest {
	return &Forest{parent: ordered.Numbers(n)}
}

// Find returns the least member of the set that i is in.
func (f *Forest) Find(i uint32) uint32 {
	p := f.parent
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

// Root is Find without modification, so it is safe for concurrent use with itself.
func (f *Forest) Root(i uint32) uint32 {
	for f.parent[i] != i {
		i = f.parent[i]
	}
	return i
}

// Union merges the sets of i and j, and reports whether they were different. The larger root
// becomes a child of the smaller one, regardless of depth: with path halving this still costs
// O(log n) per call, amortised.
func (f *Forest) Union(i, j uint32) bool {
	i, j = f.Find(i), f.Find(j)
	switch {
	case i == j:
		return false
	case i < j:
		f.parent[j] = i
	default:
		f.parent[i] = j
	}
	return true
}

// Labels returns, for each number, the least member of its set. Later method calls modify the
// result.
func (f *Forest) Labels() []uint32 {
	for i := range f.parent { // parents are smaller than children, so theirs are final
		f.parent[i] = f.parent[f.parent[i]]
	}
	return f.parent
}

// Components returns, for each document, the first document of its component; documents within k
// bits of each other are in one component. fps must be ascending and distinct.
func Components(ctx context.Context, fps Columns, docs Documents, k int, o Options) ([]uint32, error) {
	label, err := components(ctx, fps, docs, k, o, 4*fps.Len()+1<<20)
	if err != nil {
		return nil, err
	}
	of, first := make([]uint32, docs.Len()), make([]uint32, fps.Len()) // by component: its first document + 1
	for p := range uint32(len(of)) {
		l := &first[label[docs.Of(p)[0]]]
		if *l == 0 {
			*l = p + 1
		}
		of[p] = *l - 1
	}
	return of, nil
}

// Preferred returns, for each document, the first document of its component in an order. label
// gives each document's component, as a number below the number of documents.
func Preferred(label, order []uint32) []uint32 {
	first, of := make([]uint32, len(label)), make([]uint32, len(label)) // by component: its first document + 1
	for _, n := range order {
		l := &first[label[n]]
		if *l == 0 {
			*l = n + 1
		}
		of[n] = *l - 1
	}
	return of
}

// components returns, for each fingerprint, the least fingerprint of its component; fingerprints
// within k bits of each other, or of one document, are in one component.
//
// If there are more pairs than budget, it first finds keepers as Stars does, and connects only
// fingerprints within k bits of a keeper. A second join then skips groups and pairs that are
// already connected.
func components(ctx context.Context, fps Columns, docs Documents, k int, o Options, budget int) ([]uint32, error) {
	f := NewForest(fps.Len())
	for p := range docs.Ends {
		for own := docs.Of(uint32(p)); len(own) > 1; own = own[1:] {
			f.Union(own[0], own[1])
		}
	}
	union := func(i, j uint32, _ int) bool {
		f.Union(i, j)
		return true
	}
	left := budget
	err := Pairs(ctx, fps, k, o, func(i, j uint32, _ int) bool {
		f.Union(i, j)
		left--
		return left >= 0
	})
	if err != nil || left >= 0 {
		return f.Labels(), err
	}
	s := newClustering(fps, Documents{Codes: make([]uint32, fps.Len())}, k, o)
	marked := make([]bool, fps.Len())
	for i := range s.docs.Codes {
		s.docs.Codes[i] = uint32(i)
	}
	if err := s.findKeepers(ctx, budget); err != nil {
		return nil, err
	}
	for i, q := range s.keeper {
		marked[i] = q != none
	}
	if err := pairs(ctx, fps, k, o, marked, nil, union); err != nil {
		return nil, err
	}
	if err := pairs(ctx, fps, k, o, nil, slices.Clone(f.Labels()), union); err != nil {
		return nil, err
	}
	return f.Labels(), nil
}
