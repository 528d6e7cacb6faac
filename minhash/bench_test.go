package minhash

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
)

// realSketches returns the sketches of the documents in gzipped files of JSON lines, in the folder
// SIMDB_DATA.
func realSketches(b testing.TB, names ...string) (sketches []Sketch) {
	h, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		for _, doc := range corpora.Docs(b, corpora.Real(b, name+".jsonl.gz")) {
			sketches = append(sketches, h.Text(doc.Text).Clone())
		}
	}
	return sketches
}

// countMatches returns how many of the other sketches have a score of at least t with sketch i.
func countMatches(i int, sketches []Sketch, bitmaps []Bitmap, n int, t float64, buf []uint32) (matches int) {
	for _, j := range bitmaps[i].Filter(buf[:0], bitmaps, MaxMissing(len(sketches[i]), t)) {
		if _, ok := JaccardAtLeast(sketches[i], sketches[j], n, t); ok && int(j) != i {
			matches++
		}
	}
	return matches
}

func bitmapsOf(sketches []Sketch) (bitmaps []Bitmap) {
	for _, s := range sketches {
		bitmaps = append(bitmaps, s.Bitmap())
	}
	return bitmaps
}

// TestAllPairs compares all pairs of real documents with and without bitmaps.
func TestAllPairs(t *testing.T) {
	sketches := realSketches(t, "spdx", "licenseclassifier")
	bitmaps := bitmapsOf(sketches)
	for _, threshold := range []float64{0.3, 0.5, 0.8, 1} {
		for i, a := range sketches {
			want := 0
			for j, b := range sketches {
				if i != j && Jaccard(a, b, 128).Score >= threshold {
					want++
				}
			}
			if got := countMatches(i, sketches, bitmaps, 128, threshold, nil); got != want {
				t.Errorf("sketch %d: %d matches of at least %v, want %d", i, got, threshold, want)
			}
		}
	}
}

// BenchmarkComparisons compares every twentieth of 2,000 documents with all documents at t = 0.5:
// only a few, so that an iteration is short.
func BenchmarkComparisons(b *testing.B) {
	run := func(name string, sketches []Sketch) {
		bitmaps := bitmapsOf(sketches)
		buf := make([]uint32, 0, len(sketches))
		b.Run(name, func(b *testing.B) {
			compared, matches := 0, 0
			for b.Loop() {
				compared, matches = 0, 0
				for i := 0; i < len(sketches); i += 20 {
					matches += countMatches(i, sketches, bitmaps, 128, 0.5, buf)
					compared += len(sketches)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(compared), "ns/comparison")
			b.ReportMetric(1e6*float64(matches)/float64(compared), "matches/million")
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	sketches := make([]Sketch, 2000)
	for i := range sketches {
		sketches[i] = randomSketch(r, 128, 1<<30)
	}
	run("random", sketches)
	if os.Getenv("SIMDB_DATA") == "" {
		return
	}
	run("npmdocs+spdx", realSketches(b, "npmdocs", "spdx"))
	run("udhr", realSketches(b, "udhr"))
	run("poems", realSketches(b, "poetry_tang20k")[:2000])
	run("verses", realSketches(b, "bible")[:2000])
}
