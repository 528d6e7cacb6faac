package query

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
)

// Every statement ends soon after its context, whatever it is doing then.
func TestStatementsStop(t *testing.T) {
	db := openTest(t, &engine.Options{NoText: true, NoSketch: true})
	documents := 300000
	if testing.Short() {
		documents = 100000
	}
	l, err := db.NewLoader(t.Context(), engine.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range documents {
		fp := r.Uint64()
		if err := l.Add(engine.Doc{ID: fmt.Sprintf("%016x", r.Uint64()), Fingerprint: &fp}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
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
		"ID LIKE '%9%'", "ID LIKE '%9%' ORDER BY time", "COUNT ID LIKE '%9%'", "SINCE 1d", "NEAR(0, 30) OR ID LIKE '%9%'", "COUNT", "STATS",
		"PAIRS NEAR 10 LIMIT 100", "CLUSTERS NEAR 3", "COUNT PAIRS NEAR 10",
	} {
		started := time.Now()
		if err := run(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		whole := time.Since(started)
		// Of several trials at the same moment the least counts: a busy machine delays some.
		for part := range 2 {
			after := whole * time.Duration(2*part+1) / 4
			least := time.Duration(1 << 62)
			for trial := 0; trial < 4 && least > 50*time.Millisecond; trial++ {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				started := time.Now()
				err := run(ctx, text)
				late := time.Since(started) - after
				cancel()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%s: %v", text, err)
				}
				least = min(least, late)
			}
			if least > 50*time.Millisecond {
				t.Errorf("%s, which takes %v, ends %v after its context of %v", text, whole, least, after)
			}
		}
		t.Logf("%s: %v", text, whole)
	}
}
