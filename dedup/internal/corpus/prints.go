package corpus

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// distinctPrints are the different fingerprints of a corpus.
type distinctPrints struct {
	prints selfjoin.Columns   // ascending
	docs   selfjoin.Documents // of each place in the order: which of them the document has, each once
}

// distinct returns the different fingerprints of the documents in an order.
func (c *Corpus) distinct(order []uint32) (d distinctPrints) {
	rows := order // of fingerprints in the corpus
	if c.ends != nil {
		rows = nil
		for _, doc := range order {
			for from, to := c.rows(doc); from < to; from++ {
				rows = append(rows, from)
			}
			d.docs.Ends = append(d.docs.Ends, uint32(len(rows)))
		}
	}
	p := ordered.MakePairs(len(rows))
	for at, row := range rows {
		p.Keys[at], p.Vals[at] = c.Prints[0][row], uint32(at) // a stable sort: the preferred document first
	}
	p = ordered.SortPairs(p, ordered.MakePairs(len(rows)))
	rest := c.Prints[1:]
	if len(rest) > 0 {
		c.sortRest(p, rows)
	}
	d.prints, d.docs.Codes = make(selfjoin.Columns, len(c.Prints)), make([]uint32, len(rows))
	d.prints[0] = p.Keys[:0]
	for i, fp := range p.Keys {
		n := len(d.prints[0])
		if n == 0 || fp != d.prints[0][n-1] || rest.Compare(rows[p.Vals[i-1]], rows[p.Vals[i]]) != 0 {
			d.prints[0] = append(d.prints[0], fp)
			for w, words := range rest {
				d.prints[w+1] = append(d.prints[w+1], words[rows[p.Vals[i]]])
			}
		}
		d.docs.Codes[p.Vals[i]] = uint32(len(d.prints[0]) - 1)
	}
	d.once()
	return d
}

// once leaves one of equal fingerprints of a document.
func (d *distinctPrints) once() {
	codes, from := d.docs.Codes[:0], uint32(0)
	for at, to := range d.docs.Ends {
		own := d.docs.Codes[from:to]
		slices.Sort(own)
		codes, from = append(codes, slices.Compact(own)...), to
		d.docs.Ends[at] = uint32(len(codes))
	}
	if d.docs.Ends != nil {
		d.docs.Codes = codes
	}
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
// bits. Documents of one fingerprint are joined as one, the preferred one of them, unless some of
// the corpus have several. That many documents are known: they come first in the order, and each is
// its own keeper.
func (c *Corpus) PrintStars(ctx context.Context, order []uint32, k int, known uint32, o selfjoin.Options) (keeper []uint32, distance []uint16, err error) {
	order = c.inOrder(order)
	d := c.distinct(order)
	docs, leaders := d.docs, order
	var first []uint32 // of each fingerprint: its place among leaders; nil if all are leaders
	if docs.Ends == nil {
		const none = ^uint32(0)
		first, docs.Codes, leaders = make([]uint32, d.prints.Len()), nil, nil
		for f := range first {
			first[f] = none
		}
		for at, doc := range order {
			if f := d.docs.Codes[at]; first[f] == none {
				first[f] = uint32(len(leaders))
				leaders, docs.Codes = append(leaders, doc), append(docs.Codes, f)
			}
		}
	}
	for docs.Known < len(leaders) && leaders[docs.Known] < known {
		docs.Known++
	}
	stars, err := selfjoin.Stars(ctx, d.prints, docs, k, o)
	if err != nil {
		return nil, nil, err
	}
	keeper, distance = c.alone(), make([]uint16, c.N)
	for at, doc := range order {
		if doc < known { // also those that are equal to others
			continue
		}
		l := uint32(at)
		if first != nil {
			l = first[d.docs.Codes[at]]
		}
		keeper[doc], distance[doc] = leaders[stars.Keeper[l]], stars.Distance[l]
	}
	return keeper, distance, nil
}

// VerifiedStars is Stars of the sets of documents within k bits of each other. It compares those,
// unless they are too many: then it looks for similar sets, and takes those within k bits.
func (c *Corpus) VerifiedStars(ctx context.Context, t float64, k int, so setjoin.Options, o selfjoin.Options) (setjoin.Assignment, error) {
	near := so
	near.Order = c.inOrder(slices.Clone(so.Order))
	near.Known, _ = slices.BinarySearchFunc(near.Order, so.Known, func(doc uint32, known int) int {
		return cmp.Compare(min(int(doc), known), known) // those that are known come first
	})
	stars, err := c.Sets.StarsAmong(ctx, t, near, func(decide func(p uint32, keepers []uint32) (bool, error)) error {
		d := c.distinct(near.Order)
		return selfjoin.Offer(ctx, d.prints, d.docs, k, o, decide)
	})
	if !errors.Is(err, selfjoin.ErrManyOffers) {
		return stars, err
	}
	accept := so.Accept
	so.Accept = func(a, b int) bool {
		x, y := uint32(a), uint32(b)
		return c.Distance(x, y) <= k && !c.Empty(x) && !c.Empty(y) && (accept == nil || accept(a, b))
	}
	return c.Sets.Stars(ctx, t, so)
}

// alone returns the keepers of documents of which each is its own.
func (c *Corpus) alone() []uint32 {
	keeper := make([]uint32, c.N)
	for i := range keeper {
		keeper[i] = uint32(i)
	}
	return keeper
}

// PrintComponents returns for each document the first one that a chain of documents within k bits
// of each other connects it with.
func (c *Corpus) PrintComponents(ctx context.Context, k int, o selfjoin.Options) ([]uint32, error) {
	order := c.inOrder(nil)
	d := c.distinct(order)
	first, err := selfjoin.Components(ctx, d.prints, d.docs, k, o)
	if err != nil {
		return nil, err
	}
	keeper := c.alone()
	for at, doc := range order {
		keeper[doc] = order[first[at]]
	}
	return keeper, nil
}

// PrintPairs calls emit for all pairs of different fingerprints within k bits, with the documents
// that have them, and for each fingerprint that several documents have, with b nil, until it
// returns false. Documents that may have several fingerprints it gives one by one, each pair once,
// at the distance of the nearest two.
func (c *Corpus) PrintPairs(ctx context.Context, k int, o selfjoin.Options, emit func(a, b []uint32, distance int) bool) error {
	docs := c.inOrder(nil)
	d := c.distinct(docs)
	if d.docs.Ends != nil {
		return d.docs.Pairs(ctx, d.prints, k, o, func(a, b uint32, distance int) bool { return emit(docs[a:a+1], docs[b:b+1], distance) })
	}
	start, having := d.docs.Having(d.prints.Len()) // places
	for i, at := range having {
		having[i] = docs[at]
	}
	all := func(f uint32) []uint32 { return having[start[f]:start[f+1]] }
	for f := range uint32(d.prints.Len()) {
		c.Groups.sort(all(f))
		if len(all(f)) > 1 && !emit(all(f), nil, 0) {
			return nil
		}
	}
	return selfjoin.Pairs(ctx, d.prints, k, o, func(i, j uint32, distance int) bool { return emit(all(i), all(j), distance) })
}
