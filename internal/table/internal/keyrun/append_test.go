package keyrun

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAppend concatenates runs and columns from parts, which are reused, and compares the bytes
// with those of a single writer.
func TestAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	for range 200 {
		n := r.IntN(8 * BlockLen)
		keys, values := make([]uint64, n), make([]uint32, n)
		for i := range keys {
			keys[i], values[i] = r.Uint64()>>r.IntN(64), r.Uint32N(1000)
		}
		slices.Sort(keys)
		var parts []int // ends of the parts
		for at := 0; at < n; {
			at = min(at+BlockLen*(r.IntN(3)), n)
			if parts = append(parts, at); r.IntN(4) == 0 {
				parts = append(parts, at) // an empty part
			}
		}
		if n == 0 && r.IntN(2) == 0 {
			parts = append(parts, 0)
		}
		compareParts(t, keys, values, parts)
	}
}

func compareParts(t *testing.T, keys []uint64, values []uint32, parts []int) {
	t.Helper()
	check := func(what string, got, want *bytes.Buffer, gotDir, wantDir []byte, errs ...error) {
		for _, err := range errs {
			if err != nil {
				t.Fatal(what, err)
			}
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) || !bytes.Equal(gotDir, wantDir) {
			t.Fatalf("%s: %d keys in parts %d: other bytes", what, len(keys), parts)
		}
	}
	var got, want bytes.Buffer
	one, whole, part := NewPairWriter(&want, 999), NewPairWriter(&got, 999), NewPairWriter(nil, 999)
	errOne := one.AddPairs(keys, values)
	var errs []error
	from := 0
	for _, to := range parts {
		errs = append(errs, part.AddPairs(keys[from:to], values[from:to]), whole.Append(part))
		from = to
	}
	wantDir, e1 := one.Finish()
	gotDir, e2 := whole.Finish()
	check("run", &got, &want, gotDir, wantDir, append(errs, errOne, e1, e2)...)

	got.Reset()
	want.Reset()
	oneC, wholeC, partC := NewColumnWriter(&want), NewColumnWriter(&got), NewColumnWriter(nil)
	from, errs = 0, nil
	for _, to := range parts {
		for _, v := range values[from:to] {
			oneC.Add(uint64(v))
			partC.Add(uint64(v))
		}
		errs = append(errs, wholeC.Append(partC))
		from = to
	}
	wantDir, e1 = oneC.Finish()
	gotDir, e2 = wholeC.Finish()
	check("column", &got, &want, gotDir, wantDir, append(errs, e1, e2)...)
}

// TestAppendRefuses appends parts that do not fit.
func TestAppendRefuses(t *testing.T) {
	var out bytes.Buffer
	run, part := NewWriter(&out), NewWriter(nil)
	run.Add(1)
	part.Add(2)
	if run.Append(part) == nil {
		t.Error("a part after one key")
	}
	run, part = NewWriter(&out), NewWriter(nil)
	for range BlockLen {
		run.Add(7)
	}
	part.Add(6)
	if run.Append(part) == nil {
		t.Error("a key that is less")
	}
	run, part = NewWriter(&out), NewPairWriter(nil, 70)
	part.AddPair(6, 1)
	if run.Append(part) == nil {
		t.Error("a part with values")
	}
	column, other := NewColumnWriter(&out), NewColumnWriter(nil)
	column.Add(1)
	other.Add(2)
	if column.Append(other) == nil {
		t.Error("a part after one value")
	}
}

// TestAddAll adds values one by one and together; the bytes must be the same.
func TestAddAll(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 6))
	for range 50 {
		values := make([]uint64, r.IntN(5*BlockLen))
		for i := range values {
			values[i] = r.Uint64() >> r.IntN(64)
		}
		var got, want bytes.Buffer
		one, all := NewColumnWriter(&want), NewColumnWriter(&got)
		for _, v := range values {
			one.Add(v)
		}
		for rest := values; len(rest) > 0; {
			n := min(1+r.IntN(2*BlockLen), len(rest))
			all.AddAll(rest[:n])
			rest = rest[n:]
		}
		if one.Len() != all.Len() {
			t.Fatalf("%d values, %d", one.Len(), all.Len())
		}
		wantDir, e1 := one.Finish()
		gotDir, e2 := all.Finish()
		if e1 != nil || e2 != nil || !bytes.Equal(got.Bytes(), want.Bytes()) || !bytes.Equal(gotDir, wantDir) {
			t.Fatalf("%d values: %v, %v, or other bytes", len(values), e1, e2)
		}
	}
}
