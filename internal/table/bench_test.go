//go:build unix

package table

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// benchDocs returns n documents in table order with random fingerprints and texts of about words
// words.
func benchDocs(n, words int) []Document {
	rng := rand.New(rand.NewPCG(31, 32))
	vocabulary := make([]string, 5000)
	for i := range vocabulary {
		b := make([]byte, 2+rng.IntN(9))
		for j := range b {
			b[j] = byte('a' + min(rng.IntN(26), rng.IntN(26)))
		}
		vocabulary[i] = string(b)
	}
	docs := make([]Document, n)
	for i := range docs {
		d := &docs[i]
		*d = Document{ID: fmt.Appendf(nil, "document/%08x", uint32(i)*2654435769), HasFingerprint: true, Fingerprint: rng.Uint64(),
			Time: 1_700_000_000_000_000 + int64(i)*1000, Seq: uint64(i)}
		for range words {
			d.Text = append(append(d.Text, vocabulary[min(rng.IntN(5000), rng.IntN(5000), rng.IntN(5000))]...), ' ')
		}
	}
	slices.SortFunc(docs, func(a, b Document) int { return a.Compare(&b) })
	return docs
}

// cpu returns the processor time that the process has used. A busy machine disturbs it less than
// elapsed time.
func cpu() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return syscall.TimevalToNsec(u.Utime) + syscall.TimevalToNsec(u.Stime)
}

// textTable returns a table of 20,000 documents of about 2 KB.
var textTable = sync.OnceValues(func() ([]byte, []Document) {
	docs := benchDocs(20000, 300)
	var buf bytes.Buffer
	w, _ := NewWriter(&buf, testParams, WriterOptions{})
	for i := range docs {
		w.Add(&docs[i])
	}
	w.Close()
	return buf.Bytes(), docs
})

// idTable returns a table of a million documents without text.
var idTable = sync.OnceValues(func() ([]byte, []Document) {
	docs := benchDocs(1_000_000, 0)
	var buf bytes.Buffer
	w, _ := NewWriter(&buf, testParams, WriterOptions{})
	for i := range docs {
		w.Add(&docs[i])
	}
	w.Close()
	return buf.Bytes(), docs
})

func BenchmarkWriter(b *testing.B) {
	run := func(b *testing.B, docs []Document, o WriterOptions) {
		size := 0
		for i := range docs {
			size += len(docs[i].Text)
		}
		b.SetBytes(int64(size))
		var info Info
		start := cpu()
		for b.Loop() {
			w, err := NewWriter(io.Discard, testParams, o)
			for i := 0; err == nil && i < len(docs); i++ {
				err = w.Add(&docs[i])
			}
			if err != nil {
				b.Fatal(err)
			}
			if info, err = w.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(cpu()-start)/float64(b.N)/float64(len(docs)), "cpu-ns/doc")
		b.ReportMetric(float64(info.Size)/float64(len(docs)), "bytes/doc")
	}
	_, texts := textTable()
	for _, level := range []Level{LevelFastest, LevelDefault, LevelBetter} {
		b.Run(fmt.Sprintf("text/level=%d", level), func(b *testing.B) { run(b, texts, WriterOptions{Level: level}) })
	}
	_, ids := idTable()
	b.Run("no-text", func(b *testing.B) { run(b, ids, WriterOptions{}) })
}

// each benchmarks op on 65,536 pseudo-random documents of r.
func each(b *testing.B, name string, r *Reader, op func(doc uint32) error) {
	rng := rand.New(rand.NewPCG(35, 36))
	order := make([]uint32, 1<<16)
	for i := range order {
		order[i] = rng.Uint32N(r.NumDocs())
		if err := op(order[i]); err != nil {
			b.Fatal(err)
		}
	}
	b.Run(name, func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if err := op(order[i%len(order)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	data, _ := textTable()
	texts := openTable(b, data)
	data, _ = idTable()
	r := openTable(b, data)
	var d Document
	each(b, "Document/random", texts, func(doc uint32) error { return texts.Document(doc, &d) })
	each(b, "Document/same-block", texts, func(uint32) error { return texts.Document(1000, &d) })
	each(b, "ID", r, func(doc uint32) error { _, err := r.ID(doc); return err })
	each(b, "ID/same", r, func(uint32) error { _, err := r.ID(7); return err })
	each(b, "Fingerprint", r, func(doc uint32) error { _, _, err := r.Fingerprint(doc); return err })
	for name, start := range map[string]func() *Iter{"Iter": texts.Iter, "Entries": r.Entries} {
		b.Run(name, func(b *testing.B) {
			it := start()
			for b.Loop() {
				if !it.Next() {
					it = start()
				}
			}
		})
	}
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			if _, err := OpenBytes(data, "bench.sst"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Verify", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := r.Verify(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
