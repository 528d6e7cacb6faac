package jaccardjoin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/minhash"
)

// testSketches returns n sketches of up to size hashes, many of which are like others, or equal; a
// few are empty.
func testSketches(rng *rand.Rand, n, size int) [][]uint32 {
	all := make([][]uint32, n)
	for i := range all {
		var s []uint32
		switch rng.IntN(10) {
		case 0:
			continue
		case 1, 2, 3, 4, 5:
			if i > 0 {
				part := rng.Float64() / 4
				s = slices.Clone(all[rng.IntN(i)])
				s = slices.DeleteFunc(s, func(uint32) bool { return rng.Float64() < part })
			}
		default:
			s = append(s, 1<<20, 1<<24)
		}
		for shift := rng.UintN(10); rng.IntN(size/4+2) > 0 && len(s) < 2*size; {
			s = append(s, rng.Uint32()>>shift)
		}
		slices.Sort(s)
		s = slices.Compact(s)
		all[i] = s[:min(len(s), size)]
	}
	return all
}

func sketchesOf(all [][]uint32, size int) Sketches {
	return Sketches{Len: len(all), Size: size, At: func(i int) []uint32 { return all[i] }}
}

// collect returns the pairs in the order of emission.
func collect(t *testing.T, s Sketches, at float64, o Options) (pairs []found) {
	t.Helper()
	err := Pairs(t.Context(), s, at, o, func(i, j uint32, score minhash.Score) bool {
		pairs = append(pairs, found{i, j, score})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

// brute returns all pairs by comparing each with each, ordered by the later one.
func brute(all [][]uint32, size int, at float64) (pairs []found) {
	for j := range all {
		for i := range j {
			if len(all[i]) == 0 || len(all[j]) == 0 {
				continue
			}
			if score := minhash.Jaccard(all[i], all[j], size); score.Score >= at {
				pairs = append(pairs, found{uint32(i), uint32(j), score})
			}
		}
	}
	return pairs
}

func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 50, 1100} {
		for _, size := range []int{1, 4, 16, 128} {
			all := testSketches(rng, n, size)
			s := sketchesOf(all, size)
			for _, at := range []float64{0.05, 0.3, 0.5, 0.65, 0.8, 0.9, 1} {
				got, want := collect(t, s, at, Options{Workers: 2}), brute(all, size, at)
				if !slices.Equal(got, want) {
					t.Fatalf("%d sketches of %d, t = %v: %d pairs, want %d", n, size, at, len(got), len(want))
				}
				small := Options{Workers: 1 + rng.IntN(5), blockPostings: 1 + rng.IntN(3000)}
				blocks := collect(t, s, at, small)
				one := small
				one.Workers = 1
				if !slices.Equal(blocks, collect(t, s, at, one)) {
					t.Fatalf("%d sketches of %d, t = %v: %d workers give another order than one", n, size, at, small.Workers)
				}
				slices.SortStableFunc(blocks, func(a, b found) int { return int(a.j) - int(b.j) })
				if !slices.Equal(blocks, want) {
					t.Fatalf("%d sketches of %d, t = %v, %+v: %d pairs, want %d", n, size, at, small, len(blocks), len(want))
				}
			}
		}
	}
}

func TestStop(t *testing.T) {
	all := testSketches(rand.New(rand.NewPCG(3, 4)), 3000, 16)
	s := sketchesOf(all, 16)
	n := 0
	var last, end int64
	o := Options{Workers: 3, blockPostings: 5000, Progress: func(done, total int64) {
		if done < last || done > total {
			t.Errorf("progress from %d to %d of %d", last, done, total)
		}
		last, end = done, total
	}}
	err := Pairs(t.Context(), s, 0.3, o, func(i, j uint32, score minhash.Score) bool { n++; return n < 1000 })
	if err != nil || n != 1000 {
		t.Errorf("%d pairs after emit said to stop, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last = 0
	err = Pairs(ctx, s, 0.3, o, func(i, j uint32, score minhash.Score) bool { cancel(); return true })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	last = 0
	if collect(t, s, 0.5, o); last == 0 || last != end {
		t.Errorf("progress ended at %d of %d", last, end)
	}
	for _, at := range []float64{0, -1, 1.5} {
		if err := Pairs(t.Context(), s, at, Options{}, nil); err == nil {
			t.Errorf("t = %v: no error", at)
		}
	}
}

// benchSketches returns the sketches of the texts in the file of JSON lines that SIMDB_BENCH_DOCS
// names.
func benchSketches(b *testing.B) [][]uint32 {
	name := os.Getenv("SIMDB_BENCH_DOCS")
	if name == "" {
		b.Skip("no file in SIMDB_BENCH_DOCS")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	state := fingerprint.New(fingerprint.Params{Shingle: 3, Sketch: 128})
	var all [][]uint32
	for line := range bytes.Lines(data) {
		var d struct{ Text string }
		if err := json.Unmarshal(line, &d); err != nil {
			b.Fatal(err)
		}
		all = append(all, state.Text(d.Text).Sketch.Clone())
	}
	return all
}

// BenchmarkPairs joins the documents of SIMDB_BENCH_DOCS:
//
//	SIMDB_BENCH_DOCS=docs.jsonl go test -run - -bench Pairs ./engine/internal/jaccardjoin
func BenchmarkPairs(b *testing.B) {
	all := benchSketches(b)
	for _, t := range []float64{0.9, 0.8, 0.7, 0.5, 0.3} {
		b.Run(fmt.Sprint(t), func(b *testing.B) {
			pairs := 0
			for b.Loop() {
				pairs = 0
				err := Pairs(b.Context(), sketchesOf(all, 128), t, Options{}, func(i, j uint32, score minhash.Score) bool {
					pairs++
					return true
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pairs), "pairs")
		})
	}
}
