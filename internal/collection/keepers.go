package collection

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/selfjoin"
)

// A Clustering describes how to form clusters of items, each with a keeper. The items are those
// of a collection, or its classes when a View joins fingerprints.
type Clustering struct {
	*Collection
	Components bool                               // otherwise stars
	Order      []uint32                           // of preference; nil: by number
	Apart      *selfjoin.Apart                    // which items may join which; nil: any
	Near       func(order []uint32) *Fingerprints // for fingerprints
	Same       []uint32                           // for stars by sets: setjoin.Options.Same
}

// Keepers returns the keeper of each item. For sets with Compare it also returns the score of
// each item with its keeper.
func (c *Clustering) Keepers(ctx context.Context) (keeper []uint32, scores []float64, err error) {
	near := selfjoin.Options{Progress: c.progress()}
	switch {
	case c.Components && (c.Groups != nil || c.Apart != nil && c.Sets == nil):
		keeper, scores, err = c.byPairs(ctx)
	case c.Components && c.Sets != nil:
		keeper, scores, err = c.setComponents(ctx)
	case c.Components:
		keeper, err = c.Near(c.Order).Components(ctx, c.K, near)
	case c.Sets != nil:
		keeper, scores, err = c.setStars(ctx)
	default:
		keeper, _, err = c.Near(c.Order).Stars(ctx, c.K, c.Apart, near)
	}
	return keeper, scores, err
}

// setStars processes the items in the order of preference: each joins the most similar keeper so
// far, the first of equally similar ones, or becomes a keeper.
func (c *Clustering) setStars(ctx context.Context) ([]uint32, []float64, error) {
	s, o, err := c.setsOf(c.Order)
	if err != nil {
		return nil, nil, err
	}
	o.Accept, o.Same = c.accept(s), c.Same
	stars, err := s.Stars(ctx, c.T, o)
	if err != nil || s.Of == nil {
		return stars.Keeper, stars.Score, err
	}
	keeper, scores := make([]uint32, c.Items), make([]float64, c.Items)
	for set, item := range s.Of {
		keeper[item], scores[item] = s.Of[stars.Keeper[set]], stars.Score[set]
	}
	if s.Compare == nil {
		scores = nil
	}
	return keeper, scores, nil
}

// accept returns a function that reports whether two sets may match; nil if any two may.
func (c *Clustering) accept(s *Sets) func(a, b int) bool {
	if c.Apart == nil {
		return nil
	}
	return func(a, b int) bool { return c.Apart.Accept(s.item(a), s.item(b)) }
}

// setComponents connects the items of all matching pairs.
func (c *Clustering) setComponents(ctx context.Context) ([]uint32, []float64, error) {
	firsts := c.Classes.Firsts()
	slices.Sort(firsts)
	s, o, err := c.setsOf(firsts)
	if err != nil {
		return nil, nil, err
	}
	o.Accept = c.accept(s)
	forest := selfjoin.NewForest(s.Len())
	if err := s.Components(ctx, c.T, o, forest); err != nil {
		return nil, nil, err
	}
	if joined := forest; s.Of != nil {
		forest = selfjoin.NewForest(c.Items)
		for set, item := range s.Of {
			forest.Union(s.Of[joined.Root(uint32(set))], item)
		}
	}
	for class := range uint32(c.Classes.N) {
		for s := c.Classes.Span(class); s.Len() > 1; s.Lo++ {
			forest.Union(c.Classes.Item(s.Lo), c.Classes.Item(s.Lo+1))
		}
	}
	return c.compared(ctx, s, forest)
}

// byPairs connects the items of matching pairs one by one, as not all pairs are allowed.
func (c *Clustering) byPairs(ctx context.Context) ([]uint32, []float64, error) {
	if c.Groups == nil {
		forest := selfjoin.NewForest(c.Classes.N)
		err := c.classPairs(ctx, func(x, y uint32, _ float64) bool {
			if c.Apart.Accept(x, y) {
				forest.Union(x, y)
			}
			return true
		})
		return c.preferred(forest), nil, err
	}
	forest := selfjoin.NewForest(c.Items)
	unite := func(a, b Span) bool {
		c.Groups.unite(forest, c.Classes.Items, a, b)
		return ctx.Err() == nil
	}
	goOn, err := c.equalClasses(ctx, func(s Span, _ float64) bool { return unite(s, Span{}) })
	if goOn && err == nil {
		err = c.classPairs(ctx, func(x, y uint32, _ float64) bool { return unite(c.Classes.Span(x), c.Classes.Span(y)) })
	}
	if err = cmp.Or(err, ctx.Err()); err != nil || c.Sets == nil {
		return c.preferred(forest), nil, err
	}
	s, err := c.Sets(nil)
	if err != nil {
		return nil, nil, err
	}
	return c.compared(ctx, s, forest)
}

// preferred returns the preferred item of each component.
func (c *Clustering) preferred(forest *selfjoin.Forest) []uint32 {
	if c.Order == nil {
		return forest.Labels()
	}
	return selfjoin.Preferred(forest.Labels(), c.Order)
}

// compared returns the keepers of components, and the items' scores with them.
func (c *Clustering) compared(ctx context.Context, s *Sets, forest *selfjoin.Forest) (keeper []uint32, scores []float64, err error) {
	keeper = c.preferred(forest)
	if s.Compare == nil {
		return keeper, nil, nil
	}
	if s.Of == nil {
		scores, err = s.Compare(ctx, keeper)
		return keeper, scores, err
	}
	class := func(item uint32) uint32 { // also the number of the set, as sets belong to the first items of classes
		if c.Classes.Of == nil {
			return item
		}
		return c.Classes.Of[item]
	}
	partner := make([]uint32, len(s.Of))
	for set, item := range s.Of {
		partner[set] = class(keeper[item])
	}
	ofSets, err := s.Compare(ctx, partner)
	if err != nil {
		return nil, nil, err
	}
	scores = make([]float64, len(keeper))
	for item := range scores {
		scores[item] = ofSets[class(uint32(item))]
	}
	return keeper, scores, nil
}
