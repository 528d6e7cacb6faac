package collection

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/selfjoin"
)

// The match of two items is a number that grows with their similarity: a score, or minus a
// distance.

// classPairs calls fn for all pairs of matching classes, in a deterministic order, until it
// returns false. Groups may exclude all items of a pair.
func (c *Collection) classPairs(ctx context.Context, fn func(x, y uint32, match float64) bool) error {
	if c.Sets == nil {
		o := selfjoin.Options{Progress: c.progress()}
		near := func(x, y uint32, distance int) bool { return fn(x, y, -float64(distance)) }
		if c.Docs != nil {
			return c.Docs.Pairs(ctx, c.Fingerprints, c.K, o, near)
		}
		return selfjoin.Pairs(ctx, c.Fingerprints, c.K, o, near)
	}
	firsts, class := c.Classes.Firsts(), make([]uint32, c.Items) // by first item
	for x, item := range firsts {
		class[item] = uint32(x)
	}
	slices.Sort(firsts)
	s, o, err := c.setsOf(firsts)
	if err != nil {
		return err
	}
	of := func(set int) uint32 { return class[s.item(set)] }
	if c.Groups != nil {
		o.Accept = func(a, b int) bool {
			return !c.Groups.none(c.Classes.Items, c.Classes.Span(of(a)), c.Classes.Span(of(b)))
		}
	}
	return s.Pairs(ctx, c.T, o, func(a, b int, score float64) bool { return fn(of(a), of(b), score) })
}

// Others calls fn for all pairs of matching items of different classes, as pairs of spans of
// which any two items match, in a deterministic order, until it returns false.
func (c *Collection) Others(ctx context.Context, fn func(a, b Span, match float64) bool) error {
	return c.classPairs(ctx, func(x, y uint32, match float64) bool {
		a, b := c.Classes.Span(x), c.Classes.Span(y)
		if c.Groups == nil {
			return fn(a, b, match)
		}
		return c.Groups.split(c.Classes.Items, a, b, func(a, b Span) bool { return fn(a, b, match) })
	})
}

// equalClasses calls fn for each class of several items with their match, until fn returns false;
// goOn reports that it has not.
func (c *Collection) equalClasses(ctx context.Context, fn func(s Span, match float64) bool) (goOn bool, err error) {
	if c.Classes.First == nil {
		return true, nil
	}
	for class, lo := range c.Classes.First[:c.Classes.N] {
		if class%4096 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		s := Span{lo, c.Classes.First[class+1]}
		if s.Len() < 2 {
			continue
		}
		match, ok := c.best(), true
		if c.Equal != nil {
			match, ok, err = c.Equal(c.Classes.Item(s.Lo), c.Classes.Item(s.Lo+1))
		}
		if err != nil || ok && !fn(s, match) {
			return false, err
		}
	}
	return true, nil
}

// best returns the match of equal items.
func (c *Collection) best() float64 {
	if c.Sets == nil {
		return 0
	}
	return 1
}

// Equals is Others for pairs of items of one class. b is empty for the pairs within a span. goOn
// reports that fn has not returned false.
func (c *Collection) Equals(ctx context.Context, fn func(a, b Span, match float64) bool) (goOn bool, err error) {
	return c.equalClasses(ctx, func(s Span, match float64) bool {
		return c.Groups.split(c.Classes.Items, s, Span{}, func(a, b Span) bool { return fn(a, b, match) })
	})
}

// EachPair calls fn for every pair of matching items as it is found, until fn returns false.
// Pairs within classes come first. The pairs of two classes are consecutive.
func (c *Collection) EachPair(ctx context.Context, fn func(a, b uint32, match float64) bool) (err error) {
	calls := 0
	with := func(a uint32, b Span, match float64) bool { // two classes may have very many pairs
		for at := b.Lo; at < b.Hi; at++ {
			if calls++; calls%(1<<14) == 0 && ctx.Err() != nil || !fn(a, c.Classes.Item(at), match) {
				return false
			}
		}
		return true
	}
	product := func(a, b Span, match float64) bool {
		for at := a.Lo; at < a.Hi; at++ {
			if b.Hi == 0 && !with(c.Classes.Item(at), Span{at + 1, a.Hi}, match) || !with(c.Classes.Item(at), b, match) {
				return false
			}
		}
		return true
	}
	goOn := true
	if of := c.Classes.Of; of == nil {
		goOn, err = c.Equals(ctx, product)
	} else if c.Classes.First != nil {
		for next, i := slices.Clone(c.Classes.First), 0; goOn && i < len(of); i++ {
			class := of[i]
			next[class]++
			goOn = (i%4096 != 0 || ctx.Err() == nil) && with(uint32(i), Span{next[class], c.Classes.First[class+1]}, c.best())
		}
	}
	if goOn && err == nil {
		err = c.Others(ctx, product)
	}
	return cmp.Or(err, ctx.Err())
}

// Count returns the number of matching pairs. It counts the pairs of two classes in bulk.
func (c *Collection) Count(ctx context.Context) (n int64, err error) {
	count := func(a, b Span, _ float64) bool {
		if b.Hi == 0 {
			n += int64(a.Len()) * int64(a.Len()-1) / 2
		}
		n += int64(a.Len()) * int64(b.Len())
		return true
	}
	if _, err = c.Equals(ctx, count); err == nil {
		err = c.Others(ctx, count)
	}
	return n, err
}
