package engine

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
)

// A nearScratch holds the buffers of a Near query.
type nearScratch struct {
	search.Near
	snap    view.View // for queries of a DB, which have no snapshot of their own
	one     [1]uint64
	matches []Match
}

var nearScratches = sync.Pool{New: func() any { return new(nearScratch) }}

// release returns the buffers to the pool.
func (sc *nearScratch) release() {
	sc.Forget()
	sc.snap.Forget()
	nearScratches.Put(sc)
}

// Near yields every document whose fingerprint differs from fp in at most k bits, k in 0..64:
// nearest first, then by ID. It allocates nothing but the IDs. Errors are as for Search, which also
// searches for fingerprints of more than 64 bits.
func (r *Reader) Near(ctx context.Context, fp uint64, k int) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := nearScratches.Get().(*nearScratch)
		defer sc.release()
		r.searches()
		v := &sc.snap
		if r.s != nil {
			v = &r.s.v
		} else if err := r.take(v); err != nil {
			yield(Match{}, err)
			return
		} else {
			defer v.Close()
		}
		sc.one[0] = fp
		if err := sc.Find(ctx, v, sc.one[:], k); err != nil {
			yield(Match{}, err)
			return
		}
		view.InOrder(ctx, v, &sc.matches, sc.Hits, search.CompareNear, nearMatch, yield)
	}
}

func nearMatch(h *search.NearHit) Match { return Match(h.Match()) }

// searchNear is Search with criterion Near.
func (s *Snapshot) searchNear(ctx context.Context, doc Doc, by Criterion, o SearchOptions) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		fps, err := s.prints(ctx, &doc, by)
		if err != nil {
			yield(Match{}, err)
		}
		if err != nil || fps == nil {
			return
		}
		left := o.Limit
		give := func(m Match, err error) bool {
			if err == nil && m.ID == doc.ID {
				return true
			}
			left--
			return yield(m, err) && left != 0
		}
		sc := nearScratches.Get().(*nearScratch)
		defer sc.release()
		switch most := o.Limit + 1; { // plus one, as doc.ID may be among the matches
		case o.Unordered:
			sc.Want.Visit = func(h search.NearHit) error {
				err := ctx.Err()
				if err == nil && !give(Match(h.Match()), nil) {
					err = view.ErrStopped
				}
				return err
			}
			err = sc.FindAny(ctx, &s.v, fps, by.by.K)
		case o.Limit > 0 && by.by.K == s.v.Bits():
			err = sc.Nearest(ctx, &s.v, fps, most)
		default:
			if o.Limit > 0 && most <= search.MostFirst {
				sc.Want.First = most
			}
			err = sc.FindAny(ctx, &s.v, fps, by.by.K)
		}
		switch {
		case err == nil:
			view.InOrder(ctx, &s.v, &sc.matches, sc.Hits, search.CompareNear, nearMatch, give)
		case !errors.Is(err, view.ErrStopped):
			yield(Match{}, err)
		}
	}
}
