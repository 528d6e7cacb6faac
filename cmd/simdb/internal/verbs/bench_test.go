package verbs

import (
	"math/bits"
	"testing"
)

// TestBenchFingerprints checks that fingerprints can be made in any order, and that the copies are
// near what they are copies of.
func TestBenchFingerprints(t *testing.T) {
	b := &bench{c: &Bench{N: 1000}, n: 1100}
	rng := splitMix(42)
	for i := range 1000 {
		if got, want := b.fingerprint(i), rng.next(); got != want {
			t.Fatalf("fingerprint %d is %x, not %x", i, got, want)
		}
	}
	distances := 0
	for i := 1000; i < 1100; i++ {
		d := bits.OnesCount64(b.fingerprint(i) ^ b.fingerprint((i-1000)*10))
		if d < 1 || d > 3 {
			t.Fatalf("copy %d is %d bits away", i, d)
		}
		distances |= 1 << d
	}
	if distances != 1<<1|1<<2|1<<3 {
		t.Errorf("not all distances: %b", distances)
	}
}
