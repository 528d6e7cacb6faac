//go:build unix

package selfjoin

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
)

var benchN = flag.Int("n", 1000000, "uniform fingerprints of BenchmarkPairs, before 10 % of copies")

// withCopies returns n uniform fingerprints and a copy of every tenth with 1 to 3 bits flipped.
func withCopies(n int) []uint64 {
	r := rand.New(rand.NewPCG(42, 1))
	fps := make([]uint64, 0, n+n/10)
	for range n {
		fps = append(fps, r.Uint64())
	}
	for i := 0; i < n; i += 10 {
		fps = append(fps, flip(r, fps[i], 1+r.IntN(3)))
	}
	return distinct(fps)
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func benchmarkPairs(b *testing.B, fps Columns, k int) {
	before, n := cpuSeconds(), 0
	for b.Loop() {
		n = 0
		err := Pairs(context.Background(), fps, k, Options{}, func(i, j uint32, d int) bool { n++; return true })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuSeconds()-before)/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(n), "pairs")
}

func BenchmarkPairs(b *testing.B) {
	fps := withCopies(*benchN)
	for _, c := range []struct {
		name string
		k    int
	}{{"k=1", 1}, {"k=2", 2}, {"k=3", 3}, {"k=4", 4}, {"k=6", 6}} {
		b.Run(c.name, func(b *testing.B) { benchmarkPairs(b, Columns{fps}, c.k) })
	}
}

// BenchmarkSkewed finds all pairs and star clusters of sets that are far from uniform.
func BenchmarkSkewed(b *testing.B) {
	for _, name := range []string{"one cluster", "clusters", "constant low bits", "constant middle, skewed top", "biased bits"} {
		fps := distinct(shapes[name](rand.New(rand.NewPCG(1, 2)), *benchN/10))
		order := make([]uint32, len(fps))
		for i, f := range rand.New(rand.NewPCG(3, 4)).Perm(len(fps)) {
			order[i] = uint32(f)
		}
		for _, k := range []int{3, 6} {
			b.Run(fmt.Sprintf("pairs/%s/k=%d", name, k), func(b *testing.B) { benchmarkPairs(b, Columns{fps}, k) })
			b.Run(fmt.Sprintf("stars/%s/k=%d", name, k), func(b *testing.B) {
				for b.Loop() {
					if _, err := Stars(context.Background(), Columns{fps}, Documents{Codes: order}, k, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWide finds all pairs of uniform fingerprints, of copies of every tenth with some bits
// flipped, and of a tenth as many fingerprints that share one word.
func BenchmarkWide(b *testing.B) {
	for _, c := range []struct{ words, k int }{{2, 15}, {4, 31}, {16, 100}} {
		r := rand.New(rand.NewPCG(42, 1))
		var made [][]uint64
		for i := range *benchN {
			made = append(made, uniform(r, c.words))
			if i%10 == 0 {
				made = append(made, wideFlip(r, made[len(made)-1], 1+r.IntN(c.k)))
			}
		}
		fps, crowd := columns(c.words, made), slices.Clone(made[:len(made)/10])
		b.Run(fmt.Sprintf("%d/k=%d/uniform", 64*c.words, c.k), func(b *testing.B) { benchmarkPairs(b, fps, c.k) })
		for _, fp := range crowd {
			fp[1] = 5
		}
		fps = columns(c.words, crowd)
		b.Run(fmt.Sprintf("%d/k=%d/one word constant", 64*c.words, c.k), func(b *testing.B) { benchmarkPairs(b, fps, c.k) })
	}
}
