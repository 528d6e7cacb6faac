package simhash

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// splitMix is output j of SplitMix64 seeded with h.
func splitMix(h uint64, j int) uint64 {
	z := h + uint64(j)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// plain is SimHash by definition: signed sums of weights.
func plain(words int, hashes []uint64, weights []int32) []uint64 {
	fp := make([]uint64, words)
	for i := range 64 * words {
		sum := int64(0)
		for f, h := range hashes {
			if i >= 64 {
				h = splitMix(h, i/64)
			}
			if h>>(i%64)&1 == 1 {
				sum += int64(weights[f])
			} else {
				sum -= int64(weights[f])
			}
		}
		if sum > 0 || sum == 0 && i%2 == 1 {
			fp[i/64] |= 1 << (i % 64)
		}
	}
	return fp
}

func TestSumAgainstPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, words := r.IntN(1<<r.IntN(10)), 1+r.IntN(1<<r.IntN(7))
		hashes, weights, same := make([]uint64, n), make([]int32, n), make([]int32, n)
		for i := range hashes {
			hashes[i], same[i] = r.Uint64(), 1
			weights[i] = int32(r.Uint32()) >> r.IntN(32)
		}
		got := make([]uint64, words)
		if Sum(got, hashes); !slices.Equal(got, plain(words, hashes, same)) {
			t.Fatalf("Sum of %d hashes, %d words", n, words)
		}
		if got[0] != Sum64(hashes) {
			t.Fatalf("Sum64 of %d hashes", n)
		}
		if SumWeighted(got, hashes, weights); !slices.Equal(got, plain(words, hashes, weights)) {
			t.Fatalf("SumWeighted of %d hashes, %d words", n, words)
		}
		if got[0] != SumWeighted64(hashes, weights) {
			t.Fatalf("SumWeighted64 of %d hashes", n)
		}
	}
}

func TestTies(t *testing.T) {
	if got, want := Sum64([]uint64{0, math.MaxUint64}), uint64(0xaaaaaaaaaaaaaaaa); got != want {
		t.Errorf("a tie in all bits gives %x, want %x", got, want)
	}
	if got := Sum64(nil); got != 0xaaaaaaaaaaaaaaaa {
		t.Errorf("no hashes give %x", got)
	}
}

func TestMajority(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		n := r.Uint64N(1 << (1 + r.IntN(32)))
		var counts [64]uint32
		for i := range counts {
			counts[i] = uint32(min(n, n/2+r.Uint64N(3)))
			if r.IntN(2) == 0 {
				counts[i] = uint32(r.Uint64N(n + 1))
			}
		}
		if got, want := majority(&counts, n), majorityLarge(&counts, n); got != want {
			t.Fatalf("majority(%v, %d) = %x, want %x", counts, n, got, want)
		}
	}
}

func TestTextIsASet(t *testing.T) {
	a, _ := Text("one two three", 3)
	b, _ := Text(strings.Repeat("one two three ", 1)+"\n", 3)
	c, _ := Text("one two one two one two one two", 2)
	d, _ := Text("one two one", 2)
	if a != b || c != d {
		t.Errorf("%x %x, %x %x", a, b, c, d)
	}
	if _, ok := Text(" \t\n", 3); ok {
		t.Error("white space has a fingerprint")
	}
}

func TestHasher(t *testing.T) {
	text := strings.Repeat("Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse ", 3)
	for _, o := range []Options{{}, {Bits: 1024, Shingle: 2, Seed: 5}, {CharGrams: true, Shingle: 4}, {RequireWords: []string{"me", "in"}}} {
		h, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		wide, read := make([]uint64, max(1, o.Bits/64)), make([]uint64, max(1, o.Bits/64))
		ok := h.Wide(wide, text)
		rok, err := h.Read(read, strings.NewReader(text))
		if !ok || !rok || err != nil || !slices.Equal(wide, read) {
			t.Errorf("%+v: %x %v, %x %v %v", o, wide, ok, read, rok, err)
		}
		if fp, _ := h.Text(text); fp != wide[0] {
			t.Errorf("%+v: Text %x, Wide %x", o, fp, wide)
		}
		if _, ok := h.Text("..."); ok != (o.RequireWords == nil) {
			t.Errorf("%+v: a text without words has, or has not, a fingerprint", o)
		}
	}
	for _, o := range []Options{{Bits: 65}, {Bits: 8192}, {Shingle: -1}, {CharGrams: true, RequireWords: []string{}}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(%+v) succeeds", o)
		}
	}
}

func TestFeatures(t *testing.T) {
	h, err := New(Options{Features: func(text string, add func([]byte, int32)) {
		for _, w := range strings.Fields(text) {
			add([]byte(w), int32(len(w)))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	a, ok := h.Text("to be or not to be")
	b, _ := h.Text("be be to to not or")
	c, _ := h.Text("to be or not")
	if !ok || a != b || a == c {
		t.Errorf("%x %x %x %v", a, b, c, ok)
	}
	if _, ok := h.Text(""); ok {
		t.Error("no features have a fingerprint")
	}
}

// TestDistanceFollowsAngle simulates pairs of random sets and compares distances with Charikar's
// theorem.
func TestDistanceFollowsAngle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const size, trials, bits = 200, 400, 1024
	for _, common := range []int{20, 100, 150, 190} {
		cosine := float64(common) / size
		var distances []float64
		for range trials {
			a := make([]uint64, 2*size-common)
			for i := range a {
				a[i] = r.Uint64()
			}
			var x, y [bits / 64]uint64
			Sum(x[:], a[:size])
			Sum(y[:], a[size-common:])
			distances = append(distances, float64(DistanceWide(x[:], y[:])))
		}
		p := math.Acos(cosine) / math.Pi
		mean, dev := meanDev(distances)
		sigma := math.Sqrt(bits * p * (1 - p))
		// Sets of 200 votes have not quite reached the limit for many votes: allow 1 % more than
		// the error of the mean.
		if math.Abs(mean-bits*p) > 4*sigma/math.Sqrt(trials)+0.01*bits*p || dev > 1.15*sigma {
			t.Errorf("cosine %.2f: distance %.1f +- %.1f, theory %.1f +- %.1f", cosine, mean, dev, bits*p, sigma)
		}
		got, stderr := Cosine(int(mean+0.5), bits)
		if math.Abs(got-cosine) > stderr {
			t.Errorf("Cosine(%.0f) = %.3f +- %.3f, want %.3f", mean, got, stderr, cosine)
		}
		t.Logf("cosine %.2f: distance %.1f +- %.1f, theory %.1f +- %.1f", cosine, mean, dev, bits*p, sigma)
	}
}

func meanDev(x []float64) (mean, dev float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		dev += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(dev)
}

func TestDistance(t *testing.T) {
	if d := Distance(0xff, 0x0f); d != 4 {
		t.Errorf("Distance = %d", d)
	}
	if f := FractionEqual(0xff, 0x0f); f != 1-4.0/64 {
		t.Errorf("FractionEqual = %v", f)
	}
	if c, e := Cosine(0, 64); c != 1 || e <= 0 {
		t.Errorf("Cosine(0) = %v, %v", c, e)
	}
}

// TestTextIsHasher compares Text, which shares Hashers between calls, with a new Hasher for each
// call.
func TestTextIsHasher(t *testing.T) {
	words := strings.Fields("the quick brown fox jumps over a lazy dog and goes home again to sleep until it rains")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(3, uint64(g)))
			for range 300 {
				var text []string
				for range r.IntN(60) {
					text = append(text, words[r.IntN(len(words))])
				}
				in, k := strings.Join(text, " "), r.IntN(12)
				h, err := New(Options{Shingle: max(k, 1)})
				if err != nil {
					t.Error(err)
					return
				}
				want, wantOK := h.Text(in)
				if got, ok := Text(in, k); got != want || ok != wantOK {
					t.Errorf("Text(%q, %d) = %016x, %v; a Hasher says %016x, %v", in, k, got, ok, want, wantOK)
				}
			}
		})
	}
	wg.Wait()
	if _, ok := Text("a b c", math.MaxInt); ok {
		t.Error("a shingle of MaxInt words was taken")
	}
}

// BenchmarkText hashes a document of 1.8 kB, with Text and with a Hasher.
func BenchmarkText(b *testing.B) {
	text := strings.Repeat("many a word that is not the same 0 ", 10)
	for i := range 40 {
		text += fmt.Sprintf("and %d words which differ in %d places ", i*i, i)
	}
	h, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(){"Text": func() { Text(text, 3) }, "Hasher": func() { h.Text(text) }} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkSum(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, 10000)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	for _, c := range []struct {
		name     string
		n, words int
	}{{"64bits/n=100", 100, 1}, {"64bits/n=10000", 10000, 1}, {"1024bits/n=100", 100, 16}, {"1024bits/n=10000", 10000, 16}} {
		b.Run(c.name, func(b *testing.B) {
			dst := make([]uint64, c.words)
			for b.Loop() {
				if c.words == 1 {
					dst[0] = Sum64(hashes[:c.n])
				} else {
					Sum(dst, hashes[:c.n])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.n), "ns/element")
		})
	}
}

func TestBadLengthsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"no words":     func() { Sum(nil, nil) },
		"few weights":  func() { SumWeighted64(make([]uint64, 2), make([]int32, 1)) },
		"many weights": func() { SumWeighted64(nil, make([]int32, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
