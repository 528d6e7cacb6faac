package corpus

import (
	"context"
	"slices"

	"github.com/simdb/simdb/internal/selfjoin"
)

// Apart keeps some documents apart from others, in joins by fingerprint.
type Apart struct {
	Involved func(n uint32) bool    // documents that Accept may refuse
	Accept   func(a, b uint32) bool // whether a may join b; true unless both are involved
	// Group returns a number: of equal documents of one group Accept takes each for the other. It
	// is false for a document that is taken for none.
	Group func(n uint32) (group uint32, ok bool)
	// Within, if not nil, returns a number: Accept refuses documents of two.
	Within func(n uint32) uint32
}

// PrintStarsApart is PrintStars in which a document joins only those that Apart accepts. Documents
// that are involved are taken one by one, the others of one fingerprint as one. Only components of
// documents within k bits of each other in which a document has joined one that is not accepted
// are formed again; in these each document is compared with every keeper of its number of Within.
func (c *Corpus) PrintStarsApart(ctx context.Context, order []uint32, k int, known uint32, by Apart, o selfjoin.Options) (keeper []uint32, distance []uint16, err error) {
	order = c.inOrder(order)
	keeper, distance, err = c.PrintStars(ctx, slices.Clone(order), k, known, o)
	if err != nil {
		return nil, nil, err
	}
	refused := func(n uint32) bool { return keeper[n] != n && !by.Accept(n, keeper[n]) }
	if !slices.ContainsFunc(order, refused) {
		return keeper, distance, nil
	}
	d := c.distinct(order)
	label, err := selfjoin.Components(ctx, d.prints, d.docs, k, o)
	if err != nil {
		return nil, nil, err
	}
	concerned := map[uint32]bool{} // components
	for at, n := range order {
		if refused(n) {
			concerned[label[d.docs.Of(uint32(at))[0]]] = true
		}
	}
	keepers := map[[2]uint32][]uint32{} // of components and numbers of Within
	leader := map[uint32]uint32{}       // of each fingerprint: the first document that is not involved
	had := map[[2]uint32]bool{}         // fingerprints and groups of keepers: of equal ones the first is joined
	for at, n := range order {
		group := d.docs.Of(uint32(at))[0]
		l := [2]uint32{label[group]}
		if !concerned[l[0]] {
			continue
		}
		if by.Within != nil {
			l[1] = by.Within(n)
		}
		so := keepers[l]
		if at%256 == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if n < known {
			keepers[l] = append(so, n)
			continue
		}
		if !by.Involved(n) && d.docs.Ends == nil {
			if first, ok := leader[group]; ok {
				keeper[n], distance[n] = keeper[first], distance[first]
				continue
			}
			leader[group] = n
		}
		best, least := n, k+1
		for _, q := range so {
			if away := c.Distance(n, q); away < least && by.Accept(n, q) {
				best, least = q, away
			}
		}
		if keeper[n], distance[n] = best, uint16(least); best != n {
			continue
		}
		distance[n] = 0
		g, grouped := by.Group(n)
		if grouped = grouped && d.docs.Ends == nil; !grouped || !had[[2]uint32{group, g}] {
			keepers[l] = append(so, n)
		}
		if grouped {
			had[[2]uint32{group, g}] = true
		}
	}
	return keeper, distance, nil
}
