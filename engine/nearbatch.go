package engine

import (
	"context"
	"iter"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
)

// BatchMatch is a document that a query of a batch found.
type BatchMatch struct {
	Query int // position of the query in the batch
	Match     // ID and Distance, or of JaccardBatch ID, Score, Error and Exact
}

// NearBatch yields for every fingerprint of fps what Near yields of it, from the database as it is
// when the iteration begins; Snapshot.NearBatch has the order, the memory it takes and the errors.
func (db *DB) NearBatch(ctx context.Context, fps []Fingerprint, k int) iter.Seq2[BatchMatch, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[BatchMatch, error] { return s.NearBatch(ctx, fps, k) })
}

// NearBatch yields for every fingerprint of fps what Near yields of it: every visible document that
// differs from it in at most k bits, k in 0..64. Matches come by query, those of a query nearest
// first, then by ID. Many fingerprints share one walk through each table, which takes a fraction of
// the time of as many searches: from some ten thousand on, or fewer if k is large or the tables are
// small. Fewer are searched for one by one.
//
// A million queries are searched at a time, fewer if they find more than four million documents, or
// more than fit into Options.Memory. In memory are, of those, 60 bytes a query, 60 bytes a
// match and its ID. A query that alone finds more is searched for again for each part of its
// matches that fit. It uses one processor; several can work on parts of a batch. fps
// must not change meanwhile.
func (s *Snapshot) NearBatch(ctx context.Context, fps []Fingerprint, k int) iter.Seq2[BatchMatch, error] {
	return s.nearBatch(ctx, fps, k, search.ChunkQueries, search.BatchMatches(&s.v))
}

// nearBatch is NearBatch in chunks of queries fingerprints, or fewer if they have more matches.
func (s *Snapshot) nearBatch(ctx context.Context, fps []Fingerprint, k, queries, matches int) iter.Seq2[BatchMatch, error] {
	return view.UntilDone(ctx, func(yield func(BatchMatch, error) bool) {
		err := search.EachBatch(ctx, &s.v, fps, k, queries, matches, func(query int, m view.Match) bool {
			return yield(BatchMatch{Query: query, Match: Match(m)}, nil)
		})
		if err != nil {
			yield(BatchMatch{}, err)
		}
	})
}
