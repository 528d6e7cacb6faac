package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// bare returns fingerprints without texts, many within a few bits of each other.
func bare(n int) corpus {
	r := rand.New(rand.NewPCG(3, 6))
	var docs []Doc
	var fp uint64
	for i := range n {
		if i%5 == 0 {
			fp = uint64(r.Uint64())
		}
		near := fp ^ 1<<r.IntN(64) ^ 1<<r.IntN(64)
		docs = append(docs, Doc{ID: fmt.Sprintf("p-%x", r.Uint32()), Fingerprints: []Fingerprint{{near}}})
	}
	return shuffled(docs, 16, 5)
}

// sixteen distributes the documents of a corpus over sixteen shards. If apart is set, no ID is in
// two shards.
func sixteen(c corpus, apart bool) corpus {
	var docs []Doc
	had := map[string]bool{}
	for _, shard := range c.shards {
		for _, d := range shard {
			if !had[d.ID] {
				docs = append(docs, d)
			}
			had[d.ID] = true
		}
	}
	if !apart {
		return shuffled(docs, 16, 4)
	}
	c = corpus{}
	for i := range 16 {
		shard := docs[i*len(docs)/16 : (i+1)*len(docs)/16]
		for j := range shard {
			shard[j].Time = time.Unix(int64(1_700_000_000+1000*i+j), 0)
		}
		c.shards = append(c.shards, shard)
	}
	return c
}

// withNumbers returns the sequence number and the ID of each document, and the counts of Stats.
func withNumbers(t *testing.T, db *DB) (out []string) {
	t.Helper()
	for _, e := range inOrder(t, collect(t, entriesOf(context.Background(), db, Range{}))) {
		out = append(out, fmt.Sprint(e.Seq, " ", e.ID))
	}
	st := must.Get(db.Stats())(t)
	return append(out, fmt.Sprint(st.Documents, st.Fingerprints, st.Tombstones, len(st.Tables), st.Seq))
}

// TestSetEqualsIngest opens sixteen tables as a set: every answer must equal the answer of a
// database that ingested them, and of one that loaded their documents.
func TestSetEqualsIngest(t *testing.T) {
	corpora := map[string]corpus{
		"licences": sixteen(licences(t), false), "families": sixteen(families(600), false), "apart": sixteen(families(600), true),
		"fingerprints": bare(1000),
	}
	for name, c := range corpora {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, dir := context.Background(), t.TempDir()
			opts := &Options{NoText: name == "fingerprints", NoSketch: name == "fingerprints", DisableAutoCompaction: true}
			open := func(name string) *DB {
				return keep(t)(Open(filepath.Join(dir, name), opts))
			}
			loaded, ingested := open("loaded"), open("ingested")
			var paths []string
			for i, shard := range c.shards {
				from := open(fmt.Sprint("shard", i))
				loadDocs(t, from, shard, true)
				loadDocs(t, loaded, shard, true)
				paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.sst", i)))
				must.Do(t, from.Pack(ctx, paths[i], nil))
			}
			must.Do(t, ingested.Ingest(ctx, paths...))
			set := keep(t)(OpenSet(paths, nil))
			equal(t, "numbers", withNumbers(t, set), withNumbers(t, ingested))
			if name == "fingerprints" {
				for _, by := range []Criterion{Near(2), Near(4)} {
					want := collect(t, loaded.Pairs(ctx, by, nil))
					equal(t, "pairs", collect(t, set.Pairs(ctx, by, nil)), want)
					equal(t, "pairs, ingested", collect(t, ingested.Pairs(ctx, by, nil)), want)
					equal(t, "clusters", collect(t, set.Clusters(ctx, by, nil)), collect(t, loaded.Clusters(ctx, by, nil)))
					if len(want) < 100 {
						t.Errorf("%v: %d pairs", by, len(want))
					}
				}
				r := rand.New(rand.NewPCG(1, 2))
				for _, e := range collect(t, entriesOf(ctx, loaded, Range{})) {
					fp, k := e.Fingerprint^1<<r.IntN(64), r.IntN(20)
					equal(t, "near", collect(t, set.Near(ctx, fp, k)), collect(t, loaded.Near(ctx, fp, k)))
				}
				return
			}
			want := everything(t, loaded)
			equal(t, "ingested", everything(t, ingested), want)
			equal(t, "set", everything(t, set), want)
			must.Do(t, set.Pack(ctx, filepath.Join(dir, "all.sst"), nil))
			equal(t, "packed", everything(t, keep(t)(Open(filepath.Join(dir, "all.sst"), nil))), want)
			report, err := set.Check(ctx, nil)
			if err != nil || len(report.Problems) > 0 {
				t.Error(report.Problems, err)
			}
			if err := set.Put(ctx, Doc{ID: "x", Text: "y"}); !errors.Is(err, ErrReadOnly) {
				t.Errorf("a write: %v", err)
			}
		})
	}
}

// keep returns a function that closes a database at the end of the test.
func keep(t *testing.T) func(db *DB, err error) *DB {
	return func(db *DB, err error) *DB {
		t.Helper()
		must.Do(t, err)
		t.Cleanup(func() { db.Close() })
		return db
	}
}

// TestSetOfDatabases opens databases, with tombstones, memtables and merged tables, in a set with
// tables: it must equal a set of their packed tables, even while they are written to.
func TestSetOfDatabases(t *testing.T) {
	for _, several := range []bool{false, true} {
		t.Run(fmt.Sprint("several ", several), func(t *testing.T) {
			t.Parallel()
			ctx, dir := context.Background(), t.TempDir()
			now := time.Unix(1_700_000_000, 0)
			r := rand.New(rand.NewPCG(7, 7))
			opts := &Options{Features: Features{Several: several}, DisableAutoCompaction: true, now: func() time.Time { return now }}
			if !several {
				opts.TTL = time.Hour
			}
			var mixed, packed []string
			var writer *DB
			for i := range 6 {
				path := filepath.Join(dir, fmt.Sprint(i))
				db := keep(t)(Open(path, opts))
				for range 5 {
					for range 30 {
						d := Doc{ID: fmt.Sprint("d", r.IntN(200)), Text: fmt.Sprintf("the one and only text of number %d of the others", r.IntN(40)), Time: now}
						if several {
							for range r.IntN(3) {
								d.Fingerprints = append(d.Fingerprints, []uint64{uint64(r.Uint64() & 0xff)})
							}
						}
						if r.IntN(10) == 0 {
							d.Time = now.Add(-2 * time.Hour)
						}
						must.Do(t, db.Put(ctx, d))
						if err := db.Delete(ctx, fmt.Sprint("d", r.IntN(200))); err != nil && !errors.Is(err, ErrNotFound) {
							t.Fatal(err)
						}
					}
					if r.IntN(3) > 0 {
						must.Do(t, db.Flush(ctx))
					}
				}
				must.Do(t, db.SetAllowed(ctx, true, Pair{A: fmt.Sprint("d", i), B: "other"}))
				mixed, packed = append(mixed, path), append(packed, path+".sst")
				// A reader packs writes in the log without a flush.
				o := *opts
				o.ReadOnly = true
				must.Do(t, keep(t)(Open(path, &o)).Pack(ctx, packed[i], nil))
				if writer = db; i%3 == 1 {
					mixed[i] = packed[i]
				}
			}
			o := &Options{now: opts.now}
			set := keep(t)(OpenSet(mixed, o))
			want := everything(t, keep(t)(OpenSet(packed, o)))
			equal(t, "databases", everything(t, set), want)
			ingested := keep(t)(Open(filepath.Join(dir, "ingested"), &Options{Features: opts.Features}))
			must.Do(t, ingested.Ingest(ctx, packed...))
			equal(t, "ingested", everything(t, ingested), want)
			pairs := slices.Collect(allowed(ingested))
			if equal(t, "allowed", slices.Collect(allowed(set)), pairs); len(pairs) != 6 {
				t.Error(pairs)
			}
			deleteAll(t, writer, ids(t, writer))
			must.Do(t, writer.Compact(ctx, nil))
			equal(t, "after a write", everything(t, set), want)
			if st, err := set.Stats(); err != nil || st.Documents != int64(len(ids(t, set))) || st.Documents < 50 {
				t.Error(st.Documents, len(ids(t, set)), err)
			}
		})
	}
}

// TestSetRefused opens invalid sets: the error must give the reason, and nothing may stay open.
func TestSetRefused(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	table := func(name string, o *Options) string {
		path := filepath.Join(dir, name)
		db := keep(t)(Open(path, o))
		put(t, db, name, 1)
		must.Do(t, db.Pack(ctx, path+".sst", nil))
		return path + ".sst"
	}
	a, b := table("a", nil), table("b", &Options{Layout: "6:3"})
	other := table("other", &Options{Shingle: 5})
	text := filepath.Join(dir, "text")
	must.Do(t, os.WriteFile(text, []byte("no table"), 0o600))
	for _, c := range []struct {
		paths []string
		is    error
		says  []string
	}{
		{nil, ErrInvalid, nil},
		{[]string{a, b, filepath.Join(dir, "none.sst")}, ErrNotFound, []string{"none.sst"}},
		{[]string{a, text}, ErrNotDatabase, []string{text}},
		{[]string{a, b, other}, ErrParams, []string{a, other, "shingle 5, not 3"}},
		{[]string{other, a}, ErrParams, []string{a, other, "shingle 3, not 5"}},
	} {
		db, err := OpenSet(c.paths, nil)
		if db != nil || !errors.Is(err, c.is) {
			t.Errorf("%v: %v", c.paths, err)
			continue
		}
		for _, say := range c.says {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%v: %q does not say %q", c.paths, err, say)
			}
		}
	}
	if _, err := OpenSet([]string{a, b}, (&Options{Shingle: 4})); !errors.Is(err, ErrParams) {
		t.Errorf("other options: %v", err)
	}
	db := keep(t)(OpenSet([]string{a, b}, nil))
	equal(t, "ids", ids(t, db), []string{"a", "b"})
	equal(t, "layout", []string{db.Options().Layout}, []string{"by size"})
	snap := must.Get(db.Snapshot())(t)
	must.Do(t, errors.Join(db.Refresh(ctx), db.Close(), db.Close()))
	if _, err := db.Get(ctx, "a"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if d, err := snap.Get(ctx, "a"); err != nil || d.ID != "a" {
		t.Errorf("a snapshot after Close: %v, %v", d, err)
	}
	must.Do(t, snap.Close())
	if err := backupTo(db, ctx, filepath.Join(dir, "backup"), nil); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrInvalid) {
		t.Errorf("a backup: %v", err)
	}
}
