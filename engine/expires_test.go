package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestExpires takes documents that expire by themselves through all kinds of storage, with a time to
// live and without: each is there, with its Expires, until the earlier of both ends, and then not.
func TestExpires(t *testing.T) {
	ctx := t.Context()
	same := func(_ *clocks, db *DB, _ string) *DB { return db }
	merged := func(c *clocks, db *DB, _ string) *DB {
		okay(t, db.Flush(ctx))
		loadStored(t, db, Doc{ID: "other", Text: "a table without expiries"})
		okay(t, db.Delete(ctx, "other"))
		okay(t, db.Compact(ctx, nil))
		return db
	}
	ways := map[string]func(c *clocks, db *DB, path string) *DB{
		"memtable": same,
		"table":    func(_ *clocks, db *DB, _ string) *DB { okay(t, db.Flush(ctx)); return db },
		"merged":   merged,
		"log": func(c *clocks, db *DB, path string) *DB {
			okay(t, db.Close())
			return open4test(t, path, c.options(0))
		},
		"backup": func(c *clocks, db *DB, _ string) *DB {
			to := t.TempDir() + "/b.simdb"
			_, err := db.Backup(ctx, to, nil)
			okay(t, err)
			return open4test(t, to, c.options(0))
		},
		"recovered": func(c *clocks, db *DB, path string) *DB {
			okay(t, merged(c, db, path).Close())
			to := t.TempDir() + "/r.simdb"
			_, err := Recover(ctx, path, to, &RecoverOptions{})
			okay(t, err)
			return open4test(t, to, c.options(0))
		},
	}
	for name, way := range ways {
		for _, ttl := range []time.Duration{0, 10 * time.Hour} {
			for _, loaded := range []bool{false, true} {
				c := newClocks()
				db, path := create4test(t, c.options(ttl))
				start := c.options(0).now()
				docs := []Doc{
					{ID: "early", Text: "the first", Expires: start.Add(time.Hour)},
					{ID: "late", Text: "the second", Expires: start.Add(20 * time.Hour)},
					{ID: "never", Text: "the third"},
				}
				if loaded {
					loadStored(t, db, docs...)
				} else {
					for _, d := range docs {
						okay(t, db.Put(ctx, d))
					}
				}
				db = way(c, db, path)
				for _, at := range []struct {
					hours time.Duration
					want  []string
				}{{0, []string{"early", "late", "never"}}, {2, []string{"late", "never"}}, {12, []string{"late", "never"}}, {22, []string{"never"}}} {
					c.pass(start.Add(at.hours * time.Hour).Sub(c.options(0).now()))
					if at.hours > 10 && ttl > 0 {
						at.want = nil
					}
					what := fmt.Sprintf("%s, loaded %t, ttl %v, after %d hours", name, loaded, ttl, at.hours)
					equal(t, what, ids(t, db), at.want)
					if n, err := db.Count(ctx, Range{}); err != nil || n != int64(len(at.want)) {
						t.Errorf("%s: Count %d, %v", what, n, err)
					}
					for _, id := range at.want {
						d, err := db.Get(ctx, id)
						e, err2 := db.Lookup(ctx, id)
						want := map[string]time.Time{"early": docs[0].Expires, "late": docs[1].Expires}[id]
						if err != nil || err2 != nil || !d.Expires.Equal(want) || !e.Expires.Equal(want) {
							t.Errorf("%s: %s expires at %v, %v, want %v (%v, %v)", what, id, d.Expires, e.Expires, want, err, err2)
						}
					}
				}
			}
		}
	}
}

// TestExpiresDropped merges documents that have expired by themselves: a table with many is due, one
// is dropped whole, and neither a clock that is ahead for a while, nor a log with an older version of
// a document, loses anything.
func TestExpiresDropped(t *testing.T) {
	ctx, c := t.Context(), newClocks()
	db, path := create4test(t, c.options(0))
	now := c.options(0).now
	stored := func(want int64, tables int) {
		t.Helper()
		okay(t, db.Compact(ctx, &CompactOptions{Due: true}))
		st, err := db.Stats()
		okay(t, err)
		n := st.Memtable
		for _, table := range st.Tables {
			n += table.Documents
		}
		if n != want || len(st.Tables) != tables {
			t.Fatalf("%d documents in %d tables, want %d in %d", n, len(st.Tables), want, tables)
		}
	}
	var docs []Doc
	for i := range 12 {
		d := Doc{ID: fmt.Sprint("d", i), Fingerprints: []Fingerprint{{uint64(i)}}}
		if i < 6 {
			d.Expires = now().Add(time.Hour)
		} else if i < 11 {
			d.Expires = now().Add(30 * time.Hour)
		}
		docs = append(docs, d)
	}
	loadStored(t, db, docs...)
	stored(12, 1)
	okay(t, db.Close())
	const years = 10 * 365 * 24 * time.Hour
	c.jump(years)
	db = open4test(t, path, c.options(0))
	stored(12, 1)
	c.jump(-years)
	c.pass(2 * time.Hour)
	st, err := db.Stats()
	okay(t, err)
	if st.Documents+st.Expired != 12 || st.Expired < 5 || st.Expired > 6 { // an estimate
		t.Fatalf("%d documents, %d expired", st.Documents, st.Expired)
	}
	stored(6, 1)
	okay(t, db.Put(ctx, Doc{ID: "d11", Fingerprints: []Fingerprint{{9}}}))
	loadStored(t, db, Doc{ID: "d11", Fingerprints: []Fingerprint{{9}}, Expires: now().Add(time.Minute)})
	c.pass(30 * time.Hour)
	stored(0, 0)
	if _, err := db.Get(ctx, "d11"); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
}

// TestExpiredOnArrival adds documents that have expired: they are neither new nor known, and match
// nothing later.
func TestExpiredOnArrival(t *testing.T) {
	ctx, c := t.Context(), newClocks()
	db, _ := create4test(t, c.options(0))
	old := Doc{ID: "old", Fingerprints: []Fingerprint{{7}}, Expires: c.options(0).now()}
	if _, stored, err := db.PutNovel(ctx, old, Near(3)); stored || !errors.Is(err, ErrExpired) || !db.HasExpired(old) {
		t.Errorf("%t, %v", stored, err)
	}
	first := Doc{ID: "first", Fingerprints: []Fingerprint{{7}}, Expires: old.Expires.Add(time.Microsecond)}
	if db.HasExpired(first) || db.HasExpired(Doc{ID: "never"}) {
		t.Error("expired too early")
	}
	done, err := db.AddNovel(ctx, []Doc{old, first}, Near(3), nil)
	if err != nil || !done[0].Expired || done[0].Stored || !done[1].Stored {
		t.Errorf("%+v, %v", done, err)
	}
	c.pass(time.Microsecond)
	if _, stored, err := db.PutNovel(ctx, Doc{ID: "second", Fingerprints: []Fingerprint{{7}}}, Near(3)); !stored || err != nil {
		t.Errorf("%t, %v", stored, err)
	}
	if err := db.Put(ctx, Doc{ID: "x", Expires: time.Unix(1<<60, 0)}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a time out of range: %v", err)
	}
	var b Batch
	b.Put(old)
	b.Delete(old.ID)
	if okay(t, db.Apply(ctx, &b)); b.Deleted() != 0 {
		t.Errorf("%d deleted of a batch that puts what has expired", b.Deleted())
	}
	epoch := Doc{ID: "first", Expires: time.Unix(0, 0)} // not never
	okay(t, db.Put(ctx, epoch))
	if _, err := db.Get(ctx, "first"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
