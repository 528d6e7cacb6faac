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
	f := newRecordsFile(0)
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
			w := NewRecordsWriter(LevelDefault, 0)
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
			w := NewRecordsWriter(LevelDefault, 0)
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

// BenchmarkBlockSize reads a record of a block that is not cached, for several sizes of blocks, and
// reports the bytes that a record needs: of 60 bytes, and of texts of 200 bytes and 1.4 KB.
func BenchmarkBlockSize(b *testing.B) {
	rng := rand.New(rand.NewPCG(19, 20))
	words := make([]string, 2000)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", rng.Uint32N(1<<(4+rng.IntN(28))))
	}
	cities := []string{"Aarhus", "Bergen", "Cadiz", "Dakar", "Erfurt"}
	for _, kind := range []int{60, 200, 1400} {
		var records [][]byte
		for i := range 4 << 20 / kind {
			r := fmt.Appendf(nil, `{"name":"user %d","city":"%s","visits":%d}`, i*7919%300_000, cities[rng.IntN(len(cities))], rng.IntN(1_000_000))
			for len(r) < kind-4 {
				r = append(r, words[rng.IntN(len(words))]...)
			}
			records = append(records, r)
		}
		for _, size := range []int{0, 4 << 10, 8 << 10, 16 << 10, 24 << 10} {
			b.Run(fmt.Sprintf("%d bytes/%d", kind, size), func(b *testing.B) {
				f := &recordsFile{RecordsWriter: NewRecordsWriter(LevelDefault, size)}
				for _, r := range records {
					f.add(record{fields: r})
				}
				d := f.open(b)
				for b.Loop() {
					if _, _, err := d.Get(rng.Uint32N(d.Len())); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(f.area)-3*d.NumBlocks()+len(f.Directory()))/float64(d.Len()), "bytes/record")
			})
		}
	}
}
