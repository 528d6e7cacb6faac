package sstable

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// TestTimesInParts adds times one by one and in chunks, for numbers of documents whose strides are
// no divisors of a chunk, and gets the same column and the same sample.
func TestTimesInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 45))
	for _, n := range []int{1, docChunk, 3*timeSampled + 5, 7*timeSampled + 9000} {
		times := make([]uint64, n)
		for i := range times {
			times[i] = r.Uint64N(1 << 50)
		}
		var files [2]bytes.Buffer
		var writers [2]*timesWriter
		for i := range writers {
			var f tableFile
			if err := f.init(&files[i], Params{Layout: Layout{Blocks: 2, Lead: 1}}, WriterOptions{}); err != nil {
				t.Fatal(err)
			}
			writers[i] = f.newTimesWriter(n)
		}
		for _, v := range times {
			writers[0].add(v)
		}
		for first := 0; first < n; first += docChunk {
			some := times[first:min(first+docChunk, n)]
			part := keyrun.NewColumnWriter(nil)
			part.AddAll(some)
			if err := writers[1].append(writers[1].sampleOf(first, some, part)); err != nil {
				t.Fatal(err)
			}
		}
		for i, w := range writers {
			w.finish()
			if w.t.out.w.Flush() != nil || w.t.out.err != nil || files[i].Len() == 0 {
				t.Fatalf("%d bytes, %v", files[i].Len(), w.t.out.err)
			}
		}
		if !slices.Equal(writers[0].sample.times, writers[1].sample.times) || !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Fatalf("%d times: %d sampled one by one, %d in chunks", n, len(writers[0].sample.times), len(writers[1].sample.times))
		}
	}
}
