//go:build unix

package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// The benchmarks of searches by sketch, except for BenchmarkJaccardScan, read texts from files of
// JSON lines, each with a member "text":
//
//	export SIMDB_BENCH_DOCS=docs.jsonl SIMDB_BENCH_QUERIES=q.jsonl
//	go test -run - -bench Jaccard ./internal/table

// benchParams are the parameters with which the project's figures were measured.
var benchParams = Params{
	Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 128, MinJaccard: 0.7, Layout: DefaultLayout,
}

// benchSketches returns fingerprints and sketches of the texts in the file that the environment
// variable names.
func benchSketches(tb testing.TB, variable string) []Document {
	name := os.Getenv(variable)
	if name == "" {
		tb.Skip("no file in " + variable)
	}
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	state := features.NewFingerprinter(features.Params{Shingle: int(benchParams.Shingle), Sketch: int(benchParams.Sketch)})
	var docs []Document
	for in := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var d struct{ ID, Text string }
			if err := json.Unmarshal(line, &d); err != nil {
				tb.Fatal(err)
			}
			r := state.Text(d.Text)
			docs = append(docs, Document{
				ID: []byte(d.ID), HasFingerprint: !r.Empty, Fingerprint: r.Fingerprint, Sketch: r.Sketch.Clone(), Seq: uint64(len(docs)),
			})
		}
		if err == io.EOF {
			return docs
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// benchTable is the table of SIMDB_BENCH_DOCS, in memory.
var benchTable struct {
	sync.Once
	docs []Document
	r    *Reader
}

func openBenchTable(b *testing.B) *Reader {
	t := &benchTable
	t.Do(func() {
		t.docs = sortedDocs(benchSketches(b, "SIMDB_BENCH_DOCS"))
		hot := write.HotHashes(len(t.docs), func(i int) []uint32 { return t.docs[i].Sketch })
		data, _ := buildTable(b, benchParams, WriterOptions{Hot: hot}, t.docs)
		t.r = openTable(b, data)
		runtime.GC()
	})
	if t.r == nil {
		b.Skip("no table")
	}
	return t.r
}

func BenchmarkJaccard(b *testing.B) {
	r := openBenchTable(b)
	queries := benchSketches(b, "SIMDB_BENCH_QUERIES")
	for _, t := range []float64{0.7, 0.8, 0.9, 0.5} {
		b.Run(fmt.Sprint(t), func(b *testing.B) {
			var s JaccardSearcher
			var dst []JaccardHit
			for _, q := range queries[:min(len(queries), 1000)] { // verifies all checksums
				s.Jaccard(r, JaccardQuery{Sketch: q.Sketch, T: t}, nil)
			}
			s.TakeStats()
			hits, i := 0, 0
			start := cpu()
			for b.Loop() {
				var err error
				if dst, err = s.Jaccard(r, JaccardQuery{Sketch: queries[i%len(queries)].Sketch, T: t}, dst[:0]); err != nil {
					b.Fatal(err)
				}
				hits += len(dst)
				i++
			}
			n, work := float64(i), s.TakeStats()
			b.ReportMetric(float64(cpu()-start)/n, "cpu-ns/op")
			b.ReportMetric(float64(work.Postings)/n, "postings/op")
			b.ReportMetric(float64(work.Candidates)/n, "candidates/op")
			b.ReportMetric(float64(work.Scored)/n, "scored/op")
			b.ReportMetric(float64(hits)/n, "hits/op")
			b.ReportMetric(float64(work.Scans)/n, "scans/op")
		})
	}
}

// BenchmarkJaccardScan searches unrelated sketches below the threshold that postings serve, so that
// the bitmaps of all documents are compared. The costs in package sketchidx were measured with it.
//
//	go test -run - -bench JaccardScan ./internal/table
func BenchmarkJaccardScan(b *testing.B) {
	const n = 1 << 17
	docs := unrelatedDocs(n)
	p := testParams
	p.StoreText = false
	data, _ := buildTable(b, p, WriterOptions{}, docs)
	r := openTable(b, data)
	var s JaccardSearcher
	for _, t := range []float64{0.6, 0.5, 0.4, 0.3, 0.2, 0.1} {
		b.Run(fmt.Sprint(t), func(b *testing.B) {
			var dst []JaccardHit
			i := 0
			s.Jaccard(r, JaccardQuery{Sketch: docs[0].Sketch, T: t}, nil) // verifies all checksums
			s.TakeStats()
			start := cpu()
			for b.Loop() {
				var err error
				if dst, err = s.Jaccard(r, JaccardQuery{Sketch: docs[i*7919%n].Sketch, T: t}, dst[:0]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			work := s.TakeStats()
			b.ReportMetric(float64(cpu()-start)/float64(work.Candidates), "cpu-ns/doc")
			b.ReportMetric(float64(work.Scored)/float64(work.Candidates), "scored/doc")
		})
	}
}
