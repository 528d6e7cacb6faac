package setjoin

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestFrequencies compares counts with those of a map, in memory and with a file.
func TestFrequencies(t *testing.T) {
	for _, memory := range []int64{1 << 30, 1 << 10, 0} {
		r := rand.New(rand.NewPCG(7, 8))
		files := 0
		f := NewFrequencies(memory, func() (*os.File, error) {
			files++
			return os.CreateTemp(t.TempDir(), "elements")
		})
		defer f.Close()
		want := map[uint64]int64{}
		for range 300 {
			set := map[uint64]bool{}
			for range r.IntN(60) {
				set[uint64(r.IntN(500))*0x9e3779b97f4a7c15] = true
			}
			var elements []uint64
			for e := range set {
				elements, want[e] = append(elements, e), want[e]+1
			}
			must.Do(t, f.Add(elements))
		}
		last, n := uint64(0), 0
		err := f.Each(func(e uint64, sets int64) error {
			if want[e] != sets || n > 0 && e <= last {
				t.Fatalf("memory %d: %x is in %d sets, want %d; before it %x", memory, e, sets, want[e], last)
			}
			last, n = e, n+1
			return nil
		})
		if err != nil || n != len(want) || (files == 1) != (memory < 1<<30) {
			t.Errorf("memory %d: %d elements, want %d; %d files; %v", memory, n, len(want), files, err)
		}
	}
	f := NewFrequencies(0, func() (*os.File, error) { return os.Open(os.DevNull) })
	defer f.Close()
	if err := f.Add([]uint64{1}); err == nil {
		t.Error("a file that cannot be written: no error")
	}
}
