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
	"golang.org/x/sys/unix"
)

// Every query ends soon after its context, wherever it is.
func TestQueriesStop(t *testing.T) {
	db := open4test(t, t.TempDir()+"/stop.simdb", nil)
	documents := exhaustive.Size(100000, 300000)
	l, err := db.NewLoader(t.Context(), &LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(46, 47))
	for i := range documents {
		fp := r.Uint64()
		if err := l.Add(Doc{ID: fmt.Sprintf("%016x", r.Uint64()), Fingerprint: &fp, Text: fmt.Sprint("document ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := snapshot4test(t, db)
	drain := func(seq iter.Seq2[Match, error]) (err error) {
		for _, err = range seq {
		}
		return err
	}
	entries := func(seq iter.Seq2[Entry, error]) (err error) {
		for _, err = range seq {
		}
		return err
	}
	for what, query := range map[string]func(context.Context) error{
		"near": func(ctx context.Context) error { return drain(s.Search(ctx, ofPrint(0), Near(64))) },
		"first": func(ctx context.Context) error {
			return drain(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Limit: 20000}))
		},
		"unordered": func(ctx context.Context) error {
			return drain(s.Search(ctx, ofPrint(0), Near(64), &SearchOptions{Unordered: true}))
		},
		"count":   func(ctx context.Context) error { _, err := s.CountMatches(ctx, ofPrint(0), Near(64)); return err },
		"entries": func(ctx context.Context) error { return entries(entriesIn(ctx, s, Range{})) },
		"unordered entries": func(ctx context.Context) error {
			return entries(entriesIn(ctx, s, Range{Prefix: "", Unordered: true}))
		},
	} {
		started := time.Now()
		if err := query(t.Context()); err != nil {
			t.Fatal(err)
		}
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

// cpuTime is the processor time of the process, which other processes disturb less than the clock.
func cpuTime(b testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Error(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
