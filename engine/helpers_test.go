package engine

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/minhash"
)

func ofPrint(fp uint64) Doc { return Doc{Fingerprints: []Fingerprint{{fp}}} }

func ofPrints(fps []uint64) []Doc {
	docs := make([]Doc, len(fps))
	for i := range fps {
		docs[i].Fingerprints = []Fingerprint{{fps[i]}}
	}
	return docs
}

func fingerprintOf(db *DB, text string) (uint64, bool) {
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
	return read(context.Background(), &any(x).(*DB).Reader, fn)
}

func searchBatch(ctx context.Context, db *DB, docs []Doc, by Criterion) iter.Seq2[Match, error] {
	return each(ctx, &db.Reader, func(s *Snapshot) iter.Seq2[Match, error] { return s.SearchBatch(ctx, docs, by, nil) })
}

func entriesOf(ctx context.Context, db *DB, f Range) iter.Seq2[entry, error] {
	return entriesFrom(db.Range(ctx, f))
}

func entriesIn(ctx context.Context, s *Snapshot, r Range) iter.Seq2[entry, error] {
	return entriesFrom(s.Range(ctx, r))
}

// entriesFrom converts documents to entries.
func entriesFrom(docs iter.Seq2[Doc, error]) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for d, err := range docs {
			if !yield(entryOf(d), err) {
				return
			}
		}
	}
}

func lookupOf(ctx context.Context, db *DB, id string) (entry, error) {
	return lookup(db, ctx, id)
}

func allowed(db *DB) iter.Seq[Pair] {
	pairs, _ := read(context.Background(), &db.Reader, func(s *Snapshot) ([]Pair, error) { return slices.Collect(s.Allowed()), nil })
	return slices.Values(pairs)
}

func countPairs[S asked](ctx context.Context, x S, by Criterion) (n int64, err error) {
	return with(x, func(s *Snapshot) (int64, error) { return s.CountPairs(ctx, by, nil) })
}

// countClusters counts by CountClusters, and checks the number of the last cluster.
func countClusters[S asked](ctx context.Context, x S, by Criterion, o ClusterOptions) (int64, error) {
	return with(x, func(s *Snapshot) (int64, error) {
		last := int64(0)
		for m, err := range s.Clusters(ctx, by, &o) {
			if err != nil {
				return 0, err
			}
			last = int64(m.Cluster)
		}
		n, err := s.CountClusters(ctx, by, &o)
		if err == nil && n != last {
			err = fmt.Errorf("%d clusters are counted, and the last is number %d", n, last)
		}
		return n, err
	})
}

// anyOf is Any by the code path for many documents, even for one.
func anyOf(ctx context.Context, db *DB, docs []Doc, by Criterion) ([]bool, error) {
	return read(ctx, &db.Reader, func(s *Snapshot) ([]bool, error) {
		if len(docs) != 1 {
			known, _, err := s.Any(ctx, docs, by, &SearchOptions{Unordered: true})
			return known, err
		}
		known, _, err := s.Any(ctx, []Doc{docs[0], docs[0]}, by, &SearchOptions{Unordered: true})
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
		got, is, err := search.AnyMatch(ctx, &s.v, &d, nil, by.in(s.v.Config), 1)
		m, found = Match(got), is
		return struct{}{}, err
	})
	return m, found, err
}

func bestMatch(ctx context.Context, s *Snapshot, doc Doc, by Criterion) (Match, bool, error) {
	known, best, err := s.Any(ctx, []Doc{doc}, by, nil)
	return best[0], err == nil && known[0], err
}

// snapshot4test returns a snapshot of a database, which is closed when the test ends.
func snapshot4test(t testing.TB, db *DB) *Snapshot {
	t.Helper()
	s := must.Get(db.Snapshot())(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// open4test opens a database, which is closed when the test ends.
func open4test(t testing.TB, path string, o *Options) *DB {
	t.Helper()
	db := must.Get(Open(path, o))(t)
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

// An entry is a document without text and fields, in a form that tests compare easily.
type entry struct {
	ID             string
	Fingerprint    uint64 // the first word
	HasFingerprint bool
	all            []Fingerprint
	Time           time.Time
	Seq            uint64
}

func entryOf(d Doc) entry {
	e := entry{ID: d.ID, HasFingerprint: d.Fingerprints != nil, all: d.Fingerprints, Time: d.Time, Seq: d.Seq}
	if e.HasFingerprint {
		e.Fingerprint = d.Fingerprints[0][0]
	}
	return e
}

// lookup returns the entry of a document.
func lookup[S interface {
	Lookup(context.Context, string) (Doc, error)
}](x S, ctx context.Context, id string) (entry, error) {
	d, err := x.Lookup(ctx, id)
	return entryOf(d), err
}

// backupTo is DB.Backup without the report.
func backupTo(db *DB, ctx context.Context, path string, o *BackupOptions) error {
	_, err := db.Backup(ctx, path, o)
	return err
}

// ofQuery returns a match of a query of a batch.
func ofQuery(query int, m Match) Match {
	m.Query = query
	return m
}
