package engine

import (
	"context"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/minhash"
)

func ofPrint(fp Fingerprint) Doc { return Doc{Fingerprint: &fp} }

func ofPrints(fps []Fingerprint) []Doc {
	docs := make([]Doc, len(fps))
	for i := range fps {
		docs[i].Fingerprint = &fps[i]
	}
	return docs
}

func fingerprintOf(db *DB, text string) (Fingerprint, bool) {
	words, _ := db.Hash(text)
	if words == nil {
		return 0, false
	}
	return words[0], true
}

func sketchOf(db *DB, text string) minhash.Sketch {
	_, sketch := db.Hash(text)
	return sketch
}

// The functions below query a DB or a Snapshot in the same way.

type asked interface{ *DB | *Snapshot }

func with[S asked, T any](x S, fn func(*Snapshot) (T, error)) (T, error) {
	if s, ok := any(x).(*Snapshot); ok {
		return fn(s)
	}
	return withSnapshot(any(x).(*DB), fn)
}

func searchBatch(ctx context.Context, db *DB, docs []Doc, by Criterion) iter.Seq2[BatchMatch, error] {
	return iterSnapshot(db, func(s *Snapshot) iter.Seq2[BatchMatch, error] { return s.SearchBatch(ctx, docs, by) })
}

func entriesOf(ctx context.Context, db *DB, f Range) iter.Seq2[Entry, error] {
	return entriesFrom(db.Range(ctx, f))
}

func entriesIn(ctx context.Context, s *Snapshot, r Range) iter.Seq2[Entry, error] {
	return entriesFrom(s.Range(ctx, r))
}

// entriesFrom converts documents to entries.
func entriesFrom(docs iter.Seq2[Doc, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for d, err := range docs {
			if !yield(d.Entry(), err) {
				return
			}
		}
	}
}

func lookupOf(ctx context.Context, db *DB, id string) (Entry, error) {
	return withSnapshot(db, func(s *Snapshot) (Entry, error) { return s.Lookup(ctx, id) })
}

func allowed(db *DB) iter.Seq[IDPair] {
	pairs, _ := withSnapshot(db, func(s *Snapshot) ([]IDPair, error) { return slices.Collect(s.Allowed()), nil })
	return slices.Values(pairs)
}

func countPairs[S asked](ctx context.Context, x S, by Criterion) (n int64, err error) {
	return with(x, func(s *Snapshot) (n int64, err error) {
		for _, err = range s.Pairs(ctx, by, &PairOptions{Count: &n}) {
		}
		return n, err
	})
}

func countClusters[S asked](ctx context.Context, x S, by Criterion, o ClusterOptions) (int64, error) {
	return with(x, func(s *Snapshot) (n int64, err error) {
		o.Count = &n
		for _, err = range s.Clusters(ctx, by, &o) {
		}
		return n, err
	})
}

// anyOf is Any by the code path for many documents, even for one.
func anyOf(ctx context.Context, db *DB, docs []Doc, by Criterion) ([]bool, error) {
	return withSnapshot(db, func(s *Snapshot) ([]bool, error) {
		if len(docs) != 1 {
			return s.Any(ctx, docs, by, nil)
		}
		known, err := s.Any(ctx, []Doc{docs[0], docs[0]}, by, nil)
		return known[:min(1, len(known))], err
	})
}

// anyMatch returns some match of a document, not necessarily the best one.
func anyMatch[S asked](ctx context.Context, x S, doc Doc, by Criterion) (m Match, found bool, err error) {
	_, err = with(x, func(s *Snapshot) (struct{}, error) {
		document, err := s.allToMatch(ctx, []Doc{doc}, by)
		if err != nil {
			return struct{}{}, err
		}
		d := document(0)
		got, is, err := search.AnyMatch(ctx, &s.v, &d, by.by, 1)
		m, found = Match(got), is
		return struct{}{}, err
	})
	return m, found, err
}

func bestMatch(ctx context.Context, s *Snapshot, doc Doc, by Criterion) (Match, bool, error) {
	named := make([]Match, 1)
	known, err := s.Any(ctx, []Doc{doc}, by, named)
	return named[0], err == nil && known[0], err
}

// snapshot4test returns a snapshot of a database, which is closed when the test ends.
func snapshot4test(t testing.TB, db *DB) *Snapshot {
	t.Helper()
	s, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// open4test opens a database, which is closed when the test ends.
func open4test(t testing.TB, path string, o *Options) *DB {
	t.Helper()
	db, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// starsOf is greedy clustering by its definition: each document, in order, joins the keeper that it
// matches best, the first of equally good ones, or becomes a keeper. It returns the keeper of each
// document.
func starsOf(ids []string, match func(keeper, id string) (score float64, ok bool)) map[string]string {
	keeperOf := map[string]string{}
	var keepers []string
	for _, id := range ids {
		best := math.Inf(-1)
		for _, k := range keepers {
			if score, ok := match(k, id); ok && score > best {
				best, keeperOf[id] = score, k
			}
		}
		if keeperOf[id] == "" {
			keeperOf[id], keepers = id, append(keepers, id)
		}
	}
	return keeperOf
}

// componentsOf returns for each document the first one that it is connected to by matches.
func componentsOf(ids []string, match func(a, b string) bool) map[string]string {
	first := map[string]string{}
	for _, id := range ids {
		if first[id] != "" {
			continue
		}
		first[id] = id
		for todo := []string{id}; len(todo) > 0; todo = todo[1:] {
			for _, other := range ids {
				if first[other] == "" && match(todo[0], other) {
					first[other], todo = id, append(todo, other)
				}
			}
		}
	}
	return first
}
