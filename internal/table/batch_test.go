package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/write"
	"github.com/simdb/simdb/minhash"
)

// batchOf returns a batch of documents in the given order. The caller must set the record numbers.
func batchOf(p Params, first uint64, docs []Document) *Batch {
	sets := p.NewSetHasher()
	b := &Batch{FirstSeq: first, Strings: &write.Arena{}}
	for i := range docs {
		d := &docs[i]
		b.Fingerprints = append(b.Fingerprints, d.Fingerprint)
		if !d.HasFingerprint {
			for len(b.Bare) <= i/64 {
				b.Bare = append(b.Bare, 0)
			}
			b.Bare[i/64] |= 1 << (i % 64)
		}
		b.IDs = append(b.IDs, b.Strings.Add(d.ID))
		b.Times, b.Expiries = append(b.Times, d.Time), append(b.Expiries, d.Expires)
		if len(d.Sketch) > 0 && b.Codes == nil {
			b.Codes, b.Sketches = &write.Arena{}, make([]uint32, i)
			empty := b.Codes.Add(nil)
			for j := range b.Sketches {
				b.Sketches[j] = empty
			}
		}
		if b.Codes != nil {
			code := []byte(nil)
			if len(d.Sketch) > 0 {
				if p.Odd() {
					odd := oddsketch.Of(sets.Brief(d.Text))
					code = AppendOdd(code, &odd)
				}
				code = minhash.Sketch(d.Sketch).AppendEncoded(code)
			}
			b.Sketches = append(b.Sketches, b.Codes.Add(code))
		}
	}
	return b
}

// addRecordsOf writes the records of documents, a window at a time, each window in the order of
// fingerprints.
func addRecordsOf(t *testing.T, w *BatchWriter, b *Batch, docs []Document, window int) {
	t.Helper()
	b.Records = slices.Repeat([]uint32{NoRecord}, len(docs))
	for from := 0; from < len(docs); from += window {
		var order []int
		for i := from; i < min(from+window, len(docs)); i++ {
			if len(docs[i].Text)+len(docs[i].Fields) > 0 || i%3 == 0 {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return docs[i].Compare(&docs[j]) })
		first, err := w.AddRecords(len(order), window%2*len(order), func(i int) (text, fields []byte) { return docs[order[i]].Text, docs[order[i]].Fields })
		if err != nil {
			t.Fatal(err)
		}
		for j, i := range order {
			b.Records[i] = first + uint32(j)
		}
	}
}

// keptOf returns the documents that remain in a batch, in the order of a table, with their numbers.
func keptOf(first uint64, docs []Document) (kept []Document) {
	last := map[string]int{}
	for i := range docs {
		last[string(docs[i].ID)] = i
	}
	for i, d := range docs {
		if d.Seq = first + uint64(i); last[string(d.ID)] == i {
			kept = append(kept, d)
		}
	}
	return sortedDocs(kept)
}

// TestBatch writes batches of all kinds and reads the tables. They must agree with a model, and the
// bytes must not depend on the number of workers.
func TestBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 7))
	shapes := []func(docs []Document){
		func([]Document) {},
		func(docs []Document) { // equal leading bits
			for i := range docs {
				docs[i].Fingerprint &= 1<<30 - 1
			}
		},
		func(docs []Document) { // few fingerprints
			for i := range docs {
				docs[i].Fingerprint = uint64(r.IntN(3)) << 20
			}
		},
		func(docs []Document) { // repeated IDs
			for i := range docs {
				docs[i].ID = fmt.Appendf(nil, "%d", r.IntN(1+len(docs)/2))
			}
		},
		func(docs []Document) { // one ID
			for i := range docs {
				docs[i].ID = []byte("x")
			}
		},
		func(docs []Document) { // no fingerprints, no texts
			for i := range docs {
				docs[i].HasFingerprint, docs[i].Text, docs[i].Fields = false, nil, nil
			}
		},
		func(docs []Document) { // no sketches
			for i := range docs {
				docs[i].Sketch = nil
			}
		},
	}
	for s, shape := range shapes {
		for _, n := range []int{0, 1, 2, 65, 700, 3000} {
			if n > 700 && s > 1 {
				continue
			}
			docs := testDocs(r, n)
			r.Shuffle(n, func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
			shape(docs)
			for i := range docs {
				if !docs[i].HasFingerprint {
					docs[i].Fingerprint = 0
				}
			}
			first, p := r.Uint64N(1e9), testParams
			p.Layout = []Layout{LayoutBySize, DefaultLayout}[n%2]
			var files [2][]byte
			for i, window := range []int{1 + r.IntN(n+1), n + 1} {
				for _, workers := range []int{1, 3} {
					files[1] = writeBatch(t, p, docs, first, window, workers)
					if workers == 1 {
						files[0] = files[1]
					}
				}
				if !bytes.Equal(files[0], files[1]) {
					t.Fatalf("shape %d, %d documents: other bytes with 3 workers", s, n)
				}
				reader := openTable(t, files[0])
				want := keptOf(first, docs)
				checkReader(t, reader, p.ForTable(int64(reader.NumFingerprints())), want)
				if err := reader.Verify(t.Context(), nil); err != nil {
					t.Fatalf("shape %d, %d documents, window %d: %v", s, n, i, err)
				}
			}
		}
	}
}

// writeBatch returns the table of documents that are added in the given order.
func writeBatch(t *testing.T, p Params, docs []Document, first uint64, window, workers int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewBatchWriter(t.Context(), &out, p, BatchOptions{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	b := batchOf(p, first, docs)
	addRecordsOf(t, w, b, docs, window)
	info, err := w.Write(b)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size != int64(out.Len()) || len(docs) > 0 && int(info.Docs) != len(keptOf(first, docs)) {
		t.Fatalf("%+v; the file has %d bytes", info, out.Len())
	}
	return out.Bytes()
}

// TestBatchLikeWriter compares the size of a table with a table of the same documents by Writer.
func TestBatchLikeWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 7))
	docs := testDocs(r, 5000)
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	got := writeBatch(t, testParams, docs, 1, len(docs), 2)
	kept := keptOf(1, docs)
	want, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs)}, kept)
	if d := len(got) - len(want); d > len(docs)*3 || d < -len(want)/20 {
		t.Errorf("%d bytes, by Writer %d", len(got), len(want))
	}
}

// TestBatchStops cancels a write, and makes writes fail: Write must return the error, and Close
// must not hang.
func TestBatchStops(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 7))
	docs := testDocs(r, 3000)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	w, err := NewBatchWriter(ctx, &out, testParams, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(testParams, 1, docs)
	addRecordsOf(t, w, b, docs, 1000)
	cancel()
	if _, err := w.Write(b); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.Close()
	size := len(writeBatch(t, testParams, docs, 1, 1000, 2))
	for range 20 {
		broken := &brokenWriter{left: r.IntN(size)}
		w, err := NewBatchWriter(t.Context(), broken, testParams, BatchOptions{})
		if err == nil {
			b := batchOf(testParams, 1, docs)
			if _, err = w.AddRecords(len(docs), 0, func(i int) (text, fields []byte) { return docs[i].Text, docs[i].Fields }); err == nil {
				_, err = w.Write(b)
			}
			w.Close()
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("a writer that fails: %v", err)
		}
	}
}

// brokenWriter fails after some bytes.
type brokenWriter struct{ left int }

var errBroken = errors.New("broken")

// Write accepts p until more than left bytes have been written.
func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// TestBatchOfEqualHashes writes IDs with equal hashes, each ID twice: the second document must win.
func TestBatchOfEqualHashes(t *testing.T) {
	var docs []Document
	for range 2 {
		for _, pair := range collidingIDs {
			for _, id := range pair {
				docs = append(docs, Document{ID: []byte(id), HasFingerprint: true, Fingerprint: uint64(len(docs)) * 77})
			}
		}
	}
	r := openTable(t, writeBatch(t, testParams, docs, 1, 5, 1))
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	checkReader(t, r, r.Params(), keptOf(1, docs))
	if int(r.NumDocs()) != len(docs)/2 {
		t.Errorf("%d documents", r.NumDocs())
	}
}
