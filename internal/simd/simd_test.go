package simd

import (
	"slices"
	"testing"
)

func TestChoose(t *testing.T) {
	levels := Available()
	for _, l := range levels {
		if got := choose(l.String()); got != l {
			t.Errorf("choose(%q) = %v", l, got)
		}
	}
	for _, name := range []string{"", "AVX-512", "sse"} {
		if got := choose(name); got != levels[0] {
			t.Errorf("choose(%q) = %v, want the highest, %v", name, got, levels[0])
		}
	}
	for _, l := range []Level{Go, AVX2, AVX512} {
		if got := choose(l.String()); !slices.Contains(levels, got) {
			t.Errorf("choose(%q) = %v, which the machine lacks", l, got)
		}
	}
}

func TestAvailable(t *testing.T) {
	levels := Available()
	if levels[len(levels)-1] != Go || !slices.Contains(levels, Active()) {
		t.Errorf("Available() = %v, Active() = %v", levels, Active())
	}
	if !slices.IsSortedFunc(levels, func(a, b Level) int { return int(b - a) }) {
		t.Errorf("Available() = %v, not the highest first", levels)
	}
}
