package cluster

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Clusters keep allowed pairs apart: neither document of a pair joins the other. Documents in
// such pairs form their own groups and sets, so that their restrictions do not apply to other
// documents with the same fingerprint or shingles.

// setApart gives each document in allowed pairs its own group and set.
func (c *clustering) setApart(ctx context.Context) error {
	allowed := c.v.Allowed
	if allowed.Empty() {
		return nil
	}
	ids := map[view.Place]string{}
	for _, id := range allowed.IDs() {
		p, ok, err := c.v.Find([]byte(id))
		if err != nil {
			return err
		}
		if ok {
			ids[p] = id
		}
	}
	c.lone = map[uint32]string{}
	if c.several == nil && c.by.Near() {
		c.setFingerprintsApart(ids)
		return ctx.Err()
	}
	classes, of := uint32(c.classes.N), c.classes.Of
	if of == nil {
		of = make([]uint32, c.items) // each item is its own class so far
		for i := range of {
			of[i] = uint32(i)
		}
	}
	for i := range uint32(c.items) {
		if id, ok := ids[c.place(i)]; ok {
			c.lone[i], of[i] = id, classes
			classes++
		}
	}
	if !c.by.Near() {
		c.classes = collection.ClassesOf(of, int(classes))
	}
	return ctx.Err()
}

// setFingerprintsApart gives the items with these IDs their own groups, which follow the group of
// the same fingerprint.
func (c *clustering) setFingerprintsApart(ids map[view.Place]string) {
	locs, first := make([]uint64, 0, c.items), make([]uint32, 0, c.classes.N+1)
	codes := make([]uint32, 0, c.classes.N)
	group := func(g uint32, members ...uint64) {
		if len(members) > 0 {
			first, locs, codes = append(first, uint32(len(locs))), append(locs, members...), append(codes, g)
		}
	}
	var rest []uint64
	var lone []uint32
	for g := range uint32(c.classes.N) {
		rest, lone = rest[:0], lone[:0]
		s := c.classes.Span(g)
		for i := s.Lo; i < s.Hi; i++ {
			if _, ok := ids[c.place(i)]; ok {
				lone = append(lone, i)
			} else {
				rest = append(rest, c.loc(i))
			}
		}
		group(g, rest...)
		for _, i := range lone {
			c.lone[uint32(len(first))] = ids[c.place(i)]
			group(g, c.loc(i))
		}
	}
	c.locs, c.several = locs, &selfjoin.Documents{Codes: codes}
	c.classes = collection.Classes{N: len(first), First: append(first, uint32(len(locs)))}
}

// apart reports whether groups f and g are an allowed pair.
func (c *clustering) apart(f, g uint32) bool {
	if len(c.lone) == 0 {
		return false
	}
	a, ok := c.lone[f]
	if !ok {
		return false
	}
	b, ok := c.lone[g]
	return ok && c.v.Allowed.Has(a, b)
}

// keepsApart returns the restrictions for allowed pairs; nil if there are none.
func (c *clustering) keepsApart() *selfjoin.Apart {
	if len(c.lone) == 0 {
		return nil
	}
	return &selfjoin.Apart{
		Involved: func(f uint32) bool { return c.lone[f] != "" },
		Accept:   func(f, g uint32) bool { return !c.apart(f, g) },
		Distance: c.distance,
	}
}
