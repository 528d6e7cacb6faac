package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// A feedReader has what it applied of a feed of changes.
type feedReader struct {
	at   uint64
	docs map[string]string // texts by ID
}

func (f *feedReader) apply(t *testing.T, c Change) {
	t.Helper()
	if c.Seq < f.at || c.Seq == f.at && c.Op != "expire" {
		t.Fatalf("%s of %q at %d after %d", c.Op, c.ID, c.Seq, f.at)
	}
	f.at = c.Seq
	if c.Op == "put" {
		f.docs[c.ID] = c.Text
	} else {
		delete(f.docs, c.ID)
	}
}

// follow applies changes until the end, or until it is killed after some; it reports whether it
// reached the end. It begins again if the history is gone.
func (f *feedReader) follow(t *testing.T, db *DB, atMost int) (end, again bool) {
	t.Helper()
	for c, err := range db.Changes(t.Context(), f.at, nil) {
		if errors.Is(err, ErrHistory) {
			*f = feedReader{docs: map[string]string{}}
			end, _ = f.follow(t, db, atMost)
			return end, true
		}
		if err != nil {
			t.Fatal(err)
		}
		f.apply(t, c)
		if atMost--; atMost == 0 {
			return false, false
		}
	}
	return true, false
}

func storedTexts(t *testing.T, db *DB) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for d, err := range db.Range(t.Context(), Range{Load: true}) {
		if err != nil {
			t.Fatal(err)
		}
		docs[d.ID] = d.Text
	}
	return docs
}

// TestChanges compares a feedReader that is killed again and again with the database: one reads it in
// the writing process, one as another process would.
func TestChanges(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		now := time.Unix(1_700_000_000, 0)
		path := filepath.Join(t.TempDir(), "db")
		opts := Options{TTL: time.Hour, NoSync: true, now: func() time.Time { return now }}
		if seed%2 == 1 {
			opts.TTL, opts.History = 0, 300
		}
		db, err := Open(path, &opts)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := Open(path, &Options{ReadOnly: true, now: opts.now})
		if err != nil {
			t.Fatal(err)
		}
		own, other := &feedReader{docs: map[string]string{}}, &feedReader{docs: map[string]string{}}
		restarts := 0
		doc := func() Doc {
			d := Doc{ID: fmt.Sprint("id", r.IntN(60)), Text: fmt.Sprint("text ", r.Uint64()), Time: now}
			if r.IntN(8) == 0 {
				d.Time = now.Add(-time.Duration(r.IntN(90)) * time.Minute)
			}
			return d
		}
		for round := range 200 {
			for range r.IntN(20) {
				now = now.Add(time.Duration(r.IntN(60)) * time.Second)
				switch r.IntN(5) {
				case 0:
					err = db.Delete(ctx, doc().ID)
				case 1:
					var b Batch
					for range r.IntN(5) {
						b.Put(doc())
						b.Delete(doc().ID)
					}
					err = db.Apply(ctx, &b)
				default:
					err = db.Put(ctx, doc())
				}
				if err != nil && !errors.Is(err, ErrNotFound) {
					t.Fatal(err)
				}
			}
			switch r.IntN(12) {
			case 0:
				l, err := db.NewLoader(ctx, &LoadOptions{Replace: true})
				for range 10 {
					err = errors.Join(err, l.Add(doc()))
				}
				if _, e := l.Close(); e != nil {
					t.Fatal(err, e)
				}
			case 1:
				if _, err := db.Prune(ctx, now.Add(-time.Duration(r.IntN(50))*time.Minute), nil); err != nil {
					t.Fatal(err)
				}
			case 2, 3, 4:
				if err := db.Flush(ctx); err != nil {
					t.Fatal(err)
				}
			case 5:
				if err := db.Compact(ctx, nil); err != nil {
					t.Fatal(err)
				}
			case 6:
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				if db, err = Open(path, &opts); err != nil {
					t.Fatal(err)
				}
			case 7:
				now = now.Add(time.Duration(r.IntN(100)) * time.Minute)
			}
			if r.IntN(3) == 0 {
				continue // the followers fall behind
			}
			if err := reader.Refresh(ctx); err != nil {
				t.Fatal(err)
			}
			for _, f := range []struct {
				*feedReader
				*DB
			}{{own, db}, {other, reader}} {
				for atMost := 1; ; atMost += r.IntN(12) {
					end, again := f.follow(t, f.DB, atMost)
					if again {
						restarts++
					}
					if end {
						break
					}
				}
				if want := storedTexts(t, f.DB); !maps.Equal(f.docs, want) {
					t.Fatalf("seed %d, round %d: the feedReader at %d has %d documents, the database %d:\n%v\n%v", seed, round, f.at, len(f.docs), len(want), f.docs, want)
				}
			}
		}
		if (restarts > 0) != (opts.History > 0) {
			t.Errorf("seed %d: the history was gone %d times", seed, restarts)
		}
		if err := errors.Join(db.Close(), reader.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
