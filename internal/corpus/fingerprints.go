package corpus

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// distinct returns the distinct fingerprints of the documents in an order.
func (c *Corpus) distinct(order []uint32) *collection.Fingerprints {
	d := &collection.Fingerprints{Items: int(c.N), Order: order, AsOne: c.ends == nil}
	rows := order // rows of the corpus
	if c.ends != nil {
		rows = nil
		for _, doc := range order {
			for from, to := c.rows(doc); from < to; from++ {
				rows = append(rows, from)
			}
			d.Docs.Ends = append(d.Docs.Ends, uint32(len(rows)))
		}
	}
	p := ordered.MakePairs(len(rows))
	for at, row := range rows {
		p.Keys[at], p.Vals[at] = c.Fingerprints[0][row], uint32(at) // the sort is stable: the preferred document comes first
	}
	p = ordered.SortPairs(p, ordered.MakePairs(len(rows)))
	rest := c.Fingerprints[1:]
	if len(rest) > 0 {
		c.sortRest(p, rows)
	}
	d.Codes, d.Docs.Codes = make(selfjoin.Columns, len(c.Fingerprints)), make([]uint32, len(rows))
	d.Codes[0] = p.Keys[:0]
	for i, fp := range p.Keys {
		n := len(d.Codes[0])
		if n == 0 || fp != d.Codes[0][n-1] || rest.Compare(rows[p.Vals[i-1]], rows[p.Vals[i]]) != 0 {
			d.Codes[0] = append(d.Codes[0], fp)
			for w, words := range rest {
				d.Codes[w+1] = append(d.Codes[w+1], words[rows[p.Vals[i]]])
			}
		}
		d.Docs.Codes[p.Vals[i]] = uint32(len(d.Codes[0]) - 1)
	}
	once(&d.Docs)
	return d
}

// once removes duplicate fingerprints of a document.
func once(docs *selfjoin.Documents) {
	codes, from := docs.Codes[:0], uint32(0)
	for at, to := range docs.Ends {
		own := docs.Codes[from:to]
		slices.Sort(own)
		codes, from = append(codes, slices.Compact(own)...), to
		docs.Ends[at] = uint32(len(codes))
	}
	if docs.Ends != nil {
		docs.Codes = codes
	}
}

// sortRest sorts rows, already sorted by their first words, by their other words.
func (c *Corpus) sortRest(p ordered.Pairs, order []uint32) {
	for from, to := 0, 0; from < len(p.Keys); from = to {
		for to = from + 1; to < len(p.Keys) && p.Keys[to] == p.Keys[from]; to++ {
		}
		if to > from+1 {
			slices.SortStableFunc(p.Vals[from:to], func(a, b uint32) int { return c.Fingerprints[1:].Compare(order[a], order[b]) })
		}
	}
}

// inOrder removes documents that match nothing from an order of preference; nil means by number.
// It modifies its argument.
func (c *Corpus) inOrder(order []uint32) []uint32 {
	if order == nil {
		order = make([]uint32, c.N)
		for i := range order {
			order[i] = uint32(i)
		}
	}
	return slices.DeleteFunc(order, c.Empty)
}

// PrintStars forms star clusters by fingerprint. Documents are processed in the order of
// preference, nil meaning by number. Each joins the nearest keeper so far within k bits (the
// first of equally near ones), or becomes a keeper. PrintStars returns each document's keeper and
// the distance to it in bits. Unless some document of the corpus has several fingerprints,
// documents with the same fingerprint are joined as one, represented by the preferred one. The
// first known documents of the order are known: each is its own keeper. If by is not nil, a
// document joins only keepers that by accepts. PrintStars modifies order.
func (c *Corpus) PrintStars(ctx context.Context, order []uint32, k int, known uint32, by *selfjoin.Apart, o selfjoin.Options) (keeper []uint32, distance []uint16, err error) {
	if by != nil {
		by.Distance = c.Distance
	}
	d := c.distinct(c.inOrder(order))
	d.Known = known
	return d.Stars(ctx, k, by, o)
}

// VerifiedStars is Stars of the sets of documents within k bits of each other. It compares the
// pairs within k bits, unless there are too many; then it searches for similar sets and checks
// their distances.
func (c *Corpus) VerifiedStars(ctx context.Context, t float64, k int, so setjoin.Options, o selfjoin.Options) (setjoin.Assignment, error) {
	near := so
	near.Order = c.inOrder(slices.Clone(so.Order))
	near.Known, _ = slices.BinarySearchFunc(near.Order, so.Known, func(doc uint32, known int) int {
		return cmp.Compare(min(int(doc), known), known) // known documents come first
	})
	stars, err := c.Sets.StarsAmong(ctx, t, near, func(decide func(p uint32, keepers []uint32) (bool, error)) error {
		d := c.distinct(near.Order)
		return selfjoin.Offer(ctx, d.Codes, d.Docs, k, o, decide)
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

// PrintComponents returns for each document the first document of its component: chains of
// documents within k bits of each other connect them.
func (c *Corpus) PrintComponents(ctx context.Context, k int, o selfjoin.Options) ([]uint32, error) {
	return c.distinct(c.inOrder(nil)).Components(ctx, k, o)
}

// Near returns the documents in the form that joins by fingerprint need. Documents with the same
// fingerprint are one class, unless some have several fingerprints.
func (c *Corpus) Near(k int) *collection.Collection {
	d := c.distinct(c.inOrder(nil))
	of := &collection.Collection{Items: int(c.N), Groups: c.Groups, Fingerprints: d.Codes, K: k}
	if d.Docs.Ends != nil {
		of.Docs, of.Classes = &d.Docs, collection.Classes{N: len(d.Order), Items: d.Order}
		return of
	}
	start, having := d.Docs.Having(d.Codes.Len()) // having holds places in the order, then documents
	for i, at := range having {
		having[i] = d.Order[at]
	}
	of.Classes = collection.Classes{N: d.Codes.Len(), Items: having, First: start}
	for f := range d.Codes.Len() {
		c.Groups.Sort(having[start[f]:start[f+1]])
	}
	return of
}
