package minhash

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// realSketches returns the sketches of the documents of gzipped JSON lines in the folder SIMDB_DATA names.
func realSketches(b testing.TB, names ...string) (sketches []Sketch) {
	dir := os.Getenv("SIMDB_DATA")
	if dir == "" {
		b.Skip("SIMDB_DATA is not set")
	}
	h, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name+".jsonl.gz"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var doc struct{ Text string }
			if err := json.Unmarshal(lines.Bytes(), &doc); err != nil {
				b.Fatal(err)
			}
			sketches = append(sketches, h.Text(doc.Text).Clone())
		}
		if err := lines.Err(); err != nil {
			b.Fatal(err)
		}
	}
	return sketches
}

// countPairs returns how many pairs have a score of at least t.
func countPairs(sketches []Sketch, bitmaps []Bitmap, n int, t float64, buf []uint32) (pairs int) {
	for i, s := range sketches {
		buf = bitmaps[i].Filter(buf[:0], bitmaps[i+1:], MaxMissing(len(s), t))
		for _, j := range buf {
			if _, ok := JaccardAtLeast(s, sketches[i+1+int(j)], n, t); ok {
				pairs++
			}
		}
	}
	return pairs
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
		want := 0
		for i, a := range sketches {
			for _, b := range sketches[i+1:] {
				if Jaccard(a, b, 128).Score >= threshold {
					want++
				}
			}
		}
		if got := countPairs(sketches, bitmaps, 128, threshold, nil); got != want {
			t.Errorf("%d pairs of at least %v, want %d", got, threshold, want)
		}
	}
}

// BenchmarkComparisons compares all pairs of 2,000 documents at t = 0.5.
func BenchmarkComparisons(b *testing.B) {
	run := func(name string, sketches []Sketch) {
		slices.SortFunc(sketches, slices.Compare[Sketch]) // similar documents are not neighbours in a corpus
		bitmaps := bitmapsOf(sketches)
		buf := make([]uint32, 0, len(sketches))
		b.Run(name, func(b *testing.B) {
			pairs := 0
			for b.Loop() {
				pairs = countPairs(sketches, bitmaps, 128, 0.5, buf)
			}
			n := float64(len(sketches)) * float64(len(sketches)-1) / 2
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
			b.ReportMetric(float64(pairs), "pairs")
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	sketches := make([]Sketch, 2000)
	for i := range sketches {
		sketches[i] = randomSketch(r, 128, 1<<30)
	}
	run("random", sketches)
	if os.Getenv("SIMDB_DATA") != "" {
		run("real", realSketches(b, "npmdocs", "spdx"))
	}
}
