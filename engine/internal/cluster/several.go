package cluster

import (
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
)

// foldCodes combines the items of each document into one. Before, each fingerprint is an item;
// afterwards a document has several fingerprints, which are numbers of the former groups.
func (j *joinSet) foldCodes(ctx context.Context) error {
	rows := *j
	each := func(fn func(i uint32, id []byte, code bool)) error {
		for i := range uint32(rows.items) {
			if i%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			id, err := rows.place(i).ID()
			if err != nil {
				return err
			}
			id, code := view.Owner(id)
			fn(i, id, code)
		}
		return nil
	}
	byID := map[string]uint32{} // documents that have codes
	err := each(func(_ uint32, id []byte, code bool) {
		if code {
			byID[string(id)] = 0
		}
	})
	if err != nil {
		return err
	}
	j.items, j.locs, j.classes = 0, []uint64{}, collection.Classes{}
	of := make([]uint32, rows.items) // by fingerprint: its document
	err = each(func(i uint32, id []byte, code bool) {
		if code {
			return
		}
		of[i] = uint32(j.items)
		if _, ok := byID[string(id)]; ok {
			byID[string(id)] = of[i]
		}
		j.locs = append(j.locs, rows.loc(i))
		j.items++
	})
	if err != nil {
		return err
	}
	err = each(func(i uint32, id []byte, code bool) {
		if code {
			of[i] = byID[string(id)]
		}
	})
	if err != nil {
		return err
	}
	prints := make([][]uint32, j.items)
	j.classes.N = j.items
	for g := range uint32(rows.classes.N) {
		s := rows.classes.Span(g)
		for i := s.Lo; i < s.Hi; i++ {
			if own := &prints[of[i]]; len(*own) == 0 || (*own)[len(*own)-1] != g {
				*own = append(*own, g)
			}
		}
	}
	j.several = &selfjoin.Documents{Codes: slices.Concat(prints...)}
	n := uint32(0)
	for _, own := range prints {
		n += uint32(len(own))
		j.several.Ends = append(j.several.Ends, n)
	}
	return nil
}

// distance returns the least distance between two groups.
func (j *joinSet) distance(a, b uint32) int {
	if j.several == nil {
		return j.fps.Distance(a, b)
	}
	least := j.v.Bits()
	for _, x := range j.several.Of(a) {
		for _, y := range j.several.Of(b) {
			least = min(least, j.fps.Distance(x, y))
		}
	}
	return least
}
