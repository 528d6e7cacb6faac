package search

import (
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/texts"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// bestCandidates is how many candidates of a query of BestMatches are held.
const bestCandidates = 64

// Best is the best of the first matches of a document, if Found.
type Best struct {
	view.Match
	Found bool
}

// BestMatches returns for each of n documents what AnyMatch finds with as many matches. document is
// as that of AnyMatches.
func BestMatches(ctx context.Context, v *view.View, n int, document func(i int) sstable.Document, by view.Criterion, most int) (best []Best, err error) {
	best = make([]Best, n)
	single := func(i int) (err error) {
		d := document(i)
		best[i].Match, best[i].Found, err = AnyMatch(ctx, v, &d, by, most)
		return err
	}
	if !by.Jaccard || !by.Verified || n < 2 {
		return best, eachShare(ctx, n, anyShare, single)
	}
	together := int(min(max(v.Memory/8/(bestCandidates*textPairBytes), 1), anyQueries))
	for from := 0; from < n; from += together {
		some := best[from:min(from+together, n)]
		b := &bestBatch{anyBatch: anyBatch{v: v, by: by, queries: make([]anyQuery, len(some))}, most: most}
		if err := b.run(ctx, func(i int) sstable.Document { return document(from + i) }, some); err != nil {
			return nil, err
		}
		left, err := b.decideCrowds(ctx, b.left())
		if err != nil {
			return nil, err
		}
		for i := range b.queries {
			if b.queries[i].known.Load() && !some[i].Found {
				left = append(left, i) // it has a match, which may not be the best one
			}
		}
		if err := eachShare(ctx, len(left), 1, func(i int) error { return single(from + left[i]) }); err != nil {
			return nil, err
		}
	}
	return best, nil
}

// A bestBatch finds the best of the first matches of a number of queries. Those that it decides are
// known, or have no more candidates.
type bestBatch struct {
	anyBatch
	most int
	sets []texts.Set
}

// run compares the first candidates of all queries, and decides those that have no others, or that
// have enough matches among them.
func (b *bestBatch) run(ctx context.Context, document func(i int) sstable.Document, best []Best) error {
	b.sets = make([]texts.Set, len(b.queries))
	err := eachShare(ctx, len(b.queries), anyShare, func(i int) error {
		q := &b.queries[i]
		q.of = document(i)
		err := b.gather(ctx, i, bestCandidates, nil)
		if len(q.candidates) > 0 && err == nil {
			b.sets[i] = b.v.Texts.Shingler().Set(q.of.Text)
		}
		return err
	})
	if err != nil {
		return err
	}
	x := &textPairs{v: b.v, compare: func(sets *texts.Shingler, text []byte, pairs []textPair) {
		for i := range pairs {
			p := &pairs[i]
			p.score = similarity(b.sets[p.query], string(b.queries[p.query].of.Text), sets, text, b.by.T)
		}
	}}
	for i := range b.queries {
		x.pairs = append(x.pairs, b.queries[i].candidates...)
	}
	if err = x.compareTexts(ctx); err == nil {
		err = x.failed
	}
	for i := 0; i < len(b.queries) && err == nil; i++ {
		err = b.v.Safely(ctx, func() error { return b.decide(i, x.pairs, &best[i]) })
	}
	return err
}

// decide takes the candidates of a query, in the order in which they were found, that match by the
// scores of compared pairs.
func (b *bestBatch) decide(query int, compared []textPair, best *Best) error {
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
			q.more = false // as the search ends here
			break
		}
	}
	if !q.more && x.found > 0 {
		q.known.Store(true)
		*best = Best{x.best, true}
	}
	return nil
}
