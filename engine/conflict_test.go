package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPreconditions applies random batches with preconditions to a database and to a map.
func TestPreconditions(t *testing.T) {
	ctx := t.Context()
	var now atomic.Int64 // in seconds: a merge in the background asks, too
	now.Store(1_000_000)
	db, _ := create4test(t, &Options{
		NoSketch: true, Sync: SyncNever, TTL: time.Hour, now: func() time.Time { return time.Unix(now.Load(), 0) },
	})
	r := rand.New(rand.NewPCG(11, 12))
	stored := map[string]Doc{}
	refused, applied := 0, 0
	for step := range 3000 {
		if r.IntN(100) == 0 {
			if err := db.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(300) == 0 { // all expire
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
				b.RequireAbsent(id)
				need(id, !there)
			case 1:
				b.RequirePresent(id)
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
		c, conflict := errors.AsType[*ConflictError](err)
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

// TestOneWriterWins has many writers put the same documents if they are absent, count in one
// document by its version, and move from one document to another, while tables are written and
// merged.
func TestOneWriterWins(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{NoSketch: true, Sync: SyncNever})
	const writers, ids, counts = 16, 200, 60
	for _, id := range []string{"count", "left", "right"} {
		if err := db.PutIfAbsent(ctx, Doc{ID: id, Text: "1000"}); err != nil {
			t.Fatal(err)
		}
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
				} else if _, ok := errors.AsType[*ConflictError](err); !ok {
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
			err = errors.Join(err, db.Compact(ctx))
		}
		merged <- err
	}()
	wait.Wait()
	if err := <-merged; err != nil {
		t.Fatal(err)
	}
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
