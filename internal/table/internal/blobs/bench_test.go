package blobs

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchNames returns n names of each of the kinds for which lists are optimized.
func benchNames(n int) map[string][][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := map[string][][]byte{}
	for i, number := range rng.Perm(n) {
		kinds["equal"] = append(kinds["equal"], fmt.Appendf(nil, "%07d", number))
		kinds["digits"] = append(kinds["digits"], fmt.Append(nil, number))
		url := fmt.Appendf(nil, "https://example.org/%d/", i)
		for want := 30 + rng.IntN(91); len(url) < want; {
			url = append(url, 'a'+byte(rng.IntN(26)))
		}
		kinds["urls"] = append(kinds["urls"], url)
	}
	return kinds
}

func writeList(k *Kind, list [][]byte) (dir, area Bytes) {
	w := NewListWriter(k)
	for _, b := range list {
		if w.Add(b) {
			area.Data = append(area.Data, w.Flush(int64(len(area.Data)))...)
		}
	}
	w.EndBlock()
	area.Data = append(area.Data, w.Flush(int64(len(area.Data)))...)
	return Bytes{Data: w.Directory()}, area
}

// BenchmarkRecords compares the two ways to merge a block: copying it and adding its records again.
func BenchmarkRecords(b *testing.B) {
	rng := rand.New(rand.NewPCG(17, 18))
	words := make([]string, 2000)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", rng.Uint32N(1<<(4+rng.IntN(28))))
	}
	f := newRecordsFile(DefaultBlockSize)
	const n = 4000
	for range n {
		var text []byte
		for len(text) < 1400 {
			text = append(text, words[rng.IntN(len(words))]...)
		}
		f.add(record{text: text})
	}
	d := f.open(b)
	b.Run("copy", func(b *testing.B) {
		for b.Loop() {
			w := NewRecordsWriter(LevelDefault, DefaultBlockSize)
			for i := range d.NumBlocks() {
				if _, err := w.AddBlock(d, i); err != nil {
					b.Fatal(err)
				}
				w.Flush(0)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/record")
	})
	b.Run("recode", func(b *testing.B) {
		var blk Block
		for b.Loop() {
			w := NewRecordsWriter(LevelDefault, DefaultBlockSize)
			for i := range d.NumBlocks() {
				if err := d.Decode(i, &blk); err != nil {
					b.Fatal(err)
				}
				for range blk.Count() {
					text, fields, err := blk.Next()
					if err != nil {
						b.Fatal(err)
					}
					if w.Add(text, fields) {
						w.Flush(0)
					}
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/record")
	})
}
