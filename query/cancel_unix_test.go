//go:build unix

package query

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// Every statement ends soon after its context is cancelled, whatever it is doing at that time.
func TestStatementsStop(t *testing.T) {
	db := openTest(t, &engine.Options{NoText: true, NoSketch: true})
	documents := exhaustive.Size(100000, 300000)
	l := must.Get(db.NewLoader(t.Context(), &engine.LoadOptions{}))(t)
	r := rand.New(rand.NewPCG(5, 6))
	for range documents {
		fp := r.Uint64()
		must.Do(t, l.Add(engine.Doc{ID: fmt.Sprintf("%016x", r.Uint64()), Fingerprints: []engine.Fingerprint{{fp}}}))
	}
	must.Get(l.Close())(t)
	run := func(ctx context.Context, text string) error {
		rows, err := Run(ctx, db, text)
		if err != nil {
			return err
		}
		for _, err = range rows.All() {
		}
		return err
	}
	for _, text := range []string{
		"NEAR(0, 64)", "NEAR(0, 64) ORDER BY time DESC", "NEAR(0, 64) ORDER BY id LIMIT 60000", "COUNT NEAR(0, 64) AND SINCE 1d", "NEAREST(0, 90000)",
		"ID LIKE '%9%'", "ID LIKE '%9%' ORDER BY time", "COUNT ID LIKE '%9%'", "SINCE 1d", "NEAR(0, 30) OR ID LIKE '%9%'", "COUNT",
		"PAIRS NEAR 10 LIMIT 100", "CLUSTERS NEAR 3", "COUNT PAIRS NEAR 10",
	} {
		started := time.Now()
		if err := run(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		whole := time.Since(started)
		for part := range time.Duration(2) {
			after := whole * (2*part + 1) / 4
			// Garbage collection and other processes, which share the caches, can only lengthen the
			// time, so a single good try suffices. A statement that ignores its context is late in
			// every try.
			const tries, most = 12, exhaustive.Slower * 100 * time.Millisecond
			late := most + 1
			for try := 0; try < tries && late > most; try++ {
				if try > 0 {
					runtime.GC() // so that garbage of earlier tries is not collected in this one
				}
				late = lateness(t, after, func(ctx context.Context) error { return run(ctx, text) })
			}
			if late > most {
				t.Errorf("%s, which takes %v, goes on for %v of CPU time after it was cancelled after %v", text, whole, late, after)
			}
		}
		t.Logf("%s: %v", text, whole)
	}
}

// lateness cancels a run after a time and returns the CPU time that the run uses from then on, or 0
// if it ended earlier.
func lateness(t *testing.T, after time.Duration, run func(context.Context) error) time.Duration {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var cancelled time.Duration
	timer := time.AfterFunc(after, func() { cancelled = cpuTime(t); cancel() })
	err := run(ctx)
	ended := cpuTime(t)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if timer.Stop() {
		return 0
	}
	<-ctx.Done()
	return ended - cancelled
}

// cpuTime returns the CPU time of the process: with two processors, at most twice the elapsed time.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Error(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
