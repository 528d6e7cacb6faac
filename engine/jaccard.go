package engine

import (
	"context"
	"iter"
	"sync"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/minhash"
)

// sample returns what a search by Jaccard looks for.
func (d Doc) sample() search.Sample { return search.Sample{ID: d.ID, Text: d.Text} }

// Jaccard yields every visible document whose estimated Jaccard similarity to doc is t or more, 0 <
// t <= 1: the most similar first, then by ID. The estimates come from the sketches
// (minhash.Jaccard); none that reaches t is missed. What is looked for is doc.Text, or, if that is
// empty, the stored document doc.ID, which must be there (ErrNotFound). The document that is stored
// as doc.ID is no match. Other errors are ErrInvalid, ErrNoSketches, ErrTooLarge for more documents
// than fit into Options.Memory, ErrClosed,
// *CorruptionError, and that of the context; an error is the last thing that is yielded.
func (s *Snapshot) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return s.jaccardBy(ctx, doc, Jaccard(t))
}

// JaccardVerified yields what Jaccard does with the scores computed from the texts themselves: no
// document whose text is less similar than t is yielded, and every score is exact. Candidates are
// those whose estimate is not below t by more than 3.3 standard errors. The database must keep
// texts (ErrParams).
func (s *Snapshot) JaccardVerified(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return s.jaccardBy(ctx, doc, Jaccard(t).Verified())
}

func (s *Snapshot) jaccardBy(ctx context.Context, doc Doc, by Criterion) iter.Seq2[Match, error] {
	return s.yieldJaccard(ctx, func(q *search.Jaccard) error { return q.Find(ctx, &s.v, doc.sample(), by.by) })
}

// JaccardSketch yields what Jaccard does for a text with this sketch, which must have been made
// with the database's parameters (ErrParams if it is too long).
func (s *Snapshot) JaccardSketch(ctx context.Context, sketch minhash.Sketch, t float64) iter.Seq2[Match, error] {
	return s.yieldJaccard(ctx, func(q *search.Jaccard) error { return q.FindSketch(ctx, &s.v, sketch, t) })
}

// CountJaccard returns how many documents Jaccard yields, or JaccardVerified if the criterion,
// which must be one of Jaccard, is verified.
func (s *Snapshot) CountJaccard(ctx context.Context, doc Doc, by Criterion) (n int64, err error) {
	sc := jaccardScratches.Get().(*jaccardScratch)
	defer sc.release()
	err = s.v.Safely(ctx, func() error {
		if err := sc.Find(ctx, &s.v, doc.sample(), by.by); err != nil {
			return err
		}
		n = int64(len(sc.Hits))
		return nil
	})
	return n, err
}

// A jaccardScratch is the memory of a Jaccard query.
type jaccardScratch struct {
	search.Jaccard
	matches []Match
}

var jaccardScratches = sync.Pool{New: func() any { return new(jaccardScratch) }}

// release returns the memory to the pool.
func (sc *jaccardScratch) release() {
	sc.Forget()
	jaccardScratches.Put(sc)
}

// yieldJaccard yields the hits that find leaves in the query, in order.
func (s *Snapshot) yieldJaccard(ctx context.Context, find func(*search.Jaccard) error) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := jaccardScratches.Get().(*jaccardScratch)
		defer sc.release()
		hits := func() ([]search.JaccardHit, error) {
			err := find(&sc.Jaccard)
			return sc.Hits, err
		}
		view.InOrder(ctx, &s.v, &sc.matches, hits, search.CompareJaccard, jaccardMatch, yield)
	}
}

func jaccardMatch(h *search.JaccardHit) Match { return Match(h.Match()) }
