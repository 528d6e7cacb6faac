package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/table/internal/hamming"
)

// testParams are the usual parameters of tables in tests.
var testParams = Params{
	Tokenizer: 1, Shingle: 3, Hash: 1, Seed: 42, Sketch: 128, MinJaccard: 0.65, Layout: DefaultLayout, StoreText: true,
}

// testDocs returns n documents in table order. Some have no fingerprint, some share one, and texts
// have all sizes.
func testDocs(rng *rand.Rand, n int) []Document {
	docs := make([]Document, n)
	for i := range docs {
		d := &docs[i]
		d.ID = fmt.Appendf(nil, "doc-%d/%x", i, rng.Uint32()>>rng.UintN(32))
		d.HasFingerprint = rng.IntN(10) > 0
		if d.HasFingerprint {
			d.Fingerprint = rng.Uint64()
			if i > 0 && rng.IntN(4) == 0 {
				d.Fingerprint = docs[rng.IntN(i)].Fingerprint ^ 1<<rng.UintN(64)&-(rng.Uint64()&1)
			}
		}
		if d.Time = rng.Int64N(1<<40) - 1<<30; n%2 == 0 && i%3 == 0 {
			d.Expires = d.Time/2 + 7
		}
		d.Seq = rng.Uint64N(1 << 30)
		if rng.IntN(5) > 0 {
			d.Text = bytes.Repeat(fmt.Appendf(nil, "word%d ", rng.UintN(100)), rng.IntN(1+rng.IntN(200)))
		}
		if rng.IntN(3) == 0 {
			d.Fields = fmt.Appendf(nil, `{"n":%d}`, i)
		}
		if d.HasFingerprint && rng.IntN(8) > 0 {
			d.Sketch = testSketch(rng, docs[:i])
		}
	}
	return sortedDocs(docs)
}

// testSketch returns a sketch. Often it resembles the sketch of an earlier document, and often it
// has a hash that many have.
func testSketch(rng *rand.Rand, earlier []Document) []uint32 {
	var s []uint32
	if len(earlier) > 0 && rng.IntN(2) == 0 {
		s = slices.Clone(earlier[rng.IntN(len(earlier))].Sketch)
		s = slices.DeleteFunc(s, func(uint32) bool { return rng.IntN(20) == 0 })
	} else if s = append(s, 12345); rng.IntN(2) == 0 {
		s = append(s, 1<<31)
	}
	for n, shift := rng.IntN(1+rng.IntN(150)), rng.UintN(12); n > 0; n-- {
		s = append(s, rng.Uint32()>>shift)
	}
	slices.Sort(s)
	s = slices.Compact(s)
	return s[:min(len(s), int(testParams.Sketch))]
}

// hotOf returns the hot hashes of documents: those that more than four have.
func hotOf(docs []Document) (hashes []hot.Hash) {
	counts := map[uint32]uint32{}
	for i := range docs {
		for _, h := range docs[i].Sketch {
			counts[h]++
		}
	}
	for h, n := range counts {
		if n > 4 {
			hashes = append(hashes, hot.Hash{Hash: h, Documents: n})
		}
	}
	slices.SortFunc(hashes, func(a, b hot.Hash) int { return cmp.Compare(a.Hash, b.Hash) })
	return hashes
}

// sortedDocs sorts documents into table order.
func sortedDocs(docs []Document) []Document {
	slices.SortStableFunc(docs, func(a, b Document) int { return a.Compare(&b) })
	return docs
}

func buildTable(t testing.TB, p Params, o WriterOptions, docs []Document) ([]byte, Info) {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, p, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		if err := w.Add(&docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if info.Size != int64(buf.Len()) {
		t.Fatalf("Info.Size is %d, the file has %d bytes", info.Size, buf.Len())
	}
	return buf.Bytes(), info
}

func openTable(t testing.TB, data []byte) *Reader {
	t.Helper()
	r, err := OpenBytes(data, "test.sst")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sameDocument compares documents as tables do.
func sameDocument(a, b *Document) bool {
	return bytes.Equal(a.ID, b.ID) && a.HasFingerprint == b.HasFingerprint && a.Fingerprint == b.Fingerprint &&
		(!a.HasFingerprint || slices.Equal(a.Rest, b.Rest)) &&
		a.Time == b.Time && a.Expires == b.Expires && a.Seq == b.Seq && bytes.Equal(a.Text, b.Text) && bytes.Equal(a.Fields, b.Fields) &&
		slices.Equal(a.Sketch, b.Sketch)
}

func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 100, 127, 128, 129, 511, 512, 513, 1024, 5000} {
		for _, l := range []Layout{{Blocks: 4, Lead: 1}, {Blocks: 2, Lead: 1}, {Blocks: 3, Lead: 1}, {Blocks: 8, Lead: 1}, {Blocks: 5, Lead: 2}, {Blocks: 6, Lead: 3}, {Blocks: 1, Lead: 1}} {
			if n > 1024 && l != DefaultLayout && l != (Layout{Blocks: 5, Lead: 2}) {
				continue
			}
			t.Run(fmt.Sprintf("%d documents, layout %v", n, l), func(t *testing.T) {
				p := testParams
				p.Layout = l
				docs := testDocs(rng, n)
				o := WriterOptions{BlockSize: 1 + rng.IntN(10000), SegmentDocs: 1 + rng.IntN(n+100)}
				if rng.IntN(2) == 0 {
					o.Hot = hotOf(docs)
				}
				data, info := buildTable(t, p, o, docs)
				r := openTable(t, data)
				defer r.Close()
				checkReader(t, r, p, docs)
				if got := r.Info(); fmt.Sprint(got) != fmt.Sprint(info) {
					t.Errorf("Info is %+v, the writer said %+v", got, info)
				}
				checkTableNear(t, r, docs, rng)
			})
		}
	}
}

// checkFingerprintBlocks compares all fingerprints with those of docs.
func checkFingerprintBlocks(t *testing.T, r *Reader, docs []Document) {
	t.Helper()
	next := 0
	err := r.FingerprintBlocks(func(first uint32, fps []uint64) error {
		for i, fp := range fps {
			if int(first)+i != next || !docs[next].HasFingerprint || docs[next].Fingerprint != fp {
				t.Fatalf("fingerprint %d from %d is %x, expected is document %d: %+v", i, first, fp, next, docs[next])
			}
			next++
		}
		return nil
	})
	if err != nil || next != int(r.NumFingerprints()) {
		t.Fatalf("%d fingerprints of %d: %v", next, r.NumFingerprints(), err)
	}
	stop := errors.New("stop")
	if err := r.FingerprintBlocks(func(uint32, []uint64) error { return stop }); err != stop && next > 0 {
		t.Fatalf("%v, want what the function returned", err)
	}
}

// checkReader compares everything that r returns with docs.
func checkReader(t *testing.T, r *Reader, p Params, docs []Document) {
	t.Helper()
	if r.Params() != p || r.NumDocs() != uint32(len(docs)) {
		t.Fatalf("params %v and %d documents, want %v and %d", r.Params(), r.NumDocs(), p, len(docs))
	}
	var got Document
	for i := range docs {
		want := &docs[i]
		if err := r.Document(uint32(i), &got); err != nil || !sameDocument(&got, want) {
			t.Fatalf("document %d is %+v (%v), want %+v", i, got, err, want)
		}
		doc, found, err := r.Lookup(want.ID)
		if doc != uint32(i) || !found || err != nil {
			t.Fatalf("Lookup(%q) = %d, %v, %v, want %d", want.ID, doc, found, err, i)
		}
		id, err1 := r.ID(doc)
		fp, ok, err2 := r.Fingerprint(doc)
		tm, err3 := r.Time(doc)
		seq, err4 := r.Seq(doc)
		sketch, err5 := r.Sketch(doc, []uint32{7})
		expires, err6 := r.Expiry(doc)
		rest, err := r.AppendRest(nil, doc)
		if err != nil {
			t.Fatal(err)
		}
		single := Document{ID: id, HasFingerprint: ok, Fingerprint: fp, Rest: rest, Time: tm, Expires: expires, Seq: seq, Text: want.Text, Fields: want.Fields,
			Sketch: sketch[1:]}
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil || err6 != nil || !sameDocument(&single, want) {
			t.Fatalf("document %d is %+v, want %+v; errors %v %v %v %v %v", i, single, want, err1, err2, err3, err4, err5)
		}
	}
	checkFingerprintBlocks(t, r, docs)
	checkWide(t, r, docs)
	if _, found, err := r.Lookup([]byte("no such document")); found || err != nil {
		t.Errorf("Lookup of a missing ID = %v, %v", found, err)
	}
	for _, texts := range []bool{true, false} {
		it := r.Entries()
		if texts {
			it = r.Iter()
		}
		n := 0
		for ; it.Next(); n++ {
			want := docs[n]
			if !texts {
				want.Text, want.Fields, want.Sketch = nil, nil, nil
			}
			if it.Doc() != uint32(n) || !sameDocument(it.Document(), &want) {
				t.Fatalf("iteration: document %d is %+v, want %+v", it.Doc(), it.Document(), want)
			}
		}
		if it.Err() != nil || n != len(docs) || it.Next() {
			t.Fatalf("iteration ended after %d of %d: %v", n, len(docs), it.Err())
		}
	}
	for _, err := range []error{r.Document(r.NumDocs(), &got), func() error { _, err := r.ID(1<<32 - 1); return err }()} {
		if err == nil {
			t.Error("no error for a document that does not exist")
		}
	}
}

// checkTableNear compares some searches with brute force.
func checkTableNear(t *testing.T, r *Reader, docs []Document, rng *rand.Rand) {
	t.Helper()
	for range 20 {
		q, k := rng.Uint64(), rng.IntN(12)
		if len(docs) > 0 && rng.IntN(4) > 0 {
			q = docs[rng.IntN(len(docs))].Fingerprint ^ 1<<rng.UintN(64)
		}
		if rng.IntN(5) == 0 {
			k = rng.IntN(65)
		}
		hits, err := r.Near(q, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(hits, func(a, b hamming.Hit) int { return int(a.Doc) - int(b.Doc) })
		var want []Hit
		for i, d := range docs {
			if distance := bits.OnesCount64(d.Fingerprint ^ q); d.HasFingerprint && distance <= k {
				want = append(want, hamming.Hit{Doc: uint32(i), Distance: uint16(distance), Fingerprint: d.Fingerprint})
			}
		}
		if !slices.Equal(hits, want) {
			t.Fatalf("Near(%016x, %d) = %v, want %v", q, k, hits, want)
		}
	}
}

// TestConcurrentReaders serves the race detector: many goroutines read blocks for the first time at
// once.
func TestConcurrentReaders(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(37, 38)), 3000)
	data, _ := buildTable(t, testParams, WriterOptions{BlockSize: 1000}, docs)
	r := openTable(t, data)
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(39, g))
			var d Document
			var s NearSearcher
			for range 1000 {
				want := &docs[rng.IntN(len(docs))]
				doc, found, err := r.Lookup(want.ID)
				if err != nil || !found {
					t.Errorf("Lookup(%q) = %v, %v", want.ID, found, err)
					return
				}
				if err := r.Document(doc, &d); err != nil || !sameDocument(&d, want) {
					t.Errorf("document %d is %+v (%v), want %+v", doc, d, err, want)
					return
				}
				if hits, err := s.Near(r, want.Fingerprint, 2, nil); err != nil || want.HasFingerprint && len(hits) == 0 {
					t.Errorf("Near finds %v, %v", hits, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestVerify(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 600, 20000} {
		for _, l := range []Layout{{Blocks: 4, Lead: 1}, {Blocks: 5, Lead: 2}} {
			p := testParams
			p.Layout = l
			p.StoreText = n != 600
			data, _ := buildTable(t, p, WriterOptions{}, testDocs(rng, n))
			r := openTable(t, data)
			var last, total int64
			err := r.Verify(t.Context(), func(d, n int64) {
				if d < last || d > n {
					t.Errorf("progress went from %d to %d of %d", last, d, n)
				}
				last, total = d, n
			})
			if err != nil || last != total {
				t.Errorf("%d documents, layout %v: Verify = %v after %d of %d", n, l, err, last, total)
			}
			var out strings.Builder
			if err := r.Describe(&out); err != nil {
				t.Error(err)
			}
			if n == 20000 || n == 0 {
				t.Log(out.String())
			}
		}
	}
}
