package engine

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
)

// A nearScratch is the memory of a Near query.
type nearScratch struct {
	search.Near
	snap    view.View // of a query that brings none
	matches []Match
}

var nearScratches = sync.Pool{New: func() any { return new(nearScratch) }}

// release returns the memory to the pool.
func (sc *nearScratch) release() {
	sc.Forget()
	sc.snap.Forget()
	nearScratches.Put(sc)
}

// Near yields every document whose fingerprint differs from fp in at most k bits, k in 0..64, in
// the database as it is when the iteration begins: nearest first, then by ID. Errors are as those
// of Snapshot.Near.
func (db *DB) Near(ctx context.Context, fp Fingerprint, k int) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := nearScratches.Get().(*nearScratch)
		defer sc.release()
		v := &sc.snap
		if err := db.s.TakeView(v); err != nil {
			yield(Match{}, err)
			return
		}
		defer v.Close()
		sc.yield(ctx, v, func() error { return sc.Find(ctx, v, fp, k) }, yield)
	}
}

// Near yields every visible document whose fingerprint differs from fp in at most k bits, k in
// 0..64: nearest first, then by ID. More than fit into Options.Memory are ErrTooLarge;
// Search with Limit or Unordered takes any number. Other errors are ErrInvalid, ErrClosed,
// *CorruptionError, and that of the context; an error is the last thing that is yielded.
func (s *Snapshot) Near(ctx context.Context, fp Fingerprint, k int) iter.Seq2[Match, error] {
	return s.nearWanted(ctx, fp, k, search.NearWant{})
}

// nearWanted is Near that yields what is wanted.
func (s *Snapshot) nearWanted(ctx context.Context, fp Fingerprint, k int, want search.NearWant) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := nearScratches.Get().(*nearScratch)
		defer sc.release()
		sc.Want = want
		sc.yield(ctx, &s.v, func() error { return sc.Find(ctx, &s.v, fp, k) }, yield)
	}
}

// nearUnordered yields what Near does as documents are found, without holding them.
func (s *Snapshot) nearUnordered(ctx context.Context, fp Fingerprint, k int) iter.Seq2[Match, error] {
	return view.UntilDone(ctx, func(yield func(Match, error) bool) {
		sc := nearScratches.Get().(*nearScratch)
		defer sc.release()
		sc.Want.Visit = func(h search.NearHit) error {
			if !yield(Match(h.Match()), nil) {
				return view.ErrStopped
			}
			return nil
		}
		err := s.v.Safely(ctx, func() error { return sc.Find(ctx, &s.v, fp, k) })
		if err != nil && !errors.Is(err, view.ErrStopped) {
			yield(Match{}, err)
		}
	})
}

// Nearest yields the n visible documents nearest to fp (all, if there are fewer): nearest first,
// then by ID. A negative n is ErrInvalid.
func (s *Snapshot) Nearest(ctx context.Context, fp Fingerprint, n int) iter.Seq2[Match, error] {
	return view.First(n, func(yield func(Match, error) bool) {
		sc := nearScratches.Get().(*nearScratch)
		defer sc.release()
		sc.yield(ctx, &s.v, func() error { return sc.Nearest(ctx, &s.v, fp, n) }, yield)
	})
}

// yield yields the hits that find leaves in the query, in order.
func (sc *nearScratch) yield(ctx context.Context, v *view.View, find func() error, yield func(Match, error) bool) {
	hits := func() ([]search.NearHit, error) {
		err := find()
		return sc.Hits, err
	}
	view.InOrder(ctx, v, &sc.matches, hits, search.CompareNear, nearMatch, yield)
}

func nearMatch(h *search.NearHit) Match { return Match(h.Match()) }
