package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// TestEntriesWhere compares filtered entries, in order, unordered, as IDs, counted, and stopped
// early, with all entries of a database. The database has memtables and tables, large enough to be
// divided, with replaced, deleted and expired documents.
func TestEntriesWhere(t *testing.T) {
	exhaustive.Sequential(t)
	ctx := t.Context()
	start := time.Unix(1_000_000, 0)
	now, pass := passing(start)
	db, _ := create4test(t, &Options{
		NoSketch: true, NoText: true, NoSync: true, DisableAutoCompaction: true, TTL: 1000 * time.Hour, now: now,
	})
	r := rand.New(rand.NewPCG(5, 6))
	id := func() string { return fmt.Sprintf("%c/%d", "aabx"[r.IntN(4)], r.IntN(40_000)) }
	want := map[string]int64{}
	for _, c := range []struct {
		n    int
		base int64
	}{{300, 400_000}, {12_000, 40_000}, {30_000, 20_000}} { // expired, partly expired, not expired
		var docs []Doc
		for range c.n {
			d := at(id(), start.Unix()-c.base+r.Int64N(10_000))
			docs = append(docs, d)
			want[d.ID] = d.Time.Unix()
		}
		loadStored(t, db, docs...)
	}
	var b Batch
	for range 2000 {
		d := at(id(), start.Unix()-r.Int64N(1000))
		if r.IntN(4) == 0 {
			b.Delete(d.ID)
			delete(want, d.ID)
			continue
		}
		b.Put(d)
		want[d.ID] = d.Time.Unix()
	}
	must.Do(t, db.Apply(ctx, &b))
	pass(990 * time.Hour)
	var ids []string
	times := []int64{0, start.Unix() - 500}
	for id, s := range want {
		if s < now().Add(-1000*time.Hour).Unix() {
			delete(want, id)
			continue
		}
		ids = append(ids, id)
		if len(times) < 20 {
			times = append(times, s)
		}
	}
	slices.Sort(ids)
	if len(ids) < 10_000 {
		t.Fatalf("%d documents are visible", len(ids))
	}
	s := snapshot4test(t, db)
	for try := range 300 {
		f := Range{Prefix: []string{"", "a", "b/1", "a/77", "x/3999", "c", "a/1234"}[try%7]}
		if since := times[r.IntN(len(times))]; since > 0 && r.IntN(2) == 0 {
			f.Since = time.Unix(since, 0)
		}
		bound := func() string {
			return []string{"", "", ids[r.IntN(len(ids))], id(), "a/", "x", "z"}[r.IntN(7)]
		}
		if r.IntN(2) == 0 {
			f.From, f.To, f.After, f.Reverse = bound(), bound(), bound(), r.IntN(2) == 0
		}
		var selected []string
		for _, id := range ids {
			if f.After != "" && (f.Reverse && id >= f.After || !f.Reverse && id <= f.After) {
				continue
			}
			if strings.HasPrefix(id, f.Prefix) && id >= f.From && (f.To == "" || id < f.To) && (f.Since.IsZero() || want[id] >= f.Since.Unix()) {
				selected = append(selected, id)
			}
		}
		if n := len(selected); n > 0 && f.After == "" && r.IntN(3) == 0 {
			last := r.IntN(n)
			if f.After = selected[last]; f.Reverse {
				selected = selected[:last]
			} else {
				selected = selected[last+1:]
			}
		}
		if f.Prefix+f.From+f.To+f.After == "" {
			n, err := s.Count(ctx, Range{Since: f.Since})
			if f.Since.IsZero() {
				n, err = s.Count(ctx, Range{})
			}
			if n != int64(len(selected)) || err != nil {
				t.Fatalf("%+v: counted %d, want %d, %v", f, n, len(selected), err)
			}
		}
		stop := len(selected) + 1
		if r.IntN(3) > 0 {
			stop = 1 + r.IntN(30)
		}
		if r.IntN(2) == 0 {
			f.Limit = stop
		}
		if f.Unordered = r.IntN(3) == 0; f.Unordered {
			stop = len(selected) + 1
		} else if f.Reverse {
			slices.Reverse(selected)
		}
		var got []string
		if r.IntN(2) == 0 {
			f.OnlyIDs = true
			for e, err := range entriesIn(ctx, s, f) {
				must.Do(t, err)
				if e.Seq != 0 || e.HasFingerprint || !e.Time.IsZero() {
					t.Fatalf("more than the ID: %+v", e)
				}
				if got = append(got, e.ID); len(got) == stop {
					break
				}
			}
		} else {
			for e, err := range entriesIn(ctx, s, f) {
				must.Do(t, err)
				if e.Time.Unix() != want[e.ID] || e.Fingerprint != uint64(want[e.ID]) || !e.HasFingerprint {
					t.Fatalf("%+v: %+v, want the time %d", f, e, want[e.ID])
				}
				if got = append(got, e.ID); len(got) == stop {
					break
				}
			}
		}
		if f.Unordered {
			slices.Sort(got)
		}
		if f.Unordered && f.Limit > 0 { // any of them
			left := got
			for _, id := range selected {
				if len(left) > 0 && left[0] == id {
					left = left[1:]
				}
			}
			if len(left) > 0 || len(got) != min(f.Limit, len(selected)) {
				t.Fatalf("%+v: %d documents, among them %.100q", f, len(got), left)
			}
			continue
		}
		equal(t, fmt.Sprintf("%+v", f), got, selected[:min(stop, len(selected))])
	}
}

// TestEntriesEnd ends listings by cancelling the context and by closing the snapshot.
func TestEntriesEnd(t *testing.T) {
	db, _ := create4test(t, &Options{NoSketch: true, NoText: true})
	var docs []Doc
	for i := range 20_000 {
		docs = append(docs, at(fmt.Sprint(i), 1))
	}
	loadStored(t, db, docs...)
	for _, unordered := range []bool{false, true} {
		for _, idsOnly := range []bool{false, true} {
			for _, close := range []bool{false, true} {
				s := must.Get(db.Snapshot())(t)
				ctx, cancel := context.WithCancel(t.Context())
				rows, last := 0, error(nil)
				take := func(err error) bool {
					if last = err; err == nil {
						rows++
					}
					if rows == 10 && close && !unordered {
						s.Close()
					} else if rows == 10 {
						cancel()
					}
					return err == nil
				}
				f := Range{Unordered: unordered, OnlyIDs: idsOnly}
				entriesIn(ctx, s, f)(func(_ entry, err error) bool { return take(err) })
				if !errors.Is(last, context.Canceled) && !errors.Is(last, ErrClosed) || rows > 9000 {
					t.Errorf("unordered %t, IDs %t, closed %t: %d rows, then %v", unordered, idsOnly, close, rows, last)
				}
				cancel()
				s.Close()
			}
		}
	}
}
