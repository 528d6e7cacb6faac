package collection

import (
	"context"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

// Fingerprints are the fingerprints of items in their order of preference.
type Fingerprints struct {
	Items int                // number of items; those that Order omits match nothing
	Order []uint32           // the others
	Codes selfjoin.Columns   // ascending and distinct
	Docs  selfjoin.Documents // by place in Order
	Known uint32             // lower items are keepers of stars in any case
	AsOne bool               // in stars, items with the same fingerprint are joined as one, represented by the preferred one
}

// Stars forms star clusters: each item in turn joins the nearest keeper so far within k bits, the
// first of equally near ones, or becomes a keeper. It returns each item's keeper and the distance
// to it in bits. If apart is not nil, it restricts which items may join; its Distance must return
// the distance of two items.
func (p *Fingerprints) Stars(ctx context.Context, k int, apart *selfjoin.Apart, o selfjoin.Options) (keeper []uint32, distance []uint16, err error) {
	docs, leaders := p.Docs, p.Order
	var first []uint32 // by fingerprint: its place in leaders; nil if all are leaders
	if p.AsOne {
		const none = ^uint32(0)
		first, docs.Codes, leaders = make([]uint32, p.Codes.Len()), nil, nil
		for f := range first {
			first[f] = none
		}
		for at, item := range p.Order {
			if f := p.Docs.Codes[at]; first[f] == none {
				first[f] = uint32(len(leaders))
				leaders, docs.Codes = append(leaders, item), append(docs.Codes, f)
			}
		}
	}
	for docs.Known < len(leaders) && leaders[docs.Known] < p.Known {
		docs.Known++
	}
	stars, err := selfjoin.Stars(ctx, p.Codes, docs, k, o)
	if err != nil {
		return nil, nil, err
	}
	keeper, distance = ordered.Numbers(p.Items), make([]uint16, p.Items)
	for at, item := range p.Order {
		if item < p.Known { // including items that equal others
			continue
		}
		l := uint32(at)
		if first != nil {
			l = first[p.Docs.Codes[at]]
		}
		if o.OnlyKnown && stars.Keeper[l] >= uint32(docs.Known) {
			continue
		}
		keeper[item], distance[item] = leaders[stars.Keeper[l]], stars.Distance[l]
	}
	if apart != nil {
		err = apart.Mend(ctx, p.Codes, p.Docs, p.Order, k, p.Known, o, keeper, distance)
	}
	return keeper, distance, err
}

// Components returns, for each item, the preferred item of its component; items within k bits of
// each other are in one component.
func (p *Fingerprints) Components(ctx context.Context, k int, o selfjoin.Options) ([]uint32, error) {
	first, err := selfjoin.Components(ctx, p.Codes, p.Docs, k, o)
	if err != nil {
		return nil, err
	}
	keeper := ordered.Numbers(p.Items)
	for at, item := range p.Order {
		keeper[item] = p.Order[first[at]]
	}
	return keeper, nil
}
