package sstable

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
	"github.com/simdb/simdb/sstable/internal/merge"
)

// BenchmarkMerge merges eight tables of fingerprints with IDs of seven digits, written one after
// the other, as a load does, with one goroutine and with as many as there are processors.
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

// BenchmarkMergeTexts merges eight tables of texts of about 1.4 KB with their sketches.
func BenchmarkMergeTexts(b *testing.B) {
	const n, tables = 5_000, 8
	r := rand.New(rand.NewPCG(9, 8))
	words := rand.NewZipf(r, 1.1, 20, 50_000)
	p := Params{Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 128, MinJaccard: 0.65, Layout: DefaultLayout, StoreText: true}
	h, err := minhash.New(minhash.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var inputs []MergeInput
	for i := range tables {
		docs := make([]Document, n)
		for j := range docs {
			d := &docs[j]
			for len(d.Text) < 1400 {
				d.Text = fmt.Appendf(d.Text, "%x ", 7919*words.Uint64())
			}
			d.ID, d.Seq, d.HasFingerprint = fmt.Appendf(nil, "%d", i*n+j), uint64(i*n+j), true
			d.Fingerprint, _ = simhash.Text(string(d.Text), 3)
			d.Sketch = slices.Clone(h.Text(string(d.Text)))
		}
		slices.SortFunc(docs, func(a, b Document) int { return a.Compare(&b) })
		data, _ := buildTable(b, p, WriterOptions{Hot: hotOf(docs)}, docs)
		inputs = append(inputs, MergeInput{Reader: openTable(b, data)})
	}
	var readers []*Reader
	for _, in := range inputs {
		readers = append(readers, in.Reader)
	}
	hot, err := merge.MergedHot(tablesOf(readers))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		o := MergeOptions{Workers: 1}
		o.Hot = hot
		if _, _, err := Merge(b.Context(), io.Discard, p, inputs, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*tables), "ns/doc")
}
