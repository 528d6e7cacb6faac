package corpus

import (
	"context"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// distinctPrints are the different fingerprints of a corpus.
type distinctPrints struct {
	prints selfjoin.Columns // ascending
	group  []uint32         // of each place in the order: which of them the document has
}

// distinct returns the different fingerprints of the documents in an order.
func (c *Corpus) distinct(order []uint32) distinctPrints {
	p := ordered.MakePairs(len(order))
	for at, doc := range order {
		p.Keys[at], p.Vals[at] = c.Prints[0][doc], uint32(at) // a stable sort: the preferred document first
	}
	p = ordered.SortPairs(p, ordered.MakePairs(len(order)))
	rest := c.Prints[1:]
	if len(rest) > 0 {
		c.sortRest(p, order)
	}
	d := distinctPrints{prints: make(selfjoin.Columns, len(c.Prints)), group: make([]uint32, len(order))}
	d.prints[0] = p.Keys[:0]
	for i, fp := range p.Keys {
		n := len(d.prints[0])
		if n == 0 || fp != d.prints[0][n-1] || rest.Compare(order[p.Vals[i-1]], order[p.Vals[i]]) != 0 {
			d.prints[0] = append(d.prints[0], fp)
			for w, words := range rest {
				d.prints[w+1] = append(d.prints[w+1], words[order[p.Vals[i]]])
			}
		}
		d.group[p.Vals[i]] = uint32(len(d.prints[0]) - 1)
	}
	return d
}

// sortRest sorts documents of an order, which are sorted by their first words, by the others.
func (c *Corpus) sortRest(p ordered.Pairs, order []uint32) {
	for from, to := 0, 0; from < len(p.Keys); from = to {
		for to = from + 1; to < len(p.Keys) && p.Keys[to] == p.Keys[from]; to++ {
		}
		if to > from+1 {
			slices.SortStableFunc(p.Vals[from:to], func(a, b uint32) int { return c.Prints[1:].Compare(order[a], order[b]) })
		}
	}
}

// inOrder returns the order of preference without documents that match nothing; nil is that of
// their numbers. The order that is given is changed.
func (c *Corpus) inOrder(order []uint32) []uint32 {
	if order == nil {
		order = make([]uint32, c.N)
		for i := range order {
			order[i] = uint32(i)
		}
	}
	return slices.DeleteFunc(order, c.Empty)
}

// PrintStars forms star clusters of documents by fingerprint, given their order of preference, nil
// for that of their numbers: each joins the nearest keeper so far within k bits, of equally near
// ones the first, or becomes one. It returns the keeper of each document and the distance to it in
// bits. Documents of one fingerprint are joined as one, the preferred one of them.
func (c *Corpus) PrintStars(ctx context.Context, order []uint32, k int, o selfjoin.Options) (keeper []uint32, distance []uint16, err error) {
	order = c.inOrder(order)
	d := c.distinct(order)
	const none = ^uint32(0)
	first := make([]uint32, d.prints.Len()) // of each fingerprint: its place among leaders
	for f := range first {
		first[f] = none
	}
	var leaders, prints []uint32 // preferred documents of each fingerprint, in order of preference; and the fingerprints
	for at, doc := range order {
		if f := d.group[at]; first[f] == none {
			first[f] = uint32(len(leaders))
			leaders, prints = append(leaders, doc), append(prints, f)
		}
	}
	stars, err := selfjoin.Stars(ctx, d.prints, selfjoin.Documents{Codes: prints}, k, o)
	if err != nil {
		return nil, nil, err
	}
	keeper, distance = c.alone(), make([]uint16, c.N)
	for at, doc := range order {
		l := first[d.group[at]]
		keeper[doc], distance[doc] = leaders[stars.Keeper[l]], stars.Distance[l]
	}
	return keeper, distance, nil
}

// alone returns the keepers of documents of which each is its own.
func (c *Corpus) alone() []uint32 {
	keeper := make([]uint32, c.N)
	for i := range keeper {
		keeper[i] = uint32(i)
	}
	return keeper
}

// printComponents returns for each document the first one that a chain of documents within k bits
// of each other connects it with.
func (c *Corpus) printComponents(ctx context.Context, k int, o selfjoin.Options) ([]uint32, error) {
	order := c.inOrder(nil)
	d := c.distinct(order)
	label, err := selfjoin.Components(ctx, d.prints, k, o)
	if err != nil {
		return nil, err
	}
	keeper, first := c.alone(), make([]uint32, d.prints.Len()) // of each component: its first document + 1
	for at, doc := range order {
		l := label[d.group[at]]
		if first[l] == 0 {
			first[l] = doc + 1
		}
		keeper[doc] = first[l] - 1
	}
	return keeper, nil
}

// printPairs calls emit for all pairs of different fingerprints within k bits, with the documents
// that have them, and for each fingerprint that several documents have, with b nil, until it
// returns false.
func (c *Corpus) printPairs(ctx context.Context, k int, o selfjoin.Options, emit func(a, b []uint32, distance int) bool) error {
	docs := c.inOrder(nil)
	d := c.distinct(docs)
	next := make([]uint32, d.prints.Len()+1) // a counting sort of the documents by fingerprint
	for _, f := range d.group {
		next[f+1]++
	}
	for f := range d.prints.Len() {
		next[f+1] += next[f]
	}
	all := classes{docs: make([]uint32, len(docs)), ends: next[:d.prints.Len()]} // which next is at last
	for at, f := range d.group {
		all.docs[next[f]] = docs[at]
		next[f]++
	}
	for f := range d.prints.Len() {
		if g := all.of(uint32(f)); len(g) > 1 && !emit(g, nil, 0) {
			return nil
		}
	}
	return selfjoin.Pairs(ctx, d.prints, k, o, func(i, j uint32, distance int) bool { return emit(all.of(i), all.of(j), distance) })
}

// WordPrints returns the fingerprints of the documents that match something, nil without
// fingerprints, or if they have more than 64 bits.
func (c *Corpus) WordPrints() []base.Fingerprint {
	if len(c.Prints) != 1 {
		return nil
	}
	var all []base.Fingerprint
	for n, fp := range c.Prints[0] {
		if !c.Empty(uint32(n)) {
			all = append(all, fp)
		}
	}
	return all
}
