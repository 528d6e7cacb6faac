package sstable_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/simhash"
	"github.com/simdb/simdb/sstable"
)

// randomDocs returns n documents of a table with p, in the order of their numbers. Fingerprints and
// sketches lie near the sketch of an earlier document, some are equal, some are absent.
func randomDocs(r *rand.Rand, p sstable.Params, n int) []sstable.Document {
	docs := make([]sstable.Document, n)
	for i := range docs {
		d := &docs[i]
		*d = sstable.Document{ID: fmt.Sprint("id-", i), Time: time.UnixMicro(1e15 + r.Int64N(1e9)), Seq: uint64(i + 1)}
		near := &docs[r.IntN(i+1)]
		if r.IntN(20) > 0 {
			d.Fingerprint = make([]uint64, p.Bits/64)
			for w := range d.Fingerprint {
				d.Fingerprint[w] = r.Uint64()
			}
			if copy(d.Fingerprint, near.Fingerprint) > 0 {
				for range r.IntN(8) {
					d.Fingerprint[r.IntN(p.Bits/64)] ^= 1 << r.IntN(64)
				}
			}
		}
		if p.StoreText && r.IntN(10) > 0 {
			d.Text, d.Fields = strings.Repeat(fmt.Sprint("text ", i, " "), r.IntN(50)), fmt.Appendf(nil, `{"n":%d}`, i)
		}
		if p.Sketch > 0 && r.IntN(10) > 0 {
			for range 1 + r.IntN(2*p.Sketch) {
				d.Sketch = append(d.Sketch, r.Uint32())
			}
			d.Sketch = append(d.Sketch, near.Sketch...)
			slices.Sort(d.Sketch)
			d.Sketch = slices.Compact(d.Sketch)
			d.Sketch = d.Sketch[:min(len(d.Sketch), p.Sketch)]
		}
	}
	slices.SortStableFunc(docs, func(a, b sstable.Document) int {
		switch {
		case len(a.Fingerprint) == 0 && len(b.Fingerprint) == 0:
			return cmp.Compare(a.ID, b.ID)
		case len(a.Fingerprint) == 0 || len(b.Fingerprint) == 0:
			return cmp.Compare(len(b.Fingerprint), len(a.Fingerprint))
		}
		return cmp.Compare(a.Fingerprint[0], b.Fingerprint[0])
	})
	return docs
}

// write returns the table of docs.
func write(t *testing.T, p sstable.Params, o *sstable.WriterOptions, docs []sstable.Document) ([]byte, sstable.Info) {
	t.Helper()
	var file bytes.Buffer
	w, err := sstable.NewWriter(&file, p, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), info
}

// nearOf returns what Near must return, by comparing all documents.
func nearOf(docs []sstable.Document, fp []uint64, k int) (hits []sstable.Hit) {
	for i, d := range docs {
		if len(d.Fingerprint) == 0 {
			continue
		}
		if n := simhash.DistanceWide(d.Fingerprint, fp); n <= k {
			hits = append(hits, sstable.Hit{Doc: uint32(i), Distance: n})
		}
	}
	slices.SortStableFunc(hits, func(a, b sstable.Hit) int { return cmp.Compare(a.Distance, b.Distance) })
	return hits
}

// jaccardOf returns what Jaccard must return, by comparing all sketches.
func jaccardOf(docs []sstable.Document, n int, q minhash.Sketch, t float64) (hits []sstable.SketchHit) {
	for i, d := range docs {
		s := minhash.Jaccard(q, d.Sketch, n)
		if len(d.Sketch) > 0 && s.Score >= t {
			hits = append(hits, sstable.SketchHit{Doc: uint32(i), Score: s.Score, Error: s.Error, Exact: s.Exact})
		}
	}
	slices.SortStableFunc(hits, func(a, b sstable.SketchHit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

// TestAgainstBruteForce writes tables and compares everything that a Reader returns with the
// documents.
func TestAgainstBruteForce(t *testing.T) {
	for i, p := range []sstable.Params{
		{Bits: 64, Layout: sstable.Layout{Blocks: 4, Lead: 1}, Sketch: 32, MinJaccard: 0.5, StoreText: true},
		{Bits: 64, Layout: sstable.Layout{Blocks: 3, Lead: 1}, Shingle: 3, Tokenizer: 1, Hash: 1, Seed: 7},
		{Bits: 256, Layout: sstable.Layout{Blocks: 2, Lead: 1}, StoreText: true, Shingle: 3, Containment: true, Index: "meta.url,n"},
	} {
		t.Run(fmt.Sprint(p.Bits, " bits, layout ", p.Layout), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			docs := randomDocs(r, p, 3000)
			data, info := write(t, p, &sstable.WriterOptions{BlockSize: 4096, Level: i - 1}, docs)
			path := filepath.Join(t.TempDir(), "t.sst")
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			for _, open := range []func() (*sstable.Reader, error){
				func() (*sstable.Reader, error) { return sstable.Open(path) },
				func() (*sstable.Reader, error) { return sstable.OpenBytes(data, "t.sst") },
				func() (*sstable.Reader, error) {
					return sstable.OpenReaderAt(bytes.NewReader(data), int64(len(data)), "t.sst")
				},
			} {
				table, err := open()
				if err != nil {
					t.Fatal(err)
				}
				if got := table.Info(); !reflect.DeepEqual(got, info) || int(got.Docs) != len(docs) || got.Size != int64(len(data)) {
					t.Errorf("info %+v, want %+v", got, info)
				}
				if got := table.Params(); got != p {
					t.Errorf("parameters %+v, want %+v", got, p)
				}
				checkDocs(t, table, docs)
				checkSearches(t, r, table, docs)
				if err := errors.Join(table.Verify(t.Context(), nil), table.VerifySums(t.Context()), table.Close(), table.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func checkDocs(t *testing.T, table *sstable.Reader, docs []sstable.Document) {
	t.Helper()
	n := 0
	for d, err := range table.Documents() {
		if err != nil || !reflect.DeepEqual(d, docs[n]) {
			t.Fatalf("document %d is %+v, want %+v; %v", n, d, docs[n], err)
		}
		n++
	}
	for i, want := range docs {
		d, err := table.Document(uint32(i))
		id, err2 := table.ID(uint32(i))
		doc, found, err3 := table.Lookup(want.ID)
		if err := errors.Join(err, err2, err3); err != nil || !reflect.DeepEqual(d, want) || id != want.ID || !found || int(doc) != i {
			t.Fatalf("document %d is %+v, want %+v; ID %q; found as %d, %t; %v", i, d, want, id, doc, found, err)
		}
	}
	for d, err := range table.Entries() {
		want := docs[len(docs)-n]
		want.Text, want.Fields, want.Sketch = "", nil, nil
		if err != nil || !reflect.DeepEqual(d, want) {
			t.Fatalf("entry %+v, want %+v; %v", d, want, err)
		}
		n--
	}
	if _, found, err := table.Lookup("nothing"); found || err != nil || n != 0 {
		t.Errorf("an ID that is not there: %t, %v; %d entries are missing", found, err, n)
	}
}

func checkSearches(t *testing.T, r *rand.Rand, table *sstable.Reader, docs []sstable.Document) {
	t.Helper()
	p := table.Params()
	var queries [][]uint64
	for range 40 {
		fp := make([]uint64, p.Bits/64)
		copy(fp, docs[r.IntN(len(docs))].Fingerprint)
		fp[0] ^= 1 << r.IntN(64)
		queries = append(queries, fp)
		for _, k := range []int{0, 3, 10, p.Bits / 3, 2 * p.Bits} {
			if got, err := table.Near(fp, k); err != nil || !slices.Equal(got, nearOf(docs, fp, k)) {
				t.Fatalf("Near(%x, %d) = %v, %v", fp, k, got, err)
			}
		}
	}
	left := make([][]sstable.Hit, len(queries))
	for i, fp := range queries {
		left[i] = nearOf(docs, fp, 8)
	}
	for h, err := range table.NearBatch(t.Context(), queries, 8) {
		at := slices.Index(left[max(h.Query, 0)], h.Hit)
		if err != nil || at < 0 {
			t.Fatalf("NearBatch yields %+v, %v", h, err)
		}
		left[h.Query] = slices.Delete(left[h.Query], at, at+1)
	}
	if missing := slices.Concat(left...); len(missing) > 0 {
		t.Errorf("NearBatch misses %v", missing)
	}
	for range table.NearBatch(t.Context(), queries, 64) { // one may stop
		break
	}
	for range 40 {
		q := docs[r.IntN(len(docs))].Sketch
		hits, err := table.Jaccard(q, 0.3)
		if p.Sketch == 0 {
			if !errors.Is(err, sstable.ErrNoSketches) {
				t.Fatal(err)
			}
		} else if len(q) > 0 && (err != nil || !slices.Equal(hits, jaccardOf(docs, p.Sketch, q, 0.3))) {
			t.Fatalf("Jaccard(%v) = %v, %v", q, hits, err)
		}
	}
}

// TestRefused checks that mistakes of a caller are errors, and that a Writer goes on after them.
func TestRefused(t *testing.T) {
	var file bytes.Buffer
	for _, p := range []sstable.Params{
		{Bits: 63}, {Bits: -64}, {Bits: sstable.MaxBits + 64}, {Sketch: -1}, {Sketch: sstable.MaxSketch + 1}, {Layout: sstable.Layout{Blocks: 99}},
		{MinJaccard: 2}, {Containment: true}, {Index: "lang"},
	} {
		if _, err := sstable.NewWriter(&file, p, nil); err == nil {
			t.Errorf("%+v is no error", p)
		}
	}
	for _, o := range []sstable.WriterOptions{{Level: 2}, {Level: -2}, {BlockSize: -1}} {
		if _, err := sstable.NewWriter(&file, sstable.Params{}, &o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
	w, err := sstable.NewWriter(&file, sstable.Params{Bits: 128, Sketch: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []sstable.Document{
		{}, {ID: strings.Repeat("x", sstable.MaxIDBytes+1)}, {ID: "a", Fingerprint: []uint64{1}}, {ID: "a", Sketch: minhash.Sketch{2, 1}},
		{ID: "a", Sketch: minhash.Sketch{1, 2, 3, 4, 5}},
	} {
		if err := w.Add(d); err == nil {
			t.Errorf("%.100v is no error", d)
		}
	}
	first, second := sstable.Document{ID: "a", Fingerprint: []uint64{1, 2}}, sstable.Document{ID: "a", Fingerprint: []uint64{3, 4}}
	if err := errors.Join(w.Add(first), w.Add(second)); err != nil {
		t.Fatal(err)
	}
	if info, err := w.Close(); err != nil || info.Docs != 1 || w.Add(first) == nil {
		t.Fatalf("%+v, %v", info, err)
	}
	r, err := sstable.OpenBytes(file.Bytes(), "a.sst")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := r.Document(0); err != nil || d.Fingerprint[0] != 3 || d.Time != time.UnixMicro(0) {
		t.Errorf("the last document with an ID is %+v, %v", d, err)
	}
	_, err1 := r.Document(1)
	_, err2 := r.ID(1)
	_, err3 := r.Near([]uint64{1}, 3)
	_, err4 := r.Near([]uint64{1, 2}, -1)
	_, err5 := r.Near(nil, 3)
	_, err6 := r.Jaccard(minhash.Sketch{1}, 0)
	for i, err := range []error{err1, err2, err3, err4, err5, err6} {
		if err == nil || errors.Is(err, sstable.ErrCorruption) {
			t.Errorf("mistake %d of a reader: %v", i+1, err)
		}
	}
	for _, fps := range [][][]uint64{{{1, 2}, {1}}, {nil}} {
		for _, err := range r.NearBatch(t.Context(), fps, 3) {
			if err == nil {
				t.Errorf("a batch of %v is no error", fps)
			}
		}
	}
	if _, err := sstable.OpenBytes([]byte("something else"), "x"); !errors.Is(err, sstable.ErrNotTable) {
		t.Error(err)
	}
}

// TestDescribe checks that a table describes its sections, and copies itself.
func TestDescribe(t *testing.T) {
	r := open()
	var text strings.Builder
	var file bytes.Buffer
	if err := r.Describe(&text); err != nil || !strings.Contains(text.String(), "documents     3") {
		t.Errorf("%v: %s", err, text.String())
	}
	for _, s := range r.Info().Sections {
		if !strings.Contains(text.String(), s.Name) {
			t.Errorf("no section %s in\n%s", s.Name, text.String())
		}
	}
	if n, err := r.WriteTo(&file); err != nil || n != int64(file.Len()) || !bytes.Equal(file.Bytes(), example()) {
		t.Errorf("a copy of %d bytes, %v", n, err)
	}
	for _, s := range []string{"4:1", "3", "4x4"} {
		l, err := sstable.ParseLayout(s)
		if again, err2 := sstable.ParseLayout(l.String()); err != nil || err2 != nil || again != l || l.Tables() < 3 {
			t.Errorf("layout %s is %v, %v", s, l, err)
		}
	}
	if sstable.ChooseLayout(1000).String() != "4:1" || sstable.ChooseLayout(1<<30).Tables() != 3 {
		t.Error("layouts by size")
	}
}
