//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"golang.org/x/sys/unix"
)

// TestQueriesStop checks that every query ends soon after its context, at any point.
func TestQueriesStop(t *testing.T) {
	db := open4test(t, t.TempDir()+"/stop.simdb", nil)
	documents := exhaustive.Size(100000, 300000)
	l := must.Get(db.NewLoader(t.Context(), &LoadOptions{}))(t)
	r := rand.New(rand.NewPCG(46, 47))
	for i := range documents {
		fp := r.Uint64()
		must.Do(t, l.Add(Doc{ID: fmt.Sprintf("%016x", r.Uint64()), Fingerprints: []Fingerprint{{fp}}, Text: fmt.Sprint("document ", i)}))
	}
	must.Get(l.Close())(t)
	s := snapshot4test(t, db)
	drain := func(seq iter.Seq2[Match, error]) (err error) {
		for _, err = range seq {
		}
		return err
	}
	entries := func(seq iter.Seq2[entry, error]) (err error) {
		for _, err = range seq {
		}
		return err
	}
	for what, query := range map[string]func(context.Context) error{
		"near": func(ctx context.Context) error { return drain(s.Search(ctx, ofPrint(0), Near(64), nil)) },
		"first": func(ctx context.Context) error {
			return drain(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Limit: 20000}))
		},
		"unordered": func(ctx context.Context) error {
			return drain(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Unordered: true}))
		},
		"count":   func(ctx context.Context) error { _, err := s.CountMatches(ctx, ofPrint(0), Near(64), nil); return err },
		"entries": func(ctx context.Context) error { return entries(entriesIn(ctx, s, Range{})) },
		"unordered entries": func(ctx context.Context) error {
			return entries(entriesIn(ctx, s, Range{Prefix: "", Unordered: true}))
		},
	} {
		started := time.Now()
		must.Do(t, query(t.Context()))
		whole := time.Since(started)
		for trial := range time.Duration(3) {
			after := whole * (2*trial + 1) / 6
			ctx, cancel := context.WithCancel(t.Context())
			var cancelled time.Duration
			timer := time.AfterFunc(after, func() { cancelled = cpuTime(t); cancel() })
			err := query(ctx)
			late := cpuTime(t)
			if timer.Stop() {
				cancel()
				continue // it had ended
			}
			<-ctx.Done()
			if late -= cancelled; late > exhaustive.Slower*100*time.Millisecond {
				t.Errorf("%s, which takes %v, goes on for %v of CPU time after it was cancelled after %v", what, whole, late, after)
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}

// TestCancelJoins cancels joins at random moments. They must return after little processor time,
// far less than the whole join needs.
func TestCancelJoins(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	n, rounds := exhaustive.Size(6000, 20000), exhaustive.Size(2, 4)
	db, _ := create4test(t, &Options{NoSync: true})
	l := must.Get(db.NewLoader(t.Context(), &LoadOptions{}))(t)
	for i := range n {
		text := ""
		for range 25 {
			x := r.Float64()
			text += fmt.Sprintf("w%d ", int(2000*x*x*x*x))
		}
		must.Do(t, l.Add(Doc{ID: fmt.Sprint(i), Text: text}))
	}
	must.Get(l.Close())(t)
	joins := map[string]func(ctx context.Context) error{}
	add := func(name string, by Criterion, mode bool, pairs bool) {
		joins[fmt.Sprint(name, by)] = func(ctx context.Context) error {
			if pairs {
				for _, err := range db.Pairs(ctx, by, nil) {
					if err != nil {
						return err
					}
				}
				return nil
			}
			for _, err := range db.Clusters(ctx, by, &ClusterOptions{Components: mode, Before: func(a, b Doc) bool { return a.ID < b.ID }}) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, by := range []Criterion{Jaccard(0.1).Estimated(), Jaccard(0.3), Near(16)} {
		add("pairs ", by, false, true)
		add("stars ", by, false, false)
		add("components ", by, true, false)
	}
	for name, join := range joins {
		start, used := time.Now(), cpuTime(t)
		if err := join(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		whole := time.Since(start)
		used = cpuTime(t) - used
		for range rounds {
			ctx, cancel := context.WithCancel(t.Context())
			at := time.Duration(r.Int64N(int64(whole)))
			var cancelled time.Duration
			timer := time.AfterFunc(at, func() { cancelled = cpuTime(t); cancel() })
			err := join(ctx)
			late := cpuTime(t)
			if timer.Stop() || err == nil {
				cancel()
				continue // it was faster this time
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", name, err)
			}
			<-ctx.Done()
			if late -= cancelled; late > exhaustive.Slower*200*time.Millisecond+used/10 {
				t.Errorf("%s: cancelled after %v of %v, it took %v more of the processor", name, at, whole, late)
			}
		}
	}
}

// cpuTime returns the processor time of the process, which other processes disturb less than the
// clock.
func cpuTime(b testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Error(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
