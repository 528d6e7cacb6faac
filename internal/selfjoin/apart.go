package selfjoin

import (
	"context"
	"slices"
)

// Apart keeps some documents apart from others, by their numbers.
type Apart struct {
	Involved func(n uint32) bool    // documents that Accept may refuse
	Accept   func(a, b uint32) bool // whether a may join b; true unless both are involved
	// Group, if not nil, returns the group of a document: Accept treats equal documents of one
	// group alike. It returns false for a document that represents only itself.
	Group func(n uint32) (group uint64, ok bool)
	// Within, if not nil, returns a number: Accept refuses documents with different numbers.
	Within func(n uint32) uint32
	// Distance returns the distance of two documents.
	Distance func(a, b uint32) int
}

// Mend corrects star clusters that were formed without regard to Apart, so that each document
// joins only keepers that Apart accepts. order has the numbers of the documents in the order of
// preference, docs their fingerprints in the same order; keeper and distance are indexed by
// number. Documents below known are keepers, and stay keepers.
//
// Involved documents are processed one by one; other documents with the same fingerprint are
// processed as one. Mend recomputes only components (of documents within k bits of each other) in
// which a document has joined a keeper that Apart refuses. There it compares each document with
// every keeper that has the same number by Within.
func (by *Apart) Mend(ctx context.Context, fps Columns, docs Documents, order []uint32, k int, known uint32, o Options, keeper []uint32, distance []uint16) error {
	refused := func(n uint32) bool { return keeper[n] != n && !by.Accept(n, keeper[n]) }
	if !slices.ContainsFunc(order, refused) {
		return nil
	}
	label, err := Components(ctx, fps, docs, k, o)
	if err != nil {
		return err
	}
	concerned := map[uint32]bool{} // affected components
	for at, n := range order {
		if refused(n) {
			concerned[label[at]] = true
		}
	}
	keepers := map[[2]uint32][]uint32{} // by component and number of Within
	leader := map[uint32]uint32{}       // by fingerprint: the first document that is not involved
	had := map[[2]uint64]bool{}         // fingerprints with groups of keepers: among equal keepers, the first is joined
	for at, n := range order {
		l, print := [2]uint32{label[at]}, docs.Of(uint32(at))[0]
		if !concerned[l[0]] {
			continue
		}
		if by.Within != nil {
			l[1] = by.Within(n)
		}
		so := keepers[l]
		if at%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if n < known {
			keepers[l] = append(so, n)
			continue
		}
		if !by.Involved(n) && docs.Ends == nil {
			if first, ok := leader[print]; ok && !(o.OnlyKnown && keeper[first] == first) {
				keeper[n], distance[n] = keeper[first], distance[first]
				continue
			}
			leader[print] = n
		}
		best, least := n, k+1
		for _, q := range so {
			if away := by.Distance(n, q); away < least && by.Accept(n, q) {
				best, least = q, away
			}
		}
		if keeper[n], distance[n] = best, uint16(least); best != n {
			continue
		}
		if distance[n] = 0; o.OnlyKnown {
			continue
		}
		var group [2]uint64
		grouped := by.Group != nil && docs.Ends == nil
		if grouped {
			group[0] = uint64(print)
			group[1], grouped = by.Group(n)
		}
		if !grouped || !had[group] {
			keepers[l] = append(so, n)
		}
		if grouped {
			had[group] = true
		}
	}
	return nil
}
