package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestCancelJoins ends joins at random moments of the time that they take. They return soon: far sooner than they would take.
func TestCancelJoins(t *testing.T) {
	r := rand.New(rand.NewPCG(73, 74))
	n, rounds := 20000, 4
	if testing.Short() {
		n, rounds = 6000, 2
	}
	db, _ := create4test(t, &Options{Sync: SyncNever})
	l, err := db.NewLoader(t.Context(), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text := ""
		for range 25 {
			x := r.Float64()
			text += fmt.Sprintf("w%d ", int(2000*x*x*x*x))
		}
		if err := l.Add(Doc{ID: fmt.Sprint(i), Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	joins := map[string]func(ctx context.Context) error{}
	add := func(name string, by Criterion, mode ClusterMode, pairs bool) {
		joins[fmt.Sprint(name, by)] = func(ctx context.Context) error {
			if pairs {
				for _, err := range db.Pairs(ctx, by, nil) {
					if err != nil {
						return err
					}
				}
				return nil
			}
			for _, err := range db.Clusters(ctx, by, &ClusterOptions{Mode: mode, Before: func(a, b Entry) bool { return a.ID < b.ID }}) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, by := range []Criterion{Jaccard(0.1), Jaccard(0.3).Verified(), Near(16)} {
		add("pairs ", by, Star, true)
		add("stars ", by, Star, false)
		add("components ", by, Components, false)
	}
	for name, join := range joins {
		start := time.Now()
		if err := join(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		whole := time.Since(start)
		for range rounds {
			ctx, cancel := context.WithCancel(t.Context())
			at := time.Duration(r.Int64N(int64(whole)))
			var cancelled time.Time
			timer := time.AfterFunc(at, func() { cancelled = time.Now(); cancel() })
			err := join(ctx)
			ended := time.Now()
			if timer.Stop() || err == nil {
				cancel()
				continue // it was faster this time
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: %v", name, err)
			}
			if late := ended.Sub(cancelled); late > 200*time.Millisecond+whole/10 {
				t.Errorf("%s: cancelled after %v of %v, it took %v more", name, at, whole, late)
			}
		}
	}
}
