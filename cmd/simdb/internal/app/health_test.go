package app

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

// misraGries is what counters do, in as few words as possible.
func misraGries(counts map[base.Fingerprint]int64, fp base.Fingerprint) {
	if _, ok := counts[fp]; ok || len(counts) < candidates {
		counts[fp]++
		return
	}
	for c := range counts {
		if counts[c]--; counts[c] == 0 {
			delete(counts, c)
		}
	}
}

// TestCounters compares the counters with a map, after every fingerprint of streams of many kinds.
func TestCounters(t *testing.T) {
	for name, draw := range map[string]func(r *rand.Rand) base.Fingerprint{
		"uniform":      func(r *rand.Rand) base.Fingerprint { return r.Uint64() },
		"few":          func(r *rand.Rand) base.Fingerprint { return 1 + r.Uint64N(candidates) },
		"one too many": func(r *rand.Rand) base.Fingerprint { return 1 + r.Uint64N(candidates+1) },
		"skewed":       func(r *rand.Rand) base.Fingerprint { return 1 + r.Uint64()>>(r.Uint64N(60)) },
		"high bits":    func(r *rand.Rand) base.Fingerprint { return (1 + r.Uint64N(600)) << 54 },
		"half one":     func(r *rand.Rand) base.Fingerprint { return max(1, r.Uint64()*r.Uint64N(2)) },
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var c counters
		want := map[base.Fingerprint]int64{}
		for i := range 20_000 {
			fp := draw(r)
			c.add(fp)
			misraGries(want, fp)
			if c.used != len(want) {
				t.Fatalf("%s: after %d: %d are counted, want %d", name, i, c.used, len(want))
			}
			if i%97 != 0 {
				continue
			}
			n := 0
			for _, s := range c.slots {
				if s.N == 0 {
					continue
				}
				if n++; want[s.Fingerprint] != s.N || c.slot(s.Fingerprint).N != s.N {
					t.Fatalf("%s: after %d: %x is counted %d times, want %d", name, i, s.Fingerprint, s.N, want[s.Fingerprint])
				}
			}
			if n != len(want) {
				t.Fatalf("%s: after %d: %d are counted, want %d", name, i, n, len(want))
			}
		}
	}
}

// TestPrintsCommon finds what very many documents have.
func TestPrintsCommon(t *testing.T) {
	for _, words := range []int{1, 4} {
		var p Prints
		r := rand.New(rand.NewPCG(3, 4))
		for i := range 50_000 {
			fp := slices.Repeat([]uint64{0xabc}, words)
			switch i % 40 {
			case 0:
				clear(fp)
			case 1, 2:
			case 3:
				fp[words-1] = 0xdef // others differ in their last word, too
			case 4:
				fp = slices.Repeat([]uint64{^uint64(0)}, words)
			default:
				fp[words-1] = r.Uint64()
			}
			p.Add(fp[0], fp[1:]...)
		}
		common, most, next := p.Common(), slices.Repeat([]uint64{0xabc}, words), slices.Repeat([]uint64{0xabc}, words)
		next[words-1] = 0xdef
		if len(common) != 2 || common[0].Fingerprint != PrintKey(most[0], most[1:]...) || common[1].Fingerprint != PrintKey(next[0], next[1:]...) ||
			common[0].N > 2500 || common[0].N < 2300 || p.Zero != 1250 || p.Ones != 1250 || len(p.Warnings()) != 4 {
			t.Errorf("%d words: common are %v, %d zeros, %d ones, %q", words, common, p.Zero, p.Ones, p.Warnings())
		}
	}
}
