package write

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// TestTimesInParts adds times one by one and in chunks, for numbers of documents whose strides do
// not divide a chunk; the column and the sample must be the same.
func TestTimesInParts(t *testing.T) {
	const chunk = 1 << 13
	r := rand.New(rand.NewPCG(16, 45))
	for _, n := range []int{1, chunk, 3*format.TimeSampled + 5, 7*format.TimeSampled + 9000} {
		times := make([]uint64, n)
		for i := range times {
			times[i] = r.Uint64N(1 << 50)
		}
		var files [2]bytes.Buffer
		var writers [2]*timesWriter
		for i := range writers {
			var f File
			if err := f.Init(&files[i], format.Params{Layout: hamming.Layout{Blocks: 2, Lead: 1}}, WriterOptions{}); err != nil {
				t.Fatal(err)
			}
			writers[i] = f.NewTimesWriter(n, 0)
		}
		for _, v := range times {
			writers[0].add(v)
		}
		for first := 0; first < n; first += chunk {
			some := times[first:min(first+chunk, n)]
			part := keyrun.NewColumnWriter(nil)
			part.AddAll(some)
			if err := writers[1].Append(writers[1].SampleOf(first, some, part)); err != nil {
				t.Fatal(err)
			}
		}
		for i, w := range writers {
			w.Finish()
			if w.t.Out.w.Flush() != nil || w.t.Out.Err != nil || files[i].Len() == 0 {
				t.Fatalf("%d bytes, %v", files[i].Len(), w.t.Out.Err)
			}
		}
		if !slices.Equal(writers[0].Sample.Times, writers[1].Sample.Times) || !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Fatalf("%d times: %d sampled one by one, %d in chunks", n, len(writers[0].Sample.Times), len(writers[1].Sample.Times))
		}
	}
}
