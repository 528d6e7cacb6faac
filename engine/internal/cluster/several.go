package cluster

import (
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
)

// Where documents have several fingerprints, these are joined as if each were a document; then what
// is found is folded to documents, which are as near as the nearest of their fingerprints.

// A severalSet is documents of several fingerprints: its items.
type severalSet struct {
	*joinSet          // each item is a group; it has no fingerprints
	rows     *joinSet // the fingerprints
	of       []uint32 // item of each fingerprint
	start    []uint32 // where the fingerprints of each item begin in prints; one more than items
	prints   []uint32 // groups of rows
}

// newSeveralSet gathers the visible documents of v.
func newSeveralSet(ctx context.Context, v *view.View) (*severalSet, error) {
	s := &severalSet{joinSet: &joinSet{v: v, locs: []uint64{}}, rows: &joinSet{v: v}}
	if err := s.rows.addFingerprints(ctx); err != nil {
		return nil, err
	}
	if err := s.documents(ctx); err != nil {
		return nil, err
	}
	return s, ctx.Err()
}

// documents sets the items and their fingerprints.
func (s *severalSet) documents(ctx context.Context) error {
	byID := map[string]uint32{} // items that have codes
	of := make([]uint32, s.rows.items)
	each := func(fn func(i uint32, id []byte, code bool)) error {
		for i := range uint32(s.rows.items) {
			if i%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			id, err := s.rows.place(i).ID()
			if err != nil {
				return err
			}
			id, code := view.Owner(id)
			fn(i, id, code)
		}
		return nil
	}
	err := each(func(_ uint32, id []byte, code bool) {
		if code {
			byID[string(id)] = 0
		}
	})
	if err == nil {
		err = each(func(i uint32, id []byte, code bool) {
			if code {
				return
			}
			of[i] = uint32(s.items)
			if _, ok := byID[string(id)]; ok {
				byID[string(id)] = of[i]
			}
			s.locs = append(s.locs, s.rows.loc(i))
			s.items++
		})
	}
	if err == nil {
		err = each(func(i uint32, id []byte, code bool) {
			if code {
				of[i] = byID[string(id)]
			}
		})
	}
	s.of, s.start, s.prints = of, make([]uint32, s.items+1), make([]uint32, s.rows.items)
	for _, d := range of {
		s.start[d+1]++
	}
	for d := range s.items {
		s.start[d+1] += s.start[d]
	}
	next := slices.Clone(s.start)
	for g := range uint32(s.rows.groups()) {
		for i, hi := s.rows.span(g); i < hi; i++ {
			s.prints[next[of[i]]] = g
			next[of[i]]++
		}
	}
	return err
}

// printsOf returns the fingerprints of an item, as groups of rows.
func (s *severalSet) printsOf(i uint32) []uint32 { return s.prints[s.start[i]:s.start[i+1]] }

// severalPairs returns the pairs of documents within k bits as items, by distance.
func (s *severalSet) severalPairs(ctx context.Context, k int, progress func(view.Progress)) ([][]uint64, error) {
	var all ordered.Pairs // an item<<32 | a greater one, distance
	left := s.v.Most(pairBytes)
	err := s.rows.eachItemPair(ctx, k, progress, func(a, b uint32, distance int) bool {
		if a, b = s.of[a], s.of[b]; a != b {
			left--
			all.Keys = append(all.Keys, uint64(min(a, b))<<32|uint64(max(a, b)))
			all.Vals = append(all.Vals, uint32(distance))
		}
		return left >= 0
	})
	if err == nil && left < 0 {
		err = s.v.OverBudget("pairs")
	}
	if err != nil {
		return nil, err
	}
	sorting(progress)
	all = ordered.SortPairs(all, ordered.MakePairs(len(all.Keys)))
	found := make([][]uint64, s.v.Bits()+1)
	for from, to := 0, 0; from < len(all.Keys); from = to {
		for to = from + 1; to < len(all.Keys) && all.Keys[to] == all.Keys[from]; to++ {
		}
		least := slices.Min(all.Vals[from:to])
		found[least] = append(found[least], all.Keys[from])
	}
	return found, ctx.Err()
}

// distance returns the distance of two items.
func (s *severalSet) distance(a, b uint32) int {
	least := s.v.Bits()
	for _, x := range s.printsOf(a) {
		for _, y := range s.printsOf(b) {
			least = min(least, s.rows.fps.Distance(x, y))
		}
	}
	return least
}
