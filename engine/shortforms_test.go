package engine

import (
	"context"
	"iter"
	"time"

	"github.com/simdb/simdb/engine/internal/search"
)

// Short forms of searches that many tests make. They are on DB and Snapshot, where the searches
// are.

func fingerprintDocs(fps []Fingerprint) []Doc {
	docs := make([]Doc, len(fps))
	for i := range fps {
		docs[i].Fingerprint = &fps[i]
	}
	return docs
}

func (db *DB) NearBatch(ctx context.Context, fps []Fingerprint, k int) iter.Seq2[BatchMatch, error] {
	return db.SearchBatch(ctx, fingerprintDocs(fps), Near(k))
}

func (s *Snapshot) NearBatch(ctx context.Context, fps []Fingerprint, k int) iter.Seq2[BatchMatch, error] {
	return s.SearchBatch(ctx, fingerprintDocs(fps), Near(k))
}

func (s *Snapshot) NearFirst(ctx context.Context, fp Fingerprint, k, n int) iter.Seq2[Match, error] {
	return s.Search(ctx, Doc{Fingerprint: &fp}, Near(k), Limit(n))
}

func (s *Snapshot) NearUnordered(ctx context.Context, fp Fingerprint, k int) iter.Seq2[Match, error] {
	return s.Search(ctx, Doc{Fingerprint: &fp}, Near(k), Unordered())
}

func (s *Snapshot) CountNear(ctx context.Context, fp Fingerprint, k int) (int64, error) {
	return s.CountMatches(ctx, Doc{Fingerprint: &fp}, Near(k))
}

func (s *Snapshot) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return s.Search(ctx, doc, Jaccard(t))
}

func (db *DB) JaccardVerified(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return db.Search(ctx, doc, Jaccard(t).Verified())
}

func (s *Snapshot) JaccardVerified(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return s.Search(ctx, doc, Jaccard(t).Verified())
}

func (db *DB) JaccardBatch(ctx context.Context, docs []Doc, t float64) iter.Seq2[BatchMatch, error] {
	return db.SearchBatch(ctx, docs, Jaccard(t))
}

func (db *DB) JaccardVerifiedBatch(ctx context.Context, docs []Doc, t float64) iter.Seq2[BatchMatch, error] {
	return db.SearchBatch(ctx, docs, Jaccard(t).Verified())
}

func (db *DB) Nearest(ctx context.Context, fp Fingerprint, n int) iter.Seq2[Match, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[Match, error] { return s.Nearest(ctx, fp, n) })
}

func (db *DB) AnyNear(ctx context.Context, fps []Fingerprint, k int) ([]bool, error) {
	return withSnapshot(db, func(s *Snapshot) ([]bool, error) { return s.AnyNear(ctx, fps, k) })
}

func (db *DB) AnyMatches(ctx context.Context, docs []Doc, by Criterion) ([]bool, error) {
	return withSnapshot(db, func(s *Snapshot) ([]bool, error) {
		if len(docs) != 1 {
			return s.Any(ctx, docs, by)
		}
		document, err := s.allToMatch(ctx, docs, by) // not the way of one
		if err != nil {
			return nil, err
		}
		return search.AnyMatches(ctx, &s.v, len(docs), document, by.by)
	})
}

func (s *Snapshot) AnyMatch(ctx context.Context, doc Doc, by Criterion) (Match, bool, error) {
	return s.anyMatch(ctx, &doc, by, 1)
}

func (db *DB) AnyMatch(ctx context.Context, doc Doc, by Criterion) (m Match, found bool, err error) {
	s, err := db.Snapshot()
	if err != nil {
		return Match{}, false, err
	}
	defer s.Close()
	return s.AnyMatch(ctx, doc, by)
}

func (s *Snapshot) BestMatch(ctx context.Context, doc Doc, by Criterion) (Match, bool, error) {
	best, err := s.Best(ctx, []Doc{doc}, by)
	if err != nil || len(best) == 0 {
		return Match{}, false, err
	}
	return best[0].Match, true, nil
}

func (s *Snapshot) PairsFirst(ctx context.Context, by Criterion, n int, progress func(Progress)) iter.Seq2[Pair, error] {
	if n == 0 {
		return func(func(Pair, error) bool) {}
	}
	return s.Pairs(ctx, by, &PairOptions{Limit: n, Progress: progress})
}

func (s *Snapshot) PairsUnordered(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return s.Pairs(ctx, by, &PairOptions{Unordered: true, Progress: progress})
}

func (db *DB) PairsUnordered(ctx context.Context, by Criterion, progress func(Progress)) iter.Seq2[Pair, error] {
	return db.Pairs(ctx, by, &PairOptions{Unordered: true, Progress: progress})
}

func (db *DB) CountPairs(ctx context.Context, by Criterion) (int64, error) {
	return withSnapshot(db, func(s *Snapshot) (int64, error) { return s.CountPairs(ctx, by, nil) })
}

func (db *DB) CountClusters(ctx context.Context, by Criterion, o *ClusterOptions) (clusters, members int64, err error) {
	s, err := db.Snapshot()
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	return s.CountClusters(ctx, by, o)
}

func (db *DB) Allowed() iter.Seq[IDPair] { return yieldAllowed(db.s.AllowedPairs()) }

func (s *Snapshot) countAll(ctx context.Context) (int64, error) { return s.Count(ctx, time.Time{}) }
