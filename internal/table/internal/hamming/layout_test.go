package hamming

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLayoutPermutationsAreInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for m := 1; m <= maxLayoutBlocks; m++ {
		for c := 0; c <= m; c++ {
			l := Layout{m, c}
			if l.Validate() != nil {
				continue
			}
			total := 0
			for table := range l.Tables() {
				p := l.perms()[table]
				if bits.OnesCount64(p.leadMask) != p.leadBits {
					t.Fatalf("%v table %d: mask %x of %d bits", l, table, p.leadMask, p.leadBits)
				}
				total += p.leadBits
				front := ^uint64(0) << uint(64-p.leadBits)
				if got := l.Permute(table, p.leadMask); got != front {
					t.Fatalf("%v table %d: the lead moves to %016x", l, table, got)
				}
				for range 50 {
					fp := r.Uint64()
					key := l.Permute(table, fp)
					if l.Unpermute(table, key) != fp || bits.OnesCount64(key) != bits.OnesCount64(fp) {
						t.Fatalf("%v table %d: %016x becomes %016x", l, table, fp, key)
					}
					if table == 0 && key != fp {
						t.Fatalf("%v: table 0 is not the identity", l)
					}
				}
			}
			if want := 64 * l.Tables() * c / m; total != want && 64%m == 0 && c > 0 {
				t.Fatalf("%v: leads of %d bits in all, want %d", l, total, want)
			}
		}
	}
}

func TestLayoutLeadsCoverNearKeys(t *testing.T) {
	// The classic guarantee: m-c differing bits leave the lead of some table untouched.
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 11))
		l := testLayouts[r.IntN(len(testLayouts))]
		diff := uint64(0)
		for range l.Blocks - max(l.Lead, 1) {
			diff |= 1 << r.IntN(64)
		}
		if !slices.ContainsFunc(l.perms(), func(p perm) bool { return p.leadMask&diff == 0 }) {
			t.Fatalf("%v: difference %016x touches every lead", l, diff)
		}
	}
}

func TestParseLayout(t *testing.T) {
	for s, want := range map[string]Layout{"4:1": {4, 1}, "4": {4, 1}, "6:3": {6, 3}, "8:2": {8, 2}, "1": {1, 1}, "4x4": {4, 0}, "2x2": {2, 0}} {
		got, err := ParseLayout(s)
		if err != nil || got != want {
			t.Errorf("ParseLayout(%q) = %v, %v", s, got, err)
		}
		if again, err := ParseLayout(got.String()); err != nil || again != want {
			t.Errorf("ParseLayout(%q) = %v, %v", got, again, err)
		}
	}
	for _, s := range []string{"", ":", "4:", "x", "4:x", "0:1", "17:1", "4:5", "4:0", "8:4", "-1", "4:1:1", "4x", "4x3", "x", "1x1", "9x9", "0x0"} {
		if l, err := ParseLayout(s); err == nil {
			t.Errorf("ParseLayout(%q) = %v, no error", s, l)
		}
	}
}

func TestLayoutRadius(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 11))
		l := testLayouts[r.IntN(len(testLayouts))]
		k := r.IntN(21)
		diff := uint64(0)
		for bits.OnesCount64(diff) < k {
			diff |= 1 << r.IntN(64)
		}
		least := 64
		for _, p := range l.perms() {
			least = min(least, bits.OnesCount64(p.leadMask&diff))
		}
		if least > l.radius(k) {
			t.Fatalf("%v: difference %016x has %d bits in every lead, radius(%d) is %d", l, diff, least, k, l.radius(k))
		}
	}
}
