package vfs

import (
	"errors"
	"math"
	"testing"
)

// TestReserve reserves memory of all sizes, also of those that a server may claim.
func TestReserve(t *testing.T) {
	for _, size := range []int64{0, 1, 5000, 1 << 20} {
		data, release, err := Reserve(size)
		if err != nil || int64(len(data)) != size {
			t.Fatal(size, err)
		}
		for i := range data {
			if data[i] != 0 {
				t.Fatalf("byte %d of %d is %d", i, size, data[i])
			}
			data[i] = 1
		}
		if err := errors.Join(release(), release()); err != nil {
			t.Error(size, err)
		}
	}
	for _, size := range []int64{-1, math.MinInt64, 1 << 50, 1 << 60, math.MaxInt64 - 4095, math.MaxInt64} {
		if data, _, err := Reserve(size); err == nil {
			t.Errorf("reserved %d of %d bytes", len(data), size)
		}
	}
	if data, err := allocate(math.MaxInt); err == nil {
		t.Errorf("allocated %d bytes", len(data))
	}
}
