package engine

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
)

// JaccardBatch yields for every document of docs what Jaccard yields of it, from the database as it
// is when the iteration begins; Snapshot.JaccardBatch has the order, the memory it takes and the
// errors.
func (db *DB) JaccardBatch(ctx context.Context, docs []Doc, t float64) iter.Seq2[BatchMatch, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[BatchMatch, error] { return s.JaccardBatch(ctx, docs, t) })
}

// JaccardVerifiedBatch is JaccardBatch with what JaccardVerified yields.
func (db *DB) JaccardVerifiedBatch(ctx context.Context, docs []Doc, t float64) iter.Seq2[BatchMatch, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[BatchMatch, error] { return s.JaccardVerifiedBatch(ctx, docs, t) })
}

// JaccardBatch yields for every document of docs what Jaccard yields of it. Matches come by query,
// those of a query most similar first, then by ID. It works on all processors: several documents
// are looked for at a time, so that in memory are the matches of a few of them. An error that one
// of them has, such as ErrNotFound, ends the batch, and names its position. docs must not change
// meanwhile.
func (s *Snapshot) JaccardBatch(ctx context.Context, docs []Doc, t float64) iter.Seq2[BatchMatch, error] {
	return s.jaccardBatch(ctx, docs, Jaccard(t))
}

// JaccardVerifiedBatch is JaccardBatch with what JaccardVerified yields. It gathers the candidates
// of as many documents as take a quarter of Options.Memory, with the shingles of their texts, and
// reads each of the stored texts that these need once, in the order in which they lie. Documents
// that very many stored ones look like, as copies of one text or pages of one template do, are
// compared with all of the database, up to 64 of them together, and equal texts that lie side by
// side once: their candidates take a quarter of Options.Memory at most, too, and their matches no
// more than those of one document may.
func (s *Snapshot) JaccardVerifiedBatch(ctx context.Context, docs []Doc, t float64) iter.Seq2[BatchMatch, error] {
	by := Jaccard(t).Verified()
	if len(docs) < 2 {
		return s.jaccardBatch(ctx, docs, by)
	}
	return view.UntilDone(ctx, func(yield func(BatchMatch, error) bool) {
		sample := func(query int) search.Sample { return docs[query].sample() }
		err := search.EachVerified(ctx, &s.v, len(docs), sample, by.by, func(query int, matches []view.Match) bool {
			for _, m := range matches {
				if !yield(BatchMatch{Query: query, Match: Match(m)}, nil) {
					return false
				}
			}
			return true
		})
		if err != nil {
			yield(BatchMatch{}, err)
		}
	})
}

// A share of a batch is what one goroutine looks for. It hands its matches over as they come, and
// waits until they are taken once it has shareMatches.
const (
	shareDocs    = 64
	shareMatches = 1 << 12
)

// shareFound is matches of a share, or the error that ends it.
type shareFound struct {
	matches []BatchMatch
	err     error
}

func (s *Snapshot) jaccardBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[BatchMatch, error] {
	return view.UntilDone(ctx, func(yield func(BatchMatch, error) bool) {
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		shares := (len(docs) + shareDocs - 1) / shareDocs
		found := make([]chan shareFound, min(2*runtime.GOMAXPROCS(0), shares)) // of share i at i%len
		start := func(i int) {
			to := make(chan shareFound, 1)
			found[i%len(found)] = to
			running.Go(func() {
				defer close(to)
				s.jaccardShare(ctx, docs, i*shareDocs, min((i+1)*shareDocs, len(docs)), by, to)
			})
		}
		for i := range found {
			start(i)
		}
		for i := range shares {
			for f := range found[i%len(found)] {
				for _, m := range f.matches {
					if !yield(m, nil) {
						return
					}
				}
				if f.err != nil {
					yield(BatchMatch{}, f.err)
					return
				}
			}
			if next := i + len(found); next < shares {
				start(next)
			}
		}
	})
}

// jaccardShare hands over the matches of docs[from:to].
func (s *Snapshot) jaccardShare(ctx context.Context, docs []Doc, from, to int, by Criterion, found chan<- shareFound) {
	var f shareFound
	hand := func() bool {
		select {
		case found <- f:
			f.matches = nil
			return true
		case <-ctx.Done():
			return false
		}
	}
	for query := from; query < to && f.err == nil; query++ {
		for m, err := range s.jaccardBy(ctx, docs[query], by) {
			if err != nil {
				f.err = fmt.Errorf("document %d of the batch: %w", query, err)
				break
			}
			f.matches = append(f.matches, BatchMatch{Query: query, Match: m})
			if len(f.matches) == shareMatches && !hand() {
				return
			}
		}
	}
	if len(f.matches) > 0 || f.err != nil {
		hand()
	}
}
