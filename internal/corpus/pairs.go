package corpus

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/setjoin"
)

// Criterion says which documents match: those with fingerprints within K bits, or, with Sets,
// with a similarity of at least T by the corpus's measure.
type Criterion struct {
	Sets    bool
	K       int
	T       float64
	Measure setjoin.Measure
}

// CriterionOf returns the criterion for one of the engine, or engine.ErrInvalid. Contains and
// Within give the same criterion, since a pair has no direction.
func CriterionOf(by engine.Criterion) (c Criterion, err error) {
	k, t := by.K(), by.T()
	switch by.Kind() {
	case "near":
		if k < 0 {
			err = fmt.Errorf("a distance of %d bits: %w", k, engine.ErrInvalid)
		}
		return Criterion{K: k}, err
	case "jaccard":
		c = Criterion{Sets: true, T: t}
	case "levenshtein":
		if c = Levenshtein(t); t < setjoin.LeastEdits {
			t = 0
		}
	case "cosine":
		c = Cosine(t)
	case "contains", "within":
		c = Contained(t)
	default:
		return c, fmt.Errorf("no criterion is given: %w", engine.ErrInvalid)
	}
	if !(t > 0 && t <= 1) {
		err = fmt.Errorf("a similarity of %g is outside 0 < t <= 1: %w", c.T, engine.ErrInvalid)
	}
	return c, err
}

// Levenshtein returns the criterion of edit distance, which compares texts themselves.
func Levenshtein(t float64) Criterion {
	return Criterion{Sets: true, T: t, Measure: setjoin.Measure{Kind: setjoin.Edits, Q: setjoin.EditGrams(t)}}
}

// Cosine returns the criterion of word vectors, which compares texts themselves.
func Cosine(t float64) Criterion {
	return Criterion{Sets: true, T: t, Measure: setjoin.Measure{Kind: setjoin.Cosine}}
}

// Contained returns the criterion that the larger of two documents contains at least the share t
// of the smaller one's shingles.
func Contained(t float64) Criterion {
	return Criterion{Sets: true, T: t, Measure: setjoin.Measure{Kind: setjoin.Contained}}
}

// JoinOptions are the options of joins.
type JoinOptions struct {
	Memory   int64 // bytes for the whole run; a join uses a quarter for its index, and pairs use another quarter
	Progress func(engine.Progress)
	Crowded  func(each int) // of setjoin.Options
}

// tooManyPairs is the error for pairs that do not fit into memory. It is engine.ErrTooLarge.
type tooManyPairs struct{}

func (tooManyPairs) Error() string {
	return fmt.Sprintf("more pairs than fit into %s; %s lists any number", option.Name("Memory"), option.Name("Unordered"))
}

func (tooManyPairs) Unwrap() error { return engine.ErrTooLarge }

// Of returns the match of a document with this ID.
func (by Criterion) Of(id string, match float64) engine.Match {
	if by.Sets {
		return engine.Match{ID: id, Score: match, Exact: true}
	}
	return engine.Match{ID: id, Distance: int(-match)}
}

// collection returns the documents in the form that joins need. Only pairs and components use
// classes of equal documents.
func (l *Listing) collection(ctx context.Context, by Criterion, classes bool, o JoinOptions) (c *collection.Collection, err error) {
	c = &collection.Collection{Items: int(l.N), K: by.K}
	switch {
	case by.Sets:
		c.T, c.Groups = by.T, l.Groups
		judges := l.Judges(ctx, by.T)
		if judges != nil { // equal texts may have no words
			c.Equal = func(a, b uint32) (float64, bool, error) { return judges().Compare(int(a), int(b)) }
		}
		c.Sets = func(items []uint32) (*collection.Sets, error) {
			so := setjoin.Options{Memory: o.Memory / 4, Judge: judges, Crowded: o.Crowded, Order: items}
			return &collection.Sets{Sets: l.Sets, Options: so, Compare: l.Scores}, nil
		}
		if classes {
			c.Classes, err = l.setClasses(ctx)
		}
	case classes:
		c = l.Near(by.K)
	}
	c.Rank = func(context.Context, collection.ItemSet) (func(uint32) uint32, int, error) {
		return l.rankOf, int(l.N), nil
	}
	c.Report = func(stage string, done, total int64) {
		p := engine.Progress{Stage: stage, Done: done, Total: total}
		if total > 0 {
			p.Unit = "documents"
		}
		o.Progress(p)
	}
	return c, err
}

// Pairs yields every pair of documents that match, as numbers, A before B in the order of IDs.
// Pairs are held in memory and sorted: the best match first, then by A, then by B. Unordered
// pairs come as they are found, in a deterministic order.
func (l *Listing) Pairs(ctx context.Context, by Criterion, unordered bool, o JoinOptions) iter.Seq2[collection.Pair, error] {
	return func(yield func(collection.Pair, error) bool) {
		going, given := true, 0
		give := func(p collection.Pair) bool {
			p.A, p.B = l.ranked(p.A), l.ranked(p.B)
			if given++; given%4096 == 0 && ctx.Err() != nil {
				return false
			}
			going = yield(p, nil)
			return going
		}
		c, err := l.collection(ctx, by, true, o)
		switch {
		case err != nil:
		case unordered:
			err = c.EachPair(ctx, func(a, b uint32, match float64) bool {
				a, b = l.rankOf(a), l.rankOf(b)
				return give(collection.Pair{Match: match, A: min(a, b), B: max(a, b)})
			})
		default:
			var found func(func(collection.Pair) bool)
			if found, err = c.Pairs(ctx, o.Memory/4, func() error { return tooManyPairs{} }); err == nil {
				found(give)
			}
		}
		if err = cmp.Or(err, context.Cause(ctx)); err != nil && going {
			yield(collection.Pair{}, err)
		}
	}
}

// Arrange yields the pairs of documents that each passes to emit, in the same form and order as Pairs.
func (l *Listing) Arrange(ctx context.Context, unordered bool, memory int64, each func(emit func(a, b uint32, score float64) bool) error) iter.Seq2[collection.Pair, error] {
	return func(yield func(collection.Pair, error) bool) {
		var pairs []collection.Pair
		const bytes = 48 // of a pair: a growing slice exists twice
		going, left := true, max(memory/bytes, 1)
		give := func(p collection.Pair) bool {
			p.A, p.B = l.ranked(p.A), l.ranked(p.B)
			going = yield(p, nil)
			return going
		}
		err := each(func(a, b uint32, score float64) bool {
			a, b = l.rankOf(a), l.rankOf(b)
			p := collection.Pair{Match: score, A: min(a, b), B: max(a, b)}
			if unordered {
				return give(p)
			}
			if left--; left >= 0 {
				pairs = append(pairs, p)
			}
			return left >= 0
		})
		if err == nil && left < 0 {
			err = tooManyPairs{}
		}
		if err == nil {
			err = ordered.InPlace(ctx, pairs, func(x, y collection.Pair) int {
				return cmp.Or(cmp.Compare(y.Match, x.Match), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
			})
		}
		for i := 0; i < len(pairs) && going && err == nil; i++ {
			going = give(pairs[i])
		}
		if err = cmp.Or(err, context.Cause(ctx)); err != nil && going {
			yield(collection.Pair{}, err)
		}
	}
}

// CountPairs returns how many pairs there are.
func (l *Listing) CountPairs(ctx context.Context, by Criterion, o JoinOptions) (int64, error) {
	c, err := l.collection(ctx, by, true, o)
	if err != nil {
		return 0, err
	}
	return c.Count(ctx)
}
