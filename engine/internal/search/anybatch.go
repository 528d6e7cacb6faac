package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// Limits of AnyMatches: queries decided together by their texts, and candidates held for each.
const (
	anyQueries    = 1 << 15
	anyCandidates = 64
)

// eachShare calls do for the numbers 0..n-1 on all processors. A goroutine handles share
// consecutive numbers at a time.
func eachShare(ctx context.Context, n, share int, do func(i int) error) error {
	shares := (n + share - 1) / share
	return pipeline.Each(ctx, shares, runtime.GOMAXPROCS(0), func(s int) (err error) {
		for i := s * share; i < min((s+1)*share, n) && err == nil; i++ {
			err = do(i)
		}
		return err
	})
}

// anyShare is how many queries a goroutine handles at a time.
const anyShare = 16

// AnyMatches reports for each of n documents whether AnyMatch finds a match by the criterion. If
// named is not nil, it sets named[i] to the match that AnyMatch names among at most most matches.
// document returns document i with its fingerprint, and may be called several times, and from
// several goroutines. Verified candidates of many queries are compared in storage order.
func AnyMatches(ctx context.Context, v *view.View, n int, document func(i int) table.Document, by view.Criterion, most int, named []view.Match) (known []bool, err error) {
	known = make([]bool, n)
	if named == nil {
		named, most = make([]view.Match, n), 1
	}
	single := func(i int) (err error) {
		d := document(i)
		named[i], known[i], err = AnyMatch(ctx, v, &d, nil, by, most)
		return err
	}
	if n == 1 {
		return known, single(0)
	}
	if !by.Verified {
		return known, eachShare(ctx, n, anyShare, single)
	}
	together := int(min(max(v.Memory/8/(anyCandidates*textPairBytes), 1), anyQueries))
	for from := 0; from < n; from += together {
		b := &anyBatch{v: v, by: by, most: most, queries: make([]anyQuery, min(together, n-from))}
		if err := b.run(ctx, func(i int) table.Document { return document(from + i) }); err != nil {
			return nil, err
		}
		left, err := b.decideCrowds(ctx, b.left())
		if err != nil {
			return nil, err
		}
		for i := range b.queries {
			q := &b.queries[i]
			known[from+i], named[from+i] = q.known.Load(), q.best
			if most > 1 && known[from+i] && !q.named {
				left = append(left, i) // it has a match, which may not be the best one
			}
		}
		if err := eachShare(ctx, len(left), 1, func(i int) error { return single(from + left[i]) }); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// An anyBatch decides for a number of queries whether they have a match, and finds the best of the
// first most matches.
type anyBatch struct {
	v       *view.View
	by      view.Criterion
	most    int
	queries []anyQuery
}

type anyQuery struct {
	doc        table.Document
	set        features.Hashes // of its text, if matches are named
	candidates []textPair      // in the order of the search
	known      atomic.Bool
	more       bool // there may be other candidates
	best       view.Match
	named      bool // best is set
}

// left returns the indexes of the undecided queries.
func (b *anyBatch) left() (left []int) {
	for i := range b.queries {
		if q := &b.queries[i]; !q.known.Load() && q.more {
			left = append(left, i)
		}
	}
	return left
}

// run compares the first candidates of all queries. If one match is enough, it first collects
// candidates up to the first one whose estimate reaches the threshold, and compares only the best
// of these, which mostly decides the query.
func (b *anyBatch) run(ctx context.Context, document func(i int) table.Document) error {
	left := make([]int, len(b.queries))
	for i := range left {
		left[i] = i
	}
	err := eachShare(ctx, len(left), anyShare, func(i int) error {
		b.queries[i].doc = document(i)
		return nil
	})
	if err == nil && b.most == 1 {
		err = b.round(ctx, left, 1, func(s minhash.Score) bool { return s.Score >= b.by.T })
		left = b.left()
	}
	if err == nil {
		err = b.round(ctx, left, anyCandidates, nil)
	}
	return err
}

// round collects candidates of some queries, up to the first one for which enough returns true, and
// at most anyCandidates. If a query has more than most, only the best is compared; otherwise all
// are.
func (b *anyBatch) round(ctx context.Context, queries []int, most int, enough func(minhash.Score) bool) error {
	err := eachShare(ctx, len(queries), anyShare, func(i int) error { return b.gather(ctx, queries[i], enough) })
	if err != nil {
		return err
	}
	x := &textPairs{v: b.v, compare: b.compareDoc}
	for _, i := range queries {
		q := &b.queries[i]
		if len(q.candidates) > most {
			best := slices.MinFunc(q.candidates, func(a, b textPair) int { return cmp.Compare(b.estimate, a.estimate) })
			q.candidates[0], q.candidates, q.more = best, q.candidates[:1], true
		}
		x.pairs = append(x.pairs, q.candidates...)
	}
	if err = x.compareTexts(ctx); err == nil {
		err = x.failed
	}
	for i := 0; b.most > 1 && i < len(queries) && err == nil; i++ {
		err = b.v.Safely(ctx, func() error { return b.name(queries[i], x.pairs) })
	}
	return err
}

// gather collects candidates of a query.
func (b *anyBatch) gather(ctx context.Context, query int, enough func(minhash.Score) bool) error {
	q := &b.queries[query]
	x := &existence{v: b.v, ctx: ctx, by: b.by, of: &q.doc, most: 1, except: string(q.doc.ID)}
	q.candidates, q.more = q.candidates[:0], false
	x.gather = func(s minhash.Score, p view.Place) bool {
		q.candidates = append(q.candidates, pairOf(b.v, query, p, s.Score))
		q.more = len(q.candidates) == anyCandidates || enough != nil && enough(s)
		return q.more
	}
	_, _, err := x.match()
	if b.most > 1 && len(q.candidates) > 0 {
		q.set = b.v.Texts.Sets().Set(q.doc.Text)
	}
	return err
}

// compareDoc compares the text of a document with queries. If one match is enough, it skips queries
// that have one.
func (b *anyBatch) compareDoc(sets *features.SetHasher, text []byte, pairs []textPair) {
	for i := range pairs {
		p := &pairs[i]
		q := &b.queries[p.query]
		switch {
		case b.most == 1 && q.known.Load():
			continue
		case bytes.Equal(q.doc.Text, text): // the texts have words, because there are candidates
			p.score = 1
		case q.set != nil:
			p.score = similarity(q.set, "", sets, text, b.by.T)
		default:
			other := sets.LastSet(text)
			p.score, _ = sets.JaccardAtLeast(sets.Brief(q.doc.Text), other, b.by.T)
		}
		if p.score >= b.by.T {
			q.known.Store(true)
		}
	}
}

// name sets the best match of a query among its candidates, in the order of the search, by the
// scores of compared pairs.
func (b *anyBatch) name(query int, compared []textPair) error {
	q, x := &b.queries[query], &existence{most: b.most}
	for _, c := range q.candidates {
		at, _ := slices.BinarySearchFunc(compared, c, compareByDoc)
		p := &compared[at]
		if p.score < b.by.T {
			continue
		}
		id, err := p.place(b.v).ID()
		if err != nil {
			return err
		}
		if x.take(scored(string(id), p.exactly())) {
			q.more = false // the search ends here
			break
		}
	}
	q.best, q.named = x.best, x.found > 0 && !q.more
	return nil
}

// decideCrowds decides those of some queries that have a crowd. It returns the others, and those
// that it fails to decide.
func (b *anyBatch) decideCrowds(ctx context.Context, queries []int) (left []int, err error) {
	var mu sync.Mutex
	var crowded []*crowdQuery
	most := crowdFrom(b.v)
	err = eachShare(ctx, len(queries), 1, func(i int) error {
		c := b.crowdQuery(ctx, queries[i], most)
		mu.Lock()
		defer mu.Unlock()
		if c == nil {
			left = append(left, queries[i])
		} else {
			crowded = append(crowded, c)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(crowded, verifyQueries) {
		c := &crowd{v: b.v, t: b.by.T, queries: some, first: true}
		err := c.each(ctx, func(hits []crowdHit) error {
			for _, h := range hits {
				b.queries[some[h.query].number].known.Store(true)
			}
			return nil
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, q := range some {
			if err != nil && !b.queries[q.number].known.Load() {
				left = append(left, q.number)
			}
		}
	}
	slices.Sort(left)
	return left, nil
}

// crowdQuery returns a query with more than most candidates as a query of a crowd, and nil for
// other queries.
func (b *anyBatch) crowdQuery(ctx context.Context, query, most int) *crowdQuery {
	doc := &b.queries[query].doc
	q := jaccardPool.Get().(*Jaccard)
	defer jaccardPool.Put(q)
	defer q.Forget()
	set := b.v.Texts.Sets().Set(doc.Text)
	target := newTarget(b.v, doc.Sketch, func() features.Hashes { return set }, b.by)
	q.few = most
	err := b.v.Safely(ctx, func() error { return q.bySketch(ctx, b.v, target, string(doc.ID)) })
	if q.few = 0; !errors.Is(err, errCrowded) {
		return nil // a search for only this query returns other errors, too
	}
	x := &existence{v: b.v, of: doc, except: string(doc.ID)}
	return newCrowdQuery(query, doc.Text, set, target, x.accepts)
}
