package search

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/texts"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// Queries of AnyVerified that are decided together, at most, and candidates of each that are held.
const (
	anyQueries    = 1 << 15
	anyCandidates = 32
)

// eachShare calls do for the numbers 0..n-1, a share of consecutive ones at a time, on all
// processors.
func eachShare(ctx context.Context, n, share int, do func(i int) error) error {
	shares := (n + share - 1) / share
	return pipeline.Ordered(ctx, shares, runtime.GOMAXPROCS(0), func(s int) (struct{}, error) {
		for i := s * share; i < min((s+1)*share, n); i++ {
			if err := do(i); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	}, func(int, struct{}) error { return nil })
}

// anyShare is how many queries a goroutine takes at a time.
const anyShare = 16

// AnyMatches says for each of n documents whether AnyMatch finds a match by the criterion. document
// makes a fingerprinted one, once or more; it is called from several goroutines. Verified
// candidates of many are compared in the order in which their texts lie.
func AnyMatches(ctx context.Context, v *view.View, n int, document func(i int) sstable.Document, by view.Criterion) (known []bool, err error) {
	known = make([]bool, n)
	single := func(i int) (err error) {
		d := document(i)
		_, known[i], err = AnyMatch(ctx, v, &d, by, 1)
		return err
	}
	if !by.Jaccard || !by.Verified || n < 2 {
		return known, eachShare(ctx, n, anyShare, single)
	}
	together := int(min(max(v.Memory/8/(anyCandidates*textPairBytes), 1), anyQueries))
	for from := 0; from < n; from += together {
		b := &anyBatch{v: v, by: by, queries: make([]anyQuery, min(together, n-from))}
		if err := b.run(ctx, func(i int) sstable.Document { return document(from + i) }); err != nil {
			return nil, err
		}
		left, err := b.decideCrowds(ctx, b.left())
		if err != nil {
			return nil, err
		}
		for i := range b.queries {
			known[from+i] = b.queries[i].known.Load()
		}
		if err := eachShare(ctx, len(left), 1, func(i int) error { return single(from + left[i]) }); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// An anyBatch decides for a number of queries whether they have a match.
type anyBatch struct {
	v       *view.View
	by      view.Criterion
	queries []anyQuery
}

// An anyQuery is one of them.
type anyQuery struct {
	of         sstable.Document
	candidates []textPair // those that have not been compared
	known      atomic.Bool
	more       bool // there may be other candidates
}

// left returns the numbers of queries that are not decided.
func (b *anyBatch) left() (left []int) {
	for i := range b.queries {
		if q := &b.queries[i]; !q.known.Load() && q.more {
			left = append(left, i)
		}
	}
	return left
}

// run finds the candidates of each query up to the first one whose estimate reaches the threshold,
// and compares the best one, which mostly decides. Of queries that are not decided it finds more,
// and compares all of them.
func (b *anyBatch) run(ctx context.Context, document func(i int) sstable.Document) error {
	err := eachShare(ctx, len(b.queries), anyShare, func(i int) error {
		b.queries[i].of = document(i)
		return b.gather(ctx, i, anyCandidates, func(s minhash.Score) bool { return s.Score >= b.by.T })
	})
	if err == nil {
		err = b.compare(ctx, 1)
	}
	if err != nil {
		return err
	}
	left := b.left()
	err = eachShare(ctx, len(left), anyShare, func(i int) error {
		return b.gather(ctx, left[i], anyCandidates, nil)
	})
	if err != nil {
		return err
	}
	return b.compare(ctx, anyCandidates)
}

// gather finds candidates of a query, up to the first one that is enough, if that is not nil, or to
// most of them.
func (b *anyBatch) gather(ctx context.Context, query, most int, enough func(minhash.Score) bool) error {
	q := &b.queries[query]
	x := &existence{v: b.v, ctx: ctx, by: b.by, of: &q.of, most: 1, except: string(q.of.ID)}
	q.candidates, q.more = q.candidates[:0], false
	x.gather = func(s minhash.Score, p view.Place) bool {
		q.candidates = append(q.candidates, pairOf(b.v, query, p, s.Score))
		q.more = len(q.candidates) == most || enough != nil && enough(s)
		return q.more
	}
	_, _, err := x.match()
	return err
}

// compare compares the best candidates of each query that is not decided, at most most of them.
func (b *anyBatch) compare(ctx context.Context, most int) error {
	x := &textPairs{v: b.v, compare: b.compareDoc}
	for i := range b.queries {
		if q := &b.queries[i]; !q.known.Load() {
			n := min(most, len(q.candidates))
			slices.SortStableFunc(q.candidates, func(a, b textPair) int { return cmp.Compare(b.estimate, a.estimate) })
			x.pairs = append(x.pairs, q.candidates[:n]...)
			q.candidates = q.candidates[n:]
		}
	}
	err := x.compareTexts(ctx)
	if err == nil {
		err = x.failed
	}
	return err
}

// compareDoc compares the text of a document with those queries that are not decided.
func (b *anyBatch) compareDoc(sets *texts.Shingler, text []byte, pairs []textPair) {
	for i := range pairs {
		q := &b.queries[pairs[i].query]
		if q.known.Load() {
			continue
		}
		similar := bytes.Equal(q.of.Text, text) // they have words, as they have candidates
		if !similar {
			other := sets.LastSet(text)
			_, similar = sets.Brief(q.of.Text).JaccardAtLeast(other, b.by.T)
		}
		if similar {
			q.known.Store(true)
		}
	}
}
