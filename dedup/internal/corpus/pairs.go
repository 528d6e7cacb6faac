package corpus

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// Criterion says what matches: fingerprints within K bits, or, with Sets, what is similar by the
// measure of the corpus, at least T.
type Criterion struct {
	Sets    bool
	K       int
	T       float64
	Measure setjoin.Measure
}

// CriterionOf returns a criterion of the engine, or engine.ErrInvalid. Contains and Within are the
// same one: a pair has no direction.
func CriterionOf(by engine.Criterion) (c Criterion, err error) {
	k, t := by.K(), by.T()
	switch by.Kind() {
	case engine.KindNear:
		if k < 0 {
			err = fmt.Errorf("a distance of %d bits: %w", k, engine.ErrInvalid)
		}
		return Criterion{K: k}, err
	case engine.KindJaccard:
		c = Criterion{Sets: true, T: t}
	case engine.KindLevenshtein:
		if c = Levenshtein(t); t < setjoin.LeastEdits {
			t = 0
		}
	case engine.KindCosine:
		c = Cosine(t)
	case engine.KindContains, engine.KindWithin:
		c = Contained(t)
	default:
		return c, fmt.Errorf("there is no criterion: %w", engine.ErrInvalid)
	}
	if !(t > 0 && t <= 1) {
		err = fmt.Errorf("a similarity of %g is outside 0 < t <= 1: %w", c.T, engine.ErrInvalid)
	}
	return c, err
}

// Levenshtein and Cosine are the criteria that compare texts themselves.
func Levenshtein(t float64) Criterion {
	return Criterion{Sets: true, T: t, Measure: setjoin.Measure{Kind: setjoin.Edits, Q: setjoin.EditGrams(t)}}
}

// Cosine is described at Levenshtein.
func Cosine(t float64) Criterion {
	return Criterion{Sets: true, T: t, Measure: setjoin.Measure{Kind: setjoin.Cosine}}
}

// Contained is the criterion that of two documents the smaller one is in the larger one to a share
// of its shingles.
func Contained(t float64) Criterion {
	return Criterion{Sets: true, T: t, Measure: setjoin.Measure{Kind: setjoin.Contained}}
}

// JoinOptions are the options of joins.
type JoinOptions struct {
	Memory   int64 // bytes of a whole run; a join takes a quarter for its index, pairs another one
	Progress func(engine.Progress)
}

// prints and sets are the options of the two joins.
func (o JoinOptions) prints(n int64) selfjoin.Options {
	return selfjoin.Options{Progress: func(done, total int64) {
		share := float64(done) / float64(max(total, 1))
		o.Progress(engine.Progress{Stage: "join", Done: int64(share * float64(n)), Total: n, Unit: "documents"})
	}}
}

func (o JoinOptions) sets(judge func() setjoin.Judge) setjoin.Options {
	return setjoin.Options{Memory: o.Memory / 4, Judge: judge, Progress: func(done, total int) {
		o.Progress(engine.Progress{Stage: "join", Done: int64(done), Total: int64(total), Unit: "documents"})
	}}
}

// tooManyPairs says that pairs do not fit into memory. It is engine.ErrTooLarge.
type tooManyPairs struct{}

func (tooManyPairs) Error() string {
	return fmt.Sprintf("more pairs than %s has room for; %s lists any number of them", option.Name("Memory"), option.Name("Unordered"))
}

func (tooManyPairs) Unwrap() error { return engine.ErrTooLarge }

// A Pair is two documents that match, by number, A before B in the order of IDs.
type Pair struct {
	Match float64 // the score, or less the distance: the greater the better
	A, B  uint32
}

// Pairs yields every pair of documents that match: the best match first, then by A, then by B,
// which holds the pairs in memory, or, unordered, as they are found, always in the same order.
func (l *Listing) Pairs(ctx context.Context, by Criterion, unordered bool, o JoinOptions) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		each := l.sortedPairs
		if unordered {
			each = l.eachPair
		}
		going := true
		err := each(ctx, by, o, func(p Pair) bool {
			p.A, p.B = l.ranked(p.A), l.ranked(p.B)
			going = yield(p, nil)
			return going
		})
		if going && err != nil {
			yield(Pair{}, err)
		}
	}
}

// sortedPairs is eachPair in the order of Pairs.
func (l *Listing) sortedPairs(ctx context.Context, by Criterion, o JoinOptions, emit func(Pair) bool) error {
	// A slice that grows is held twice for a moment.
	most := max(1, o.Memory/4/int64(3*unsafe.Sizeof(Pair{})))
	var pairs []Pair
	tooMany := false
	err := l.eachPair(ctx, by, o, func(p Pair) bool {
		if int64(len(pairs)) < most {
			pairs = append(pairs, p)
			return true
		}
		tooMany = true
		return false
	})
	if err != nil {
		return err
	}
	if tooMany {
		return tooManyPairs{}
	}
	o.Progress(engine.Progress{Stage: "sort"})
	err = ordered.InPlace(ctx, pairs, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(q.Match, p.Match), cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
	})
	if err != nil {
		return err
	}
	for i, p := range pairs {
		if i%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !emit(p) {
			return nil
		}
	}
	return nil
}

// Of returns the match of a document with an ID.
func (by Criterion) Of(id string, match float64) engine.Match {
	if by.Sets {
		return engine.Match{ID: id, Score: match, Exact: true}
	}
	return engine.Match{ID: id, Distance: int(-match)}
}

// CountPairs returns how many pairs there are.
func (l *Listing) CountPairs(ctx context.Context, by Criterion, o JoinOptions) (n int64, err error) {
	err = l.partPairs(ctx, by, o, func(a, b []uint32, _ float64) bool {
		if b == nil {
			n += int64(len(a)) * int64(len(a)-1) / 2
		}
		n += int64(len(a)) * int64(len(b))
		return true
	})
	return n, err
}

// partPairs is classPairs of parts of classes, of which any two documents match.
func (l *Listing) partPairs(ctx context.Context, by Criterion, o JoinOptions, emit func(a, b []uint32, match float64) bool) error {
	return l.classPairs(ctx, by, o, func(a, b []uint32, match float64) bool {
		return l.Groups.split(a, b, func(a, b []uint32) bool { return emit(a, b, match) })
	})
}

// classPairs calls emit for all pairs of classes that match, with how well they do, and for each
// class of several documents, with b nil, until it returns false. Groups may leave none of a pair.
func (l *Listing) classPairs(ctx context.Context, by Criterion, o JoinOptions, emit func(a, b []uint32, match float64) bool) error {
	if by.Sets {
		return l.setPairs(ctx, by, o, emit)
	}
	return l.PrintPairs(ctx, by.K, o.prints(l.N), func(a, b []uint32, distance int) bool { return emit(a, b, -float64(distance)) })
}

// eachPair calls emit for every pair as it is found, by the ranks of its documents, until it returns
// false.
func (l *Listing) eachPair(ctx context.Context, by Criterion, o JoinOptions, emit func(Pair) bool) error {
	give := func(match float64, a, b uint32) bool {
		a, b = l.rankOf(a), l.rankOf(b)
		return emit(Pair{match, min(a, b), max(a, b)})
	}
	err := l.partPairs(ctx, by, o, func(a, b []uint32, match float64) bool {
		for i, x := range a {
			others := b
			if b == nil {
				others = a[i+1:]
			}
			for _, y := range others {
				if !give(match, x, y) {
					return false
				}
			}
			if ctx.Err() != nil {
				return false
			}
		}
		return true
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// setPairs calls emit for all pairs of classes that match, and for each class of several documents,
// with b nil, until it returns false.
func (l *Listing) setPairs(ctx context.Context, by Criterion, o JoinOptions, emit func(a, b []uint32, score float64) bool) error {
	all, err := l.setClasses(ctx)
	if err != nil {
		return err
	}
	judges := l.Judges(ctx, by.T)
	for class := range all.ends {
		docs, score, ok := all.of(uint32(class)), 1.0, true
		if len(docs) > 1 && judges != nil { // equal texts may have no words
			score, ok, err = judges().Compare(int(docs[0]), int(docs[1]))
		}
		if err != nil || len(docs) > 1 && ok && !emit(docs, nil, score) {
			return err
		}
	}
	class := make([]uint32, l.N) // of each first document
	firsts := all.firsts()
	for n, doc := range firsts {
		class[doc] = uint32(n)
	}
	slices.Sort(firsts)
	so := o.sets(judges)
	so.Order = firsts
	if l.Groups != nil {
		so.Accept = func(a, b int) bool { return !l.Groups.none(all.of(class[a]), all.of(class[b])) }
	}
	return l.Sets.Pairs(ctx, by.T, so, func(a, b int, score float64) bool { return emit(all.of(class[a]), all.of(class[b]), score) })
}
