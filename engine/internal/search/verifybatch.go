package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pipeline"
)

// verifyQueries is how many queries of a batch a goroutine finds candidates for at a time. Queries
// with a crowd are decided together: at most as many as a query mask has bits.
const verifyQueries = 64

// A verifyBatch is a search for many samples whose matches are decided by texts. It collects
// candidates of consecutive queries until they fill a share of the memory of a query, or no query
// is left. Then it compares the texts of all candidates in storage order.
type verifyBatch struct {
	v       *view.View
	samples func(query int) Sample
	by      view.Criterion
	most    int64 // limit of the memory for candidates and sets, in bytes
	emit    func(query int, matches []view.Match) bool

	from, to int // range of the collected queries
	sets     []features.Hashes
	pairs    []textPair
	size     int64
	matches  []view.Match

	crowd    int        // largest number of candidates that is not a crowd
	together int        // limit of the queries with a crowd decided together
	crowded  []crowdHit // matches of such queries, by query, best first
}

// gathered holds the candidates of a few queries.
type gathered struct {
	sets    []features.Hashes // set of each query; nil if it has no candidates
	pairs   []textPair
	crowded []*crowdQuery // queries with a crowd, which have no pairs
	ended   int           // number of completed queries, from the first on
	err     error         // error of the next query; nil if it only had too many candidates
}

// EachVerified runs Jaccard.Find by a verified criterion for each of n samples. It calls emit,
// query by query, with some matches of a query at a time, in order, until emit returns false. The
// slice matches is reused after emit returns. If a query fails, the batch ends after the queries
// before it, with an error that names its position.
func EachVerified(ctx context.Context, v *view.View, n int, samples func(query int) Sample, by view.Criterion, emit func(query int, matches []view.Match) bool) error {
	b := &verifyBatch{v: v, samples: samples, by: by, most: max(v.Memory/4, 1), emit: emit, crowd: crowdFrom(v), together: verifyQueries}
	workers := runtime.GOMAXPROCS(0)
	ahead := int64(2 * workers) // as in pipeline.Ordered
	most := int(b.most / (ahead + 1) / textPairBytes)
	find := func(i int) (gathered, error) {
		q := jaccardPool.Get().(*Jaccard)
		defer jaccardPool.Put(q)
		defer q.Forget()
		return b.gather(ctx, q, i*verifyQueries, min((i+1)*verifyQueries, n), most, b.crowd), ctx.Err()
	}
	err := pipeline.Ordered(ctx, (n+verifyQueries-1)/verifyQueries, workers, find, func(i int, g gathered) error {
		crowd, err := b.take(ctx, &g)
		if err != nil {
			return err
		}
		end := min((i+1)*verifyQueries, n)
		for g.err == nil && b.to < end { // one query, or the rest, has too many candidates for most
			q := jaccardPool.Get().(*Jaccard)
			g = b.gather(ctx, q, b.to, end, max(most, 1), crowd)
			if g.ended == 0 && g.err == nil {
				g = b.gather(ctx, q, b.to, b.to+1, v.Most(1), 0)
			}
			q.Forget()
			jaccardPool.Put(q)
			if crowd, err = b.take(ctx, &g); err != nil {
				return err
			}
		}
		if g.err != nil {
			failed := b.to
			if err := b.flush(ctx); err != nil {
				return err
			}
			return b.at(failed, g.err)
		}
		return nil
	})
	if err == nil {
		err = b.flush(ctx)
	}
	if errors.Is(err, view.ErrStopped) {
		return nil
	}
	return err
}

func (b *verifyBatch) at(query int, err error) error {
	return fmt.Errorf("document %d of the batch: %w", query, err)
}

// gather collects the candidates of queries [from, to) until there are more than most, and the sets
// of those queries that have any. Queries with more than crowd candidates are added to g.crowded
// instead, unless crowd is 0.
func (b *verifyBatch) gather(ctx context.Context, q *Jaccard, from, to, most, crowd int) (g gathered) {
	sets := b.v.Texts.Sets()
	for query := from; query < to; query++ {
		set, err := b.candidates(ctx, q, sets, query, crowd)
		if errors.Is(err, errCrowded) {
			var c *crowdQuery
			if c, err = b.crowdQuery(ctx, query); err == nil {
				g.crowded = append(g.crowded, c)
				g.sets, g.ended = append(g.sets, nil), g.ended+1
				continue
			}
		}
		if err != nil {
			g.err = err
			return g
		}
		if len(g.pairs)+len(q.Hits) > most {
			return g
		}
		for i := range q.Hits {
			h := &q.Hits[i]
			g.pairs = append(g.pairs, pairOf(b.v, query, h.Place, h.Score.Score))
		}
		g.sets, g.ended = append(g.sets, set), g.ended+1
	}
	return g
}

// candidates sets q.Hits to the candidates of a query, and returns its set if there are any.
func (b *verifyBatch) candidates(ctx context.Context, q *Jaccard, sets *features.SetHasher, query, crowd int) (set features.Hashes, err error) {
	sample := b.samples(query)
	q.few = crowd
	defer func() { q.few = 0 }()
	err = b.v.Safely(ctx, func() error {
		if err := q.findCandidates(ctx, b.v, sample, b.by); err != nil || len(q.Hits) == 0 {
			return err
		}
		text, err := sample.ReadText(b.v)
		if err == nil {
			set = sets.Set(text)
		}
		return err
	})
	return set, err
}

// take adds the candidates of the next queries, and decides those with a crowd: see decideCrowds.
func (b *verifyBatch) take(ctx context.Context, g *gathered) (crowd int, err error) {
	if crowd, err = b.decideCrowds(ctx, g); err != nil {
		return 0, err
	}
	size := int64(len(g.pairs)) * textPairBytes
	for _, set := range g.sets {
		size += 8 * int64(len(set)+3)
	}
	if b.size > 0 && b.size+size > b.most {
		if err := b.flush(ctx); err != nil {
			return 0, err
		}
	}
	b.sets, b.pairs = append(b.sets, g.sets...), append(b.pairs, g.pairs...)
	b.to, b.size = b.to+g.ended, b.size+size
	return crowd, nil
}

// flush compares the texts of the collected candidates, and emits the matches.
func (b *verifyBatch) flush(ctx context.Context) error {
	t := b.by.T
	x := &textPairs{v: b.v, pairs: b.pairs, compare: func(sets *features.SetHasher, text []byte, pairs []textPair) {
		for i := range pairs {
			p := &pairs[i]
			p.score = similarity(b.sets[int(p.query)-b.from], b.samples(int(p.query)).Text, sets, text, t)
		}
	}}
	if err := x.compareTexts(ctx); err != nil {
		return b.at(b.from, err)
	}
	matches := slices.DeleteFunc(b.pairs, func(p textPair) bool { return p.score < t || x.failed != nil && p.query >= x.atQuery })
	slices.SortStableFunc(matches, func(a, b textPair) int { return cmp.Compare(a.query, b.query) })
	for len(matches) > 0 {
		n := 1
		for n < len(matches) && matches[n].query == matches[0].query {
			n++
		}
		if err := b.emitCrowds(ctx, int(matches[0].query)); err != nil {
			return err
		}
		if err := b.emitQuery(ctx, matches[:n]); err != nil {
			return err
		}
		matches = matches[n:]
	}
	before := b.to
	if x.failed != nil {
		before = int(x.atQuery)
	}
	if err := b.emitCrowds(ctx, before); err != nil {
		return err
	}
	clear(b.sets)
	clear(b.pairs)
	clear(b.crowded)
	b.from, b.sets, b.pairs, b.crowded, b.size = b.to, b.sets[:0], b.pairs[:0], nil, 0
	if x.failed != nil {
		return b.at(int(x.atQuery), x.failed)
	}
	return nil
}

func (b *verifyBatch) emitQuery(ctx context.Context, pairs []textPair) error {
	var hits []JaccardHit
	query := int(pairs[0].query)
	err := b.v.Safely(ctx, func() error {
		for i := range pairs {
			p := pairs[i].place(b.v)
			id, err := p.ID()
			if err != nil {
				return err
			}
			hits = append(hits, JaccardHit{id, pairs[i].exactly(), p})
		}
		slices.SortFunc(hits, CompareJaccard)
		return nil
	})
	if err != nil {
		return b.at(query, err)
	}
	return b.emitHits(ctx, query, len(hits), func(i int) *JaccardHit { return &hits[i] })
}

// emitHits emits n matches of a query, which are in order.
func (b *verifyBatch) emitHits(ctx context.Context, query, n int, hit func(i int) *JaccardHit) error {
	defer func() { clear(b.matches) }()
	for from := 0; from < n; from += view.MatchBatch {
		b.matches = b.matches[:0]
		err := b.v.Safely(ctx, func() error {
			for i := from; i < min(from+view.MatchBatch, n); i++ {
				b.matches = append(b.matches, hit(i).Match())
			}
			return nil
		})
		if err != nil {
			return b.at(query, err)
		}
		if !b.emit(query, b.matches) {
			return view.ErrStopped
		}
	}
	return nil
}

// crowdQuery returns a query of the batch as a query of a crowd.
func (b *verifyBatch) crowdQuery(ctx context.Context, query int) (c *crowdQuery, err error) {
	sample := b.samples(query)
	err = b.v.Safely(ctx, func() error {
		sketch, err := sample.sketch(b.v)
		if err != nil {
			return err
		}
		text, err := sample.ReadText(b.v)
		if err != nil {
			return err
		}
		set := b.v.Texts.Sets().Set(text)
		c = newCrowdQuery(query, text, set, newTarget(b.v, sketch, func() features.Hashes { return set }, b.by), func(id []byte) bool { return string(id) != sample.ID })
		return nil
	})
	return c, err
}

// crowdHitBytes is the memory for a match of a crowd while a slice of matches grows.
const crowdHitBytes = 2 * 80

// decideCrowds finds the matches of the queries of g that have a crowd, and holds them until flush
// emits them. It returns the largest number of candidates that is not a crowd for the queries after
// those of g. If the matches of all queries do not fit into memory, g is cut off before the first
// undecided query, so that the matches found so far are emitted first. A query that fails alone is
// left to the search without crowds, which returns its error.
func (b *verifyBatch) decideCrowds(ctx context.Context, g *gathered) (crowd int, err error) {
	if len(g.crowded) == 0 {
		return b.crowd, nil
	}
	if err := b.flush(ctx); err != nil {
		return 0, err
	}
	most := max(int(b.most/crowdHitBytes), 1)
	for left := g.crowded; len(left) > 0; {
		if len(b.crowded) > most/2 {
			b.cut(g, left[0].number)
			return b.crowd, nil
		}
		some := left[:min(b.together, len(left))]
		limit := most
		if len(some) == 1 {
			limit = max(most, b.v.Most(jaccardHitBytes))
		}
		hits, err := b.crowdHits(ctx, some, limit)
		switch {
		case err == nil:
			left = left[len(some):]
			b.crowded = append(b.crowded, hits...)
			if len(hits) < most/4 {
				b.together = min(2*b.together, verifyQueries)
			}
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case len(some) > 1:
			b.together = len(some) / 2
		default:
			b.cut(g, some[0].number)
			return 0, nil
		}
	}
	return b.crowd, nil
}

// cut removes a query and all later ones from g.
func (b *verifyBatch) cut(g *gathered, query int) {
	g.err, g.ended = nil, query-b.to
	g.sets = g.sets[:g.ended]
	g.pairs = slices.DeleteFunc(g.pairs, func(p textPair) bool { return int(p.query) >= query })
}

// crowdHits returns the matches of queries in order, or errCrowded if there are more than most.
func (b *verifyBatch) crowdHits(ctx context.Context, queries []*crowdQuery, most int) (hits []crowdHit, err error) {
	c := &crowd{v: b.v, t: b.by.T, queries: queries}
	err = c.each(ctx, func(found []crowdHit) error {
		if len(hits)+len(found) > most {
			return errCrowded
		}
		hits = append(hits, found...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = b.v.Safely(ctx, func() error {
		slices.SortFunc(hits, func(x, y crowdHit) int {
			return cmp.Or(cmp.Compare(x.query, y.query), CompareJaccard(x.JaccardHit, y.JaccardHit))
		})
		return nil
	})
	for i := range hits {
		hits[i].query = queries[hits[i].query].number
	}
	return hits, err
}

// emitCrowds emits the matches of the queries with a crowd that precede query before.
func (b *verifyBatch) emitCrowds(ctx context.Context, before int) error {
	for len(b.crowded) > 0 && b.crowded[0].query < before {
		some, n := b.crowded, 1
		for n < len(some) && some[n].query == some[0].query {
			n++
		}
		if err := b.emitHits(ctx, some[0].query, n, func(i int) *JaccardHit { return &some[i].JaccardHit }); err != nil {
			return err
		}
		b.crowded = some[n:]
	}
	return nil
}
