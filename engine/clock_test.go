package engine

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// clocks are a wall clock and a monotonic clock.
type clocks struct{ wall, elapsed atomic.Int64 }

func (c *clocks) options(ttl time.Duration) *Options {
	return &Options{
		TTL: ttl, NoSketch: true, DisableAutoCompaction: true,
		now:     func() time.Time { return time.Unix(0, c.wall.Load()) },
		elapsed: func() time.Duration { return time.Duration(c.elapsed.Load()) },
	}
}

// passing returns a clock, which background work may read at any time, and what moves it.
func passing(start time.Time) (now func() time.Time, pass func(time.Duration)) {
	c := new(atomic.Int64)
	return func() time.Time { return start.Add(time.Duration(c.Load())) }, func(d time.Duration) { c.Add(int64(d)) }
}

// jump moves the wall clock alone, pass both.
func (c *clocks) jump(d time.Duration) { c.wall.Add(int64(d)) }
func (c *clocks) pass(d time.Duration) { c.jump(d); c.elapsed.Add(int64(d)) }

func newClocks() *clocks {
	c := new(clocks)
	c.wall.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

// TestClockJumps has a wall clock that is ahead for a while. What it hides must be back afterwards,
// in every kind of table and after every kind of merge; a clock that stays ahead must be believed.
func TestClockJumps(t *testing.T) {
	const years = 10 * 365 * 24 * time.Hour
	ctx, c := t.Context(), newClocks()
	db, path := create4test(t, c.options(48*time.Hour))
	expect := func(visible, stored int64) {
		t.Helper()
		okay(t, db.Compact(ctx, &CompactOptions{Due: true}))
		okay(t, db.Compact(ctx, nil))
		n, err := db.Count(ctx, Range{})
		okay(t, err)
		st, err := db.Stats()
		okay(t, err)
		in := int64(0)
		for _, table := range st.Tables {
			in += table.Documents
		}
		if st.Documents != visible || st.Expired != stored-visible || st.SpaceAmplification > 1 {
			t.Fatalf("stats have %d documents, %d expired, a space amplification of %v", st.Documents, st.Expired, st.SpaceAmplification)
		}
		if n != visible || in != stored {
			t.Fatalf("%d visible, want %d; %d stored, want %d", n, visible, in, stored)
		}
	}
	reopen := func() {
		t.Helper()
		okay(t, db.Close())
		db = open4test(t, path, c.options(0))
	}
	for i := range 8 {
		okay(t, db.Put(ctx, Doc{ID: fmt.Sprint("d", i), Text: fmt.Sprint("text ", i)}))
		if i%4 == 3 {
			okay(t, db.Flush(ctx))
		}
	}
	c.pass(time.Hour)
	expect(8, 8)

	c.jump(years) // while the database is open
	expect(0, 8)
	c.jump(-years)
	expect(8, 8)

	c.jump(years) // while it is closed
	reopen()
	expect(0, 8)
	c.jump(-years)
	expect(8, 8)
	reopen()
	expect(8, 8)

	c.jump(5 * time.Minute) // and by years when the minutes are about to be believed
	expect(8, 8)
	c.pass(59 * time.Minute)
	c.jump(years)
	c.pass(2 * time.Minute)
	expect(0, 8)
	c.jump(-years)
	expect(8, 8)

	c.jump(years) // for good
	expect(0, 8)
	c.pass(30 * time.Minute)
	expect(0, 8)
	c.pass(time.Hour)
	expect(0, 0)

	okay(t, db.Put(ctx, Doc{ID: "later", Text: "text"}))
	okay(t, db.Flush(ctx))
	c.pass(47*time.Hour + 30*time.Minute)
	expect(1, 1)
	okay(t, db.Put(ctx, Doc{ID: "last", Text: "text"}))
	okay(t, db.Flush(ctx)) // records the time
	reopen()
	c.pass(40 * time.Minute)
	expect(1, 1)
}

// TestUnusedForWeeks has a database that nothing writes for weeks: what has expired meanwhile is
// dropped by the second process at the latest.
func TestUnusedForWeeks(t *testing.T) {
	ctx, c := t.Context(), newClocks()
	db, path := create4test(t, c.options(48*time.Hour))
	okay(t, db.Put(ctx, Doc{ID: "a", Text: "text"}))
	okay(t, db.Flush(ctx))
	okay(t, db.Close())
	c.jump(21 * 24 * time.Hour)
	for _, tables := range []int{1, 0} {
		c.pass(time.Minute)
		db = open4test(t, path, c.options(0))
		okay(t, db.Compact(ctx, nil))
		st, err := db.Stats()
		if okay(t, err); len(st.Tables) != tables {
			t.Fatalf("%d tables, want %d", len(st.Tables), tables)
		}
		okay(t, db.Close())
	}
}

// TestTTLChanges changes the time to live by opening: durably, for writers and for readers that
// have the database open, and back.
func TestTTLChanges(t *testing.T) {
	ctx, c := t.Context(), newClocks()
	db, path := create4test(t, c.options(48*time.Hour))
	okay(t, db.Put(ctx, Doc{ID: "a", Text: "text"}))
	okay(t, db.Flush(ctx))
	okay(t, db.Close())
	reader := open4test(t, path, &Options{ReadOnly: true, TTL: time.Second, now: c.options(0).now})
	c.pass(60 * time.Hour)
	for _, o := range []struct{ option, ttl time.Duration }{{0, 48}, {72, 72}, {0, 72}, {-1, 0}, {0, 0}, {12, 12}, {48, 48}, {0, 48}, {100, 100}} {
		db = open4test(t, path, c.options(o.option*time.Hour))
		okay(t, reader.Refresh(ctx))
		for _, db := range []*DB{db, reader} {
			_, err := db.Get(ctx, "a")
			if got := db.Options().TTL; got != o.ttl*time.Hour || errors.Is(err, ErrNotFound) != (0 < o.ttl && o.ttl < 60) {
				t.Fatalf("%d: the time to live is %v: %v", o.option, got, err)
			}
		}
		must.Get(db.Backup(ctx, path+".backup", nil))(t)
		backup := open4test(t, path+".backup", &Options{ReadOnly: true})
		if got := backup.Options().TTL; got != o.ttl*time.Hour {
			t.Fatalf("%d: the time to live of a backup is %v", o.option, got)
		}
		okay(t, backup.Close())
		okay(t, db.Close())
	}
}

// TestFlushByAge puts few documents: their memtable must be flushed when it is old, also if the
// writes were replayed, and a process must be able to end before.
func TestFlushByAge(t *testing.T) {
	ctx := t.Context()
	flushed := make(chan int, 10)
	o := &Options{NoSketch: true, flushAge: time.Hour, OnEvent: func(e Event) {
		if e.Kind == "flush" {
			flushed <- e.Docs
		}
	}}
	db, path := create4test(t, o)
	okay(t, db.Put(ctx, Doc{ID: "a", Text: "text"}))
	okay(t, db.Close())
	if len(flushed) > 0 {
		t.Fatal("flushed early")
	}
	o.flushAge = 10 * time.Millisecond
	db = open4test(t, path, o)
	if n := <-flushed; n != 1 {
		t.Fatalf("%d documents flushed, want 1", n)
	}
	okay(t, db.Apply(ctx, func() *Batch { var b Batch; b.Put(Doc{ID: "b", Text: "b"}); b.Put(Doc{ID: "c", Text: "c"}); return &b }()))
	if n := <-flushed; n != 2 {
		t.Fatalf("%d documents flushed, want 2", n)
	}
}

func okay(t testing.TB, err error) {
	t.Helper()
	must.Do(t, err)
}

// TestRenew has documents that are seen again: with Renew they live as long as they are seen, whole,
// and otherwise not.
func TestRenew(t *testing.T) {
	for _, renew := range []bool{false, true} {
		ctx, c := t.Context(), newClocks()
		o := c.options(48 * time.Hour)
		o.NoSketch, o.Features.Several = false, true
		db, _ := create4test(t, o)
		first := Doc{ID: "a", Text: "one two three four", Fields: []byte(`{"n":1}`), Fingerprints: []Fingerprint{{1}, {0xffff << 20}}}
		okay(t, db.Put(ctx, first))
		okay(t, db.Flush(ctx))
		created := c.options(0).now()
		for range 3 {
			c.pass(40 * time.Hour)
			seen := c.options(0).now()
			done, err := db.AddNovel(ctx, []Doc{
				{ID: "b", Fingerprints: []Fingerprint{{0xffff<<20 | 1}}},
				{ID: "c", Fingerprints: []Fingerprint{{0}}, Time: created.Add(time.Hour)}, // an earlier sighting, or expired
			}, Near(3), &SearchOptions{Renew: renew})
			okay(t, err)
			if !renew && done[0].Stored { // at the second time
				if got, err := db.Get(ctx, "a"); !errors.Is(err, ErrNotFound) {
					t.Fatalf("%v, %v", got, err)
				}
				break
			}
			if renew { // an earlier sighting alone changes nothing
				_, err = db.AddNovel(ctx, []Doc{{ID: "c", Fingerprints: []Fingerprint{{0}}, Time: seen.Add(-time.Hour)}}, Near(3), &SearchOptions{Renew: true})
				okay(t, err)
			}
			got, err := db.Get(ctx, "a")
			okay(t, err)
			want := created
			if renew {
				want = seen
			}
			if done[0].Stored || done[0].Match.ID != "a" || !got.Time.Equal(want) {
				t.Fatalf("renew %t: %+v, with time %v, want %v", renew, done[0], got.Time, want)
			}
			got.Seq, got.Time = 0, first.Time
			if !reflect.DeepEqual(got, first) {
				t.Fatalf("renewed as %+v, want %+v", got, first)
			}
			matches, err := db.CountMatches(ctx, Doc{Text: first.Text}, Jaccard(0.9).Estimated(), nil)
			if okay(t, err); matches != 1 {
				t.Fatal("the sketch is lost")
			}
		}
		if n, err := db.Count(ctx, Range{}); err != nil || n != 1 {
			t.Fatalf("renew %t: %d documents: %v", renew, n, err)
		}
	}
}

// TestStatsOfExpired counts expired documents of a memtable.
func TestStatsOfExpired(t *testing.T) {
	ctx, c := t.Context(), newClocks()
	db, _ := create4test(t, c.options(48*time.Hour))
	for _, id := range []string{"a", "b"} {
		okay(t, db.Put(ctx, Doc{ID: id, Text: "text"}))
		c.pass(30 * time.Hour)
	}
	if st, err := db.Stats(); err != nil || st.Documents != 1 || st.Expired != 1 || st.Memtable != 2 {
		t.Fatalf("%d documents, %d expired, %d in the memtable: %v", st.Documents, st.Expired, st.Memtable, err)
	}
}
