package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// A feedReader has the changes of a feed that it applied.
type feedReader struct {
	at       uint64
	docs     map[string]string // texts by ID
	restarts int               // because the history was gone
}

// follow applies changes until the end, or until it is killed after some, and reports whether it
// reached the end. It begins again if the history is gone.
func (f *feedReader) follow(db *DB, atMost int) (end bool, err error) {
	for c, err := range db.Changes(context.Background(), f.at, false) {
		if errors.Is(err, ErrExpired) {
			*f = feedReader{restarts: f.restarts + 1}
			return f.follow(db, atMost)
		}
		if err != nil {
			return false, err
		}
		if c.Seq < f.at || c.Seq == f.at && c.Op != "expire" || !strings.HasPrefix(c.ID, "id") {
			return false, fmt.Errorf("%s of %q at %d after %d", c.Op, c.ID, c.Seq, f.at)
		}
		if f.docs == nil {
			f.docs = map[string]string{}
		}
		f.at = c.Seq
		if delete(f.docs, c.ID); c.Op == "put" {
			f.docs[c.ID] = c.Text
		}
		if atMost--; atMost == 0 {
			return false, nil
		}
	}
	return true, nil
}

// catchUp follows to the end, killed again and again, and compares the documents with the database's.
func (f *feedReader) catchUp(db *DB, r *rand.Rand) error {
	for atMost, end := 1, false; !end; atMost += r.IntN(12) {
		var err error
		if end, err = f.follow(db, atMost); err != nil {
			return err
		}
	}
	want := map[string]string{}
	for d, err := range db.Range(context.Background(), Range{Load: true}) {
		if err != nil {
			return err
		}
		want[d.ID] = d.Text
	}
	if !maps.Equal(f.docs, want) {
		return fmt.Errorf("at %d: got %d documents, the database has %d:\n%v\n%v", f.at, len(f.docs), len(want), f.docs, want)
	}
	return nil
}

// A feedScript changes a database at random, as time passes.
type feedScript struct {
	*rand.Rand
	feedClock
	several bool
}

// A feedClock is a clock that background work reads while a test sets it.
type feedClock struct{ nanos atomic.Int64 }

func (c *feedClock) now() time.Time       { return time.Unix(0, c.nanos.Load()) }
func (c *feedClock) pass(d time.Duration) { c.nanos.Add(int64(d)) }

func (s *feedScript) doc() Doc {
	d := Doc{ID: fmt.Sprint("id", s.IntN(60)), Text: fmt.Sprint("text ", s.Uint64()), Time: s.now()}
	if s.several && s.IntN(2) == 0 {
		d.Fingerprints = []Fingerprint{{s.Uint64()}, {s.Uint64()}}
	}
	if s.IntN(8) == 0 {
		d.Time = s.now().Add(-time.Duration(s.IntN(90)) * time.Minute)
	}
	return d
}

// run makes some writes, and then work of another kind.
func (s *feedScript) run(db *DB) (err error) {
	ctx := context.Background()
	for range s.IntN(20) {
		s.pass(time.Duration(s.IntN(60)) * time.Second)
		switch s.IntN(5) {
		case 0:
			err = db.Delete(ctx, s.doc().ID)
		case 1:
			var b Batch
			for range s.IntN(5) {
				b.Put(s.doc())
				b.Delete(s.doc().ID)
			}
			err = db.Apply(ctx, &b)
		default:
			err = db.Put(ctx, s.doc())
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	switch s.IntN(12) {
	case 0:
		l, err := db.NewLoader(ctx, &LoadOptions{Replace: true, Workers: 1})
		if err != nil {
			return err
		}
		for range 10 {
			err = errors.Join(err, l.Add(s.doc()))
		}
		_, closeErr := l.Close()
		return errors.Join(err, closeErr)
	case 1:
		_, err := db.Prune(ctx, s.now().Add(-time.Duration(s.IntN(50))*time.Minute), nil)
		return err
	case 2, 3, 4:
		return db.Flush(ctx)
	case 5:
		return db.Compact(ctx, nil)
	case 6:
		s.pass(time.Duration(s.IntN(100)) * time.Minute)
	}
	return nil
}

// TestChanges compares two followers that are killed again and again with the database: one in the
// writing process, one that reads beside it.
func TestChanges(t *testing.T) {
	for seed := range uint64(2) {
		s := &feedScript{Rand: rand.New(rand.NewPCG(seed, 1)), several: seed == 0}
		s.pass(1_700_000_000 * time.Second)
		opts := Options{TTL: time.Hour, NoSync: true, Features: Features{Several: s.several}, now: s.now}
		if seed == 1 {
			opts.TTL, opts.History = 0, 300
		}
		path := filepath.Join(t.TempDir(), "db")
		db := open4test(t, path, &opts)
		reader := open4test(t, path, &Options{ReadOnly: true, now: opts.now})
		var own, other feedReader
		for round := range 200 {
			must.Do(t, s.run(db))
			if s.IntN(12) == 0 {
				must.Do(t, db.Close())
				db = open4test(t, path, &opts)
			}
			if s.IntN(3) == 0 {
				continue // the followers fall behind
			}
			err := errors.Join(own.catchUp(db, s.Rand), reader.Refresh(t.Context()), other.catchUp(reader, s.Rand))
			if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
		}
		if forgets := opts.History > 0; forgets != (own.restarts > 0) || forgets != (other.restarts > 0) {
			t.Errorf("seed %d: the history was gone %d and %d times", seed, own.restarts, other.restarts)
		}
	}
}

// TestChangesCrash cuts the power at a random moment of each round: a follower in the writing process
// must not have seen a write that is lost, and goes on after the restart.
func TestChangesCrash(t *testing.T) {
	s := &feedScript{Rand: rand.New(rand.NewPCG(3, 1))}
	s.pass(1_700_000_000 * time.Second)
	opts := Options{TTL: time.Hour, MemtableBytes: 4000, NoSketch: true, now: s.now}
	fs := vfstest.NewMem(hostDir(t))
	var f feedReader
	for round := range 100 {
		opts.fs = fs
		db, err := Open("db", &opts)
		if err == nil {
			err = f.catchUp(db, s.Rand)
		}
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		fs.CrashAt(fs.Ops() + 1 + s.IntN(60))
		for err == nil {
			if err = s.run(db); err == nil {
				_, err = f.follow(db, 1+s.IntN(30))
			}
		}
		if !fs.Crashed() {
			t.Fatalf("round %d: %v", round, err)
		}
		f.follow(db, 1+s.IntN(30))
		_ = db.Close() // fails, too
		after := leave(fs, shares[s.IntN(len(shares))], s.Uint64())
		fs.Discard()
		fs = after
	}
	fs.Discard()
}

// TestChangesFollow waits for changes that another process makes.
func TestChangesFollow(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	path := filepath.Join(t.TempDir(), "db")
	db := open4test(t, path, nil)
	put(t, db, "a", 1)
	reader := open4test(t, path, &Options{ReadOnly: true})
	var got []string
	for c, err := range reader.Changes(ctx, 0, true) {
		if len(got) == 3 {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after the end: %v, %v", c, err)
			}
			continue
		}
		must.Do(t, err)
		switch got = append(got, fmt.Sprint(c.Op, c.ID, c.Seq)); len(got) {
		case 1:
			put(t, db, "b", 2)
		case 2:
			err = db.Delete(ctx, "a")
		case 3:
			cancel()
		}
		must.Do(t, err)
	}
	if want := []string{"puta1", "putb2", "deletea3"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestChangesEnd ends the context of a follower in the writing process, which finds no changes.
func TestChangesEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	db, _ := create4test(t, nil)
	for c, err := range db.Changes(ctx, 0, true) {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", c, err)
		}
	}
}

// TestNoHistory requests changes that the database does not know.
func TestNoHistory(t *testing.T) {
	db := open4test(t, filepath.Join(t.TempDir(), "db"), &Options{History: -1})
	put(t, db, "a", 1)
	put(t, db, "b", 2)
	must.Do(t, db.Delete(t.Context(), "a"))
	must.Do(t, db.Flush(t.Context()))
	for from, known := range []bool{true, false, false, true, false} { // 3 is the last write
		err := error(nil)
		for _, err = range db.Changes(t.Context(), uint64(from), false) {
		}
		if known != (err == nil) || !known && !errors.Is(err, ErrExpired) {
			t.Errorf("from %d: %v", from, err)
		}
	}
}

// TestChangesOwnEnds lets documents expire by themselves, in a memtable and in a table: a follower that
// has them is told, also after a restart, and others are not.
func TestChangesOwnEnds(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		var clock feedClock
		clock.pass(time.Duration(time.Now().UnixNano()))
		db, _ := create4test(t, &Options{now: clock.now, elapsed: func() time.Duration { return 0 }})
		for i, life := range []time.Duration{0, time.Hour, 3 * time.Hour} {
			d := Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{uint64(i)}}}
			if life > 0 {
				d.Expires = clock.now().Add(life)
			}
			must.Do(t, db.Put(t.Context(), d))
		}
		if flushed {
			must.Do(t, db.Flush(t.Context()))
		}
		changes := func(from uint64) (said string, last uint64) {
			for c, err := range db.Changes(t.Context(), from, false) {
				must.Do(t, err)
				said, last = said+c.Op+" "+c.ID+";", c.Seq
			}
			return said, last
		}
		said, last := changes(0)
		if said != "put 0;put 1;put 2;" {
			t.Errorf("flushed %t: at first %s", flushed, said)
		}
		if said, _ := changes(last); said != "" {
			t.Errorf("flushed %t: then %s", flushed, said)
		}
		clock.pass(2 * time.Hour)
		if said, _ := changes(last); said != "expire 1;" {
			t.Errorf("flushed %t: two hours later %s", flushed, said)
		}
		if said, _ := changes(0); said != "put 0;put 2;" && said != "put 0;expire 1;put 2;" {
			t.Errorf("flushed %t: from the beginning %s", flushed, said)
		}
	}
}
