package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/simdb/simdb/engine/internal/rows"
	"github.com/simdb/simdb/engine/internal/texts"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/pipeline"
)

// verifyQueries is how many queries of a batch a goroutine finds candidates for at a time.
const verifyQueries = 64

// A verifyBatch is a search for many samples whose matches texts decide. Candidates of consecutive
// queries are gathered until they take a share of the memory of a query, or all queries have
// theirs. Then the texts of all of them are compared in the order in which they lie.
type verifyBatch struct {
	v       *view.View
	samples func(query int) Sample
	by      view.Criterion
	most    int64 // bytes of candidates and sets that are gathered
	emit    func(query int, matches []view.Match) bool

	from, to int // queries that have been gathered
	sets     []texts.Set
	pairs    []textPair
	size     int64
	matches  []view.Match
}

// gathered is the candidates of a few queries.
type gathered struct {
	sets  []texts.Set // of each query: nil if it has no candidates
	pairs []textPair
	ended int   // queries, from the first on, that have theirs
	err   error // of the one after these; nil for too many candidates
}

// EachVerified finds for each of n samples what Jaccard.Find finds by a verified criterion. It
// calls emit, query by query, with matches in order, a part of those of a query at a time, until it
// returns false. matches is used again after it. An error that one of the queries has ends the
// batch after the queries before it, and names its position.
func EachVerified(ctx context.Context, v *view.View, n int, samples func(query int) Sample, by view.Criterion, emit func(query int, matches []view.Match) bool) error {
	b := &verifyBatch{v: v, samples: samples, by: by, most: max(v.Memory/4, 1), emit: emit}
	workers := runtime.GOMAXPROCS(0)
	ahead := int64(2 * workers) // of pipeline.Ordered
	most := int(b.most / (ahead + 1) / textPairBytes)
	find := func(i int) (gathered, error) {
		q := jaccardPool.Get().(*Jaccard)
		defer jaccardPool.Put(q)
		defer q.Forget()
		return b.gather(ctx, q, i*verifyQueries, min((i+1)*verifyQueries, n), most), ctx.Err()
	}
	err := pipeline.Ordered(ctx, (n+verifyQueries-1)/verifyQueries, workers, find, func(i int, g gathered) error {
		if err := b.add(ctx, &g); err != nil {
			return err
		}
		end := min((i+1)*verifyQueries, n)
		for g.err == nil && b.to < end { // the candidates of one, or what is left, are too many for most
			q := jaccardPool.Get().(*Jaccard)
			g = b.gather(ctx, q, b.to, end, max(most, 1))
			if g.ended == 0 && g.err == nil {
				g = b.gather(ctx, q, b.to, b.to+1, v.Most(1))
			}
			q.Forget()
			jaccardPool.Put(q)
			if err := b.add(ctx, &g); err != nil {
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
	if errors.Is(err, rows.ErrStopped) {
		return nil
	}
	return err
}

// at returns the error of a query.
func (b *verifyBatch) at(query int, err error) error {
	return fmt.Errorf("document %d of the batch: %w", query, err)
}

// gather finds the candidates of queries [from, to), as long as they are at most most, and the sets
// of those that have any.
func (b *verifyBatch) gather(ctx context.Context, q *Jaccard, from, to, most int) (g gathered) {
	sets := b.v.Texts.Shingler()
	for query := from; query < to; query++ {
		set, err := b.candidates(ctx, q, sets, query)
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

// candidates leaves the candidates of a query in q.Hits, and returns its set if there are any.
func (b *verifyBatch) candidates(ctx context.Context, q *Jaccard, sets *texts.Shingler, query int) (set texts.Set, err error) {
	of := b.samples(query)
	err = b.v.Safely(ctx, func() error {
		if err := q.findCandidates(ctx, b.v, of, b.by); err != nil || len(q.Hits) == 0 {
			return err
		}
		text, err := of.readText(b.v)
		if err == nil {
			set = sets.Set(text)
		}
		return err
	})
	return set, err
}

// add takes the candidates of the next queries.
func (b *verifyBatch) add(ctx context.Context, g *gathered) error {
	size := int64(len(g.pairs)) * textPairBytes
	for _, set := range g.sets {
		size += 8 * int64(len(set)+3)
	}
	if b.size > 0 && b.size+size > b.most {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.sets, b.pairs = append(b.sets, g.sets...), append(b.pairs, g.pairs...)
	b.to, b.size = b.to+g.ended, b.size+size
	return nil
}

// flush compares the texts of what has been gathered, and emits the matches.
func (b *verifyBatch) flush(ctx context.Context) error {
	t := b.by.T
	x := &textPairs{v: b.v, pairs: b.pairs, compare: func(sets *texts.Shingler, text []byte, pairs []textPair) {
		for i := range pairs {
			p := &pairs[i]
			p.score = similarity(b.sets[int(p.query)-b.from], b.samples(int(p.query)).Text, sets, text, t)
		}
	}}
	if err := x.compareTexts(ctx); err != nil {
		return b.at(b.from, err)
	}
	kept := slices.DeleteFunc(b.pairs, func(p textPair) bool { return p.score < t || x.failed != nil && p.query >= x.atQuery })
	slices.SortStableFunc(kept, func(a, b textPair) int { return cmp.Compare(a.query, b.query) })
	for len(kept) > 0 {
		n := 1
		for n < len(kept) && kept[n].query == kept[0].query {
			n++
		}
		if err := b.emitQuery(ctx, kept[:n]); err != nil {
			return err
		}
		kept = kept[n:]
	}
	clear(b.sets)
	clear(b.pairs)
	b.from, b.sets, b.pairs, b.size = b.to, b.sets[:0], b.pairs[:0], 0
	if x.failed != nil {
		return b.at(int(x.atQuery), x.failed)
	}
	return nil
}

// emitQuery emits the matches of a query.
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
	for len(hits) > 0 && err == nil {
		n := min(len(hits), rows.MatchBatch)
		b.matches = b.matches[:0]
		err = b.v.Safely(ctx, func() error {
			for i := range hits[:n] {
				b.matches = append(b.matches, hits[i].Match())
			}
			return nil
		})
		if err == nil && !b.emit(query, b.matches) {
			return rows.ErrStopped
		}
		hits = hits[n:]
	}
	clear(b.matches)
	if err != nil {
		return b.at(query, err)
	}
	return nil
}
