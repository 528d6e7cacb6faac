package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// writtenTable returns a table of n documents, where the w-th write (from 0) has time(w). The order
// of writing is random unless inOrder.
func writtenTable(t *testing.T, n int, inOrder bool, time func(w int) int64) *Reader {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 5))
	order := r.Perm(n)
	if inOrder {
		slices.Sort(order)
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Params{Tokenizer: 1, Shingle: 3, Hash: 1}.ForTable(int64(n)), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for doc, at := range order {
		d := Document{
			ID: fmt.Append(nil, doc), HasFingerprint: true, Fingerprint: uint64(doc) << 40,
			Seq: uint64(100 + 3*at), Time: time(at),
		}
		if err := w.Add(&d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	table, err := OpenBytes(buf.Bytes(), "written")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestWritten compares the documents selected by times and sequence numbers with a scan of all.
func TestWritten(t *testing.T) {
	exhaustive.Sequential(t)
	ctx := t.Context()
	random := rand.New(rand.NewPCG(1, 1))
	const n = 5000
	times := map[string]func(w int) int64{
		"all at once": func(int) int64 { return 7 },
		"by chunks":   func(w int) int64 { return int64(w / 1200 * 1000) },
		"rising":      func(w int) int64 { return int64(w) * 5 },
		"nearly":      func(w int) int64 { return int64(w)*5 + random.Int64N(500) },
		"random":      func(int) int64 { return random.Int64N(25_000) - 5000 },
		"two streams": func(w int) int64 { return int64(w%2)*20_000 + int64(w) },
		"extremes": func(w int) int64 {
			return []int64{math.MinInt64, math.MaxInt64, 0, 1000}[w%4]
		},
	}
	for name, time := range times {
		for _, size := range []int{1, 511, 512, n} {
			for _, inOrder := range []bool{true, false} {
				table := writtenTable(t, size, inOrder, time)
				for try := range 60 {
					w := Written{From: random.Int64N(30_000) - 6000, To: random.Int64N(30_000) - 5000, MaxSeq: math.MaxUint64}
					switch try % 5 {
					case 0:
						w.From = math.MinInt64
					case 1:
						w.To = math.MaxInt64
					case 2:
						w.MaxSeq = 90 + random.Uint64N(uint64(4*size))
					case 3: // the exact values of a document
						w.From, _ = table.Time(random.Uint32N(uint32(size)))
						w.To, _ = table.Time(random.Uint32N(uint32(size)))
					}
					var want, got []uint32
					for doc := range uint32(size) {
						at, err := table.Time(doc)
						seq, err2 := table.Seq(doc)
						if err := errors.Join(err, err2); err != nil {
							t.Fatal(err)
						}
						if at >= w.From && at <= w.To && seq <= w.MaxSeq {
							want = append(want, doc)
						}
					}
					err := table.EachWritten(ctx, w, func(docs []uint32) error {
						got = append(got, docs...)
						return nil
					})
					count, err2 := table.CountWritten(ctx, w)
					if err := errors.Join(err, err2); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got, want) || count != int64(len(want)) {
						t.Fatalf("%s, %d documents, in order %t, %+v: %d documents, counted %d, want %d", name, size, inOrder, w, len(got), count, len(want))
					}
				}
			}
		}
	}
}

// TestWrittenStops cancels a selection, and lets fn stop one.
func TestWrittenStops(t *testing.T) {
	table := writtenTable(t, 3000, false, func(w int) int64 { return int64(w) })
	ctx, cancel := context.WithCancel(t.Context())
	stop := errors.New("stop")
	half := Written{From: 0, To: 1499, MaxSeq: math.MaxUint64}
	if err := table.EachWritten(ctx, half, func([]uint32) error { return stop }); err != stop {
		t.Errorf("stopped with %v", err)
	}
	cancel()
	if err := table.EachWritten(ctx, half, func([]uint32) error { return nil }); err != context.Canceled {
		t.Errorf("cancelled with %v", err)
	}
	if _, err := table.CountWritten(ctx, half); err != context.Canceled {
		t.Errorf("cancelled with %v", err)
	}
}
