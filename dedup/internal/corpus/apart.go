package corpus

import (
	"context"
	"slices"

	"github.com/simdb/simdb/internal/selfjoin"
)

// PrintStarsApart is PrintStars in which a document joins only those that by accepts.
func (c *Corpus) PrintStarsApart(ctx context.Context, order []uint32, k int, known uint32, by selfjoin.Apart, o selfjoin.Options) (keeper []uint32, distance []uint16, err error) {
	order = c.inOrder(order)
	keeper, distance, err = c.PrintStars(ctx, slices.Clone(order), k, known, o)
	if err != nil {
		return nil, nil, err
	}
	by.Distance = c.Distance
	d := c.distinct(order)
	return keeper, distance, by.Mend(ctx, d.prints, d.docs, order, k, known, o, keeper, distance)
}
