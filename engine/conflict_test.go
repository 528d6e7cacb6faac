package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/must"
)

// TestPreconditions applies random batches with preconditions to a database and to a map.
func TestPreconditions(t *testing.T) {
	ctx := t.Context()
	var now atomic.Int64 // in seconds; background merges read it, too
	now.Store(1_000_000)
	db, _ := create4test(t, &Options{
		NoSketch: true, NoSync: true, TTL: time.Hour, now: func() time.Time { return time.Unix(now.Load(), 0) },
	})
	r := rand.New(rand.NewPCG(11, 12))
	stored := map[string]Doc{}
	refused, applied := 0, 0
	for step := range 3000 {
		if r.IntN(100) == 0 {
			must.Do(t, db.Flush(ctx))
		}
		if r.IntN(300) == 0 { // everything expires
			now.Add(2 * 3600)
			clear(stored)
		}
		id := func() string { return strconv.Itoa(r.IntN(20)) }
		var b Batch
		holds, unmet := true, ""
		need := func(id string, met bool) {
			if holds && !met {
				holds, unmet = false, id
			}
		}
		for range r.IntN(3) {
			id := id()
			d, there := stored[id]
			switch r.IntN(3) {
			case 0:
				b.RequireVersion(id, 0)
				need(id, !there)
			case 1:
				b.RequireVersion(id, math.MaxUint64)
				need(id, there)
			default:
				seq := d.Seq
				if r.IntN(4) == 0 {
					seq = max(seq, 2) - 1
				}
				b.RequireVersion(id, seq)
				need(id, seq == d.Seq)
			}
		}
		after := map[string]*Doc{}
		for i := range r.IntN(4) {
			d := Doc{ID: id(), Text: fmt.Sprint(step, i)}
			if r.IntN(4) == 0 {
				b.Delete(d.ID)
				after[d.ID] = nil
				continue
			}
			b.Put(d)
			after[d.ID] = &d
		}
		err := db.Apply(ctx, &b)
		c, conflict := errors.AsType[*files.Conflict](err)
		if conflict == holds || err != nil && !conflict {
			t.Fatalf("step %d: %v, what it requires holds: %t", step, err, holds)
		}
		if conflict {
			refused++
			if d := stored[c.ID]; c.ID != unmet || c.Version != d.Seq || errors.Is(err, ErrExists) != (d.Seq != 0) || errors.Is(err, ErrNotFound) != (d.Seq == 0) {
				t.Fatalf("step %d: %v, the first that is not met is of %s, stored is %+v", step, c, unmet, d)
			}
		} else {
			applied++
			for id, d := range after {
				if delete(stored, id); d != nil {
					stored[id] = *d
				}
			}
		}
		for i := range 20 {
			id := strconv.Itoa(i)
			d, err := db.Get(ctx, id)
			if want, there := stored[id]; (err == nil) != there || d.Text != want.Text || want.Seq != 0 && d.Seq != want.Seq {
				t.Fatalf("step %d: %s is %+v, %v, want %+v", step, id, d, err, want)
			}
			if err == nil {
				stored[id] = d
			}
		}
	}
	if refused < 500 || applied < 500 {
		t.Fatalf("%d were applied, %d refused", applied, refused)
	}
}

// TestOneWriterWins runs many writers that put the same documents if absent, increment a counter in
// one document by its version, and move from one document to another, while tables are written and
// merged.
func TestOneWriterWins(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{NoSketch: true, NoSync: true})
	const writers, ids, counts = 16, 200, 60
	for _, id := range []string{"count", "left", "right"} {
		must.Do(t, db.PutIfAbsent(ctx, Doc{ID: id, Text: "1000"}))
	}
	number := func(id string) (Doc, int) {
		d, err := db.Get(ctx, id)
		n, nerr := strconv.Atoi(d.Text)
		if err != nil || nerr != nil {
			t.Error(id, err, nerr)
		}
		return d, n
	}
	var won [ids]atomic.Int64
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range ids {
				switch err := db.PutIfAbsent(ctx, Doc{ID: fmt.Sprint("once", i), Text: fmt.Sprint(w)}); {
				case err == nil:
					won[i].Add(1)
				case !errors.Is(err, ErrExists):
					t.Error(err)
				}
			}
			for done := 0; done < counts; {
				d, n := number("count")
				d.Text = strconv.Itoa(n + 1)
				if err := db.PutIfVersion(ctx, d, d.Seq); err == nil {
					done++
				} else if _, ok := errors.AsType[*files.Conflict](err); !ok {
					t.Error(err)
					return
				}
				left, l := number("left")
				right, r := number("right")
				left.Text, right.Text = strconv.Itoa(l-1), strconv.Itoa(r+1)
				var b Batch
				b.RequireVersion("left", left.Seq)
				b.RequireVersion("right", right.Seq)
				b.Put(left)
				b.Put(right)
				if err := db.Apply(ctx, &b); err != nil && !errors.Is(err, ErrExists) {
					t.Error(err)
				}
			}
		})
	}
	merged := make(chan error)
	go func() {
		var err error
		for range 10 {
			err = errors.Join(err, db.Compact(ctx, nil))
		}
		merged <- err
	}()
	wait.Wait()
	must.Do(t, <-merged)
	for i := range won {
		if n := won[i].Load(); n != 1 {
			t.Errorf("%d writers stored once%d", n, i)
		}
	}
	if _, n := number("count"); n != 1000+writers*counts {
		t.Errorf("counted %d", n-1000)
	}
	_, l := number("left")
	if _, r := number("right"); l+r != 2000 || l == 1000 {
		t.Errorf("%d and %d", l, r)
	}
}

// TestVersionsNeverRepeat drops the table with the last sequence numbers, in every way, and
// continues in another process, in a backup, and in a recovered database: no version may be
// assigned twice, so that a version seen earlier never matches a different document.
func TestVersionsNeverRepeat(t *testing.T) {
	ctx := t.Context()
	var now atomic.Int64
	now.Store(1_000_000)
	o := &Options{NoSketch: true, TTL: time.Hour, DisableAutoCompaction: true, now: func() time.Time { return time.Unix(now.Load(), 0) }}
	readOnly := *o
	readOnly.ReadOnly = true
	drops := map[string]func(db *DB) error{
		"prune":  func(db *DB) error { _, err := db.Prune(ctx, time.Unix(now.Load()+1, 0), nil); return err },
		"expiry": func(db *DB) error { now.Add(2 * 3600); return db.Compact(ctx, nil) },
		"ingest and prune": func(db *DB) error {
			pack := filepath.Join(t.TempDir(), "x.sst")
			_, err := db.Prune(ctx, time.Unix(now.Load()-1, 0), nil)
			err = errors.Join(err, db.Pack(ctx, pack, nil), db.Ingest(ctx, pack))
			_, err2 := db.Prune(ctx, time.Unix(now.Load()+1, 0), nil)
			return errors.Join(err, err2)
		},
	}
	nexts := map[string]func(path string) string{
		"reopened": func(path string) string { return path },
		"a backup by a reader": func(path string) string {
			db := must.Get(Open(path, &readOnly))(t)
			defer db.Close()
			to := filepath.Join(t.TempDir(), "b.simdb")
			must.Do(t, backupTo(db, ctx, to, nil))
			return to
		},
		"recovered": func(path string) string {
			to := filepath.Join(t.TempDir(), "r.simdb")
			must.Get(Recover(ctx, path, to, nil))(t)
			return to
		},
	}
	for how, drop := range drops {
		for next, open := range nexts {
			path := filepath.Join(t.TempDir(), "x.simdb")
			db := must.Get(Create(path, o))(t)
			reader := must.Get(Open(path, &readOnly))(t)
			var docs []Doc
			for i := range 10 {
				docs = append(docs, Doc{ID: fmt.Sprint("doc", i), Fingerprints: []Fingerprint{{uint64(i)}}})
			}
			loadStored(t, db, docs...)
			seen := map[uint64]string{}
			note := func(e entry) {
				if seen[e.Seq] != "" {
					t.Errorf("%s, %s: version %d of %s was that of %s", how, next, e.Seq, e.ID, seen[e.Seq])
				}
				seen[e.Seq] = e.ID
			}
			for _, e := range collect(t, entriesOf(ctx, db, Range{})) {
				note(e)
			}
			old := must.Get(db.Get(ctx, "doc4"))(t).Seq
			must.Do(t, errors.Join(drop(db), db.Close()))
			if n := must.Get(filepath.Glob(filepath.Join(path, "*.sst")))(t); len(n) > 0 {
				t.Fatalf("%s: %v are left", how, n)
			}
			db = must.Get(Open(open(path), o))(t)
			for i := range 20 {
				must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprint("doc", i), Fingerprints: []Fingerprint{{uint64(i)}}}))
			}
			for _, e := range collect(t, entriesOf(ctx, db, Range{})) {
				note(e)
			}
			var c *files.Conflict
			if err := db.PutIfVersion(ctx, Doc{ID: "doc4"}, old); !errors.As(err, &c) {
				t.Errorf("%s, %s: PutIfVersion of what nobody has seen: %v", how, next, err)
			}
			var b Batch
			for i := range 20 {
				b.DeleteVersion(fmt.Sprint("doc", i), old)
			}
			if err := db.Apply(ctx, &b); err != nil || b.Deleted() > 0 {
				t.Errorf("%s, %s: DeleteVersion deletes %d: %v", how, next, b.Deleted(), err)
			}
			if next == "reopened" {
				if err := reader.Refresh(ctx); err != nil {
					t.Error(err)
				}
				if got := len(collect(t, entriesOf(ctx, reader, Range{}))); got != 20 {
					t.Errorf("%s: a reader sees %d documents", how, got)
				}
			}
			if err := errors.Join(db.Close(), reader.Close()); err != nil {
				t.Error(err)
			}
		}
	}
}
