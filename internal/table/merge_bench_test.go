package table

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkMerge merges eight tables of fingerprints with IDs of seven digits, written one after
// the other, as a load does, with one goroutine and with one for each processor.
func BenchmarkMerge(b *testing.B) {
	const n, tables = 200_000, 8
	r := rand.New(rand.NewPCG(7, 8))
	p := Params{Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 128, MinJaccard: 0.65, Layout: DefaultLayout, StoreText: true}
	var inputs []MergeInput
	for i := range tables {
		docs := make([]Document, n)
		for j := range docs {
			seq := i*n + j
			docs[j] = Document{
				ID: fmt.Appendf(nil, "%d", 1_000_000+seq), HasFingerprint: true, Fingerprint: r.Uint64(),
				Seq: uint64(seq), Time: 1_700_000_000_000_000 + int64(seq),
			}
		}
		slices.SortFunc(docs, func(a, b Document) int { return a.Compare(&b) })
		data, _ := buildTable(b, p, WriterOptions{}, docs)
		inputs = append(inputs, MergeInput{Reader: openTable(b, data)})
	}
	for _, workers := range []int{1, 0} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Merge(b.Context(), io.Discard, p, inputs, MergeOptions{Workers: workers}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*tables), "ns/doc")
		})
	}
}
