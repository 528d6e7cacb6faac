package keyrun

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// informationBound returns log2(C(2^64, n)) / n: the fewest bits per key that any code needs for n
// uniform keys.
func informationBound(n int) float64 {
	// C(2^64, n) is 2^(64 n) / n! except for a factor that is below 1e-5 bits a key here.
	lg, _ := math.Lgamma(float64(n) + 1)
	return 64 - lg/math.Ln2/float64(n)
}

func uniformKeys(n int) []uint64 {
	r := rand.New(rand.NewPCG(42, 42))
	keys := keytest.Fill(n, func(int) uint64 { return r.Uint64() })
	slices.Sort(keys)
	return keys
}

// TestKeyRunSize bounds the size of a run of a million uniform keys.
func TestKeyRunSize(t *testing.T) {
	const n = 1_000_000
	r := mustOpenRun(t, uniformKeys(n))
	s := r.Stats()
	sums := 8 * float64(sumsSize*s.Blocks) / n // the overhead for verifying parts of blocks
	if over := (s.BitsPerValue() - sums) / informationBound(n); over > 1.024 || sums > 0.251 {
		t.Errorf("%.2f bits a key, %.2f %% over the bound, and %.2f of parts", s.BitsPerValue()-sums, 100*(over-1), sums)
	}
	if s.Low+s.High+s.Directory+s.Checksums != s.Bytes || s.Values != n || s.Paired != 0 {
		t.Errorf("the parts do not add up: %+v", s)
	}
	// Repeated keys must not cost more than distinct ones.
	for _, shape := range keytest.Shapes {
		keys := shape.Make(keytest.Rand(shape.Name, n), n)
		slices.Sort(keys)
		if bits := mustOpenRun(t, keys).Stats().BitsPerValue(); bits > s.BitsPerValue()+0.1 {
			t.Errorf("%s: %.2f bits a key, uniform ones %.2f", shape.Name, bits, s.BitsPerValue())
		}
	}
}
