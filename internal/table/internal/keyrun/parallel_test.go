package keyrun

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestParallelWriter writes runs in pieces of all sizes; the bytes must equal the output of a
// single writer.
func TestParallelWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 11))
	for _, n := range []int{0, 1, BlockLen, shareLen - 1, shareLen, shareLen + 1, 3*shareLen + 700, 9 * shareLen} {
		for _, workers := range []int{0, 1, 2, 5} {
			for _, pairs := range []bool{false, true} {
				keys, values := make([]uint64, n), make([]uint32, n)
				for i := range keys {
					keys[i], values[i] = r.Uint64()>>r.IntN(40), r.Uint32N(1000)
				}
				slices.Sort(keys)
				if !pairs {
					values = nil
				}
				compareParallel(t, keys, values, workers, r)
			}
		}
	}
}

func compareParallel(t *testing.T, keys []uint64, values []uint32, workers int, r *rand.Rand) {
	t.Helper()
	var got, want bytes.Buffer
	newWriter := func(w *bytes.Buffer) *Writer {
		if values != nil {
			return NewPairWriter(w, 999)
		}
		return NewWriter(w)
	}
	one, many := newWriter(&want), NewParallelWriter(newWriter(&got), workers)
	if err := one.AddPairs(keys, values); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(keys); {
		to := min(from+r.IntN(2*shareLen), len(keys))
		var some []uint32
		if values != nil {
			some = values[from:to]
		}
		if err := many.AddPairs(keys[from:to], some); err != nil {
			t.Fatal(err)
		}
		if to > 0 && many.Last() != keys[to-1] || many.Len() != to {
			t.Fatalf("%d keys, the last %x, after %d", many.Len(), many.Last(), to)
		}
		from = to
	}
	wantDir, e1 := one.Finish()
	gotDir, e2 := many.Finish()
	if e1 != nil || e2 != nil || !bytes.Equal(gotDir, wantDir) || !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("%d keys, %d workers: %v, %v, or other bytes", len(keys), workers, e1, e2)
	}
}

var errFull = errors.New("full")

// failing is a writer that always fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// TestParallelWriterErrors writes keys out of order, within a share and between two, and writes to
// a writer that fails.
func TestParallelWriterErrors(t *testing.T) {
	ascending := make([]uint64, shareLen)
	for i := range ascending {
		ascending[i] = uint64(i) + 10
	}
	for name, pieces := range map[string][][]uint64{
		"within":  {{5, 4}},
		"between": {ascending, {3}},
	} {
		p := NewParallelWriter(NewWriter(&bytes.Buffer{}), 3)
		var err error
		for _, keys := range pieces {
			if err = p.AddKeys(keys); err != nil {
				break
			}
		}
		if _, e := p.Finish(); err == nil && e == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := NewParallelWriter(NewWriter(failing{}), 3)
	for range 5 {
		if p.AddKeys(ascending) != nil {
			break
		}
		for i := range ascending {
			ascending[i] += shareLen
		}
	}
	if _, err := p.Finish(); err != errFull {
		t.Errorf("a writer that fails: %v", err)
	}
	if p := NewParallelWriter(NewWriter(nil), 1); p.AddPairs([]uint64{1}, []uint32{1}) == nil {
		t.Error("values for a run without")
	}
}
