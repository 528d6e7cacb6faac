package compaction

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/simdb/simdb/sstable"
)

var params = sstable.Params{Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 8, MinJaccard: 0.65, Layout: sstable.DefaultLayout, StoreText: true}

// randomDoc returns a document; fingerprints repeat, and some have none.
func randomDoc(r *rand.Rand, id string) sstable.Document {
	d := sstable.Document{
		ID: []byte(id), Time: r.Int64N(1e6), Seq: r.Uint64N(1e6), Text: []byte(fmt.Sprint("text of ", id)), Fields: []byte(`{"a":1}`),
	}
	if d.HasFingerprint = r.IntN(10) > 0; d.HasFingerprint {
		d.Fingerprint = r.Uint64N(50) << 40
		for range r.IntN(8) {
			d.Sketch = append(d.Sketch, r.Uint32())
		}
		slices.Sort(d.Sketch)
		d.Sketch = slices.Compact(d.Sketch)
	}
	return d
}

// makeTable returns a table of n documents, and them in its order.
func makeTable(t *testing.T, r *rand.Rand, name string, n int) (*sstable.Reader, []sstable.Document) {
	t.Helper()
	var docs []sstable.Document
	for i := range n {
		docs = append(docs, randomDoc(r, fmt.Sprintf("%s-%d", name, i)))
	}
	slices.SortStableFunc(docs, func(a, b sstable.Document) int { return a.Compare(&b) })
	return open(t, name, func(w *sstable.Writer) error {
		for i := range docs {
			if err := w.Add(&docs[i]); err != nil {
				return err
			}
		}
		return nil
	}), docs
}

func open(t *testing.T, name string, fill func(*sstable.Writer) error) *sstable.Reader {
	t.Helper()
	var buf bytes.Buffer
	w, err := sstable.NewWriter(&buf, params, sstable.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(w); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := sstable.OpenBytes(buf.Bytes(), name)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// TestMerge merges random tables, some of whose documents are dropped, and looks every document up
// under its new number.
func TestMerge(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 1))
	for round := range 40 {
		var inputs []Input
		var docs [][]sstable.Document
		var dropped []map[uint32]bool
		for i := range r.IntN(5) {
			table, d := makeTable(t, r, fmt.Sprintf("t%d", i), r.IntN(300))
			drop := map[uint32]bool{}
			for doc := range table.NumDocs() {
				if r.IntN(4) == 0 {
					drop[doc] = true
				}
			}
			in := Input{Reader: table}
			if len(drop) > 0 {
				in.Keep = func(doc uint32) (bool, error) { return !drop[doc], nil }
			}
			if i == 1 {
				in.Seq = func(uint64) uint64 { return 77 }
			}
			inputs, docs, dropped = append(inputs, in), append(docs, d), append(dropped, drop)
		}
		var renumber [][]uint32
		merged := open(t, "merged", func(w *sstable.Writer) (err error) {
			renumber, err = Merge(ctx, w, inputs, nil)
			return err
		})
		if err := merged.Verify(ctx, nil); err != nil {
			t.Fatal(err)
		}
		kept := uint32(0)
		for i := range inputs {
			for doc, want := range docs[i] {
				at := renumber[i][doc]
				if dropped[i][uint32(doc)] != (at == Dropped) {
					t.Fatalf("round %d: document %d of input %d: new number %d", round, doc, i, at)
				}
				if at == Dropped {
					continue
				}
				kept++
				if i == 1 {
					want.Seq = 77
				}
				checkDoc(t, merged, at, want)
			}
		}
		if merged.NumDocs() != kept {
			t.Fatalf("round %d: %d documents, want %d", round, merged.NumDocs(), kept)
		}
	}
}

func checkDoc(t *testing.T, r *sstable.Reader, at uint32, want sstable.Document) {
	t.Helper()
	var got sstable.Document
	if err := r.Document(at, &got); err != nil {
		t.Fatal(err)
	}
	sketch, err := r.Sketch(at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !want.HasFingerprint {
		want.Fingerprint, got.Fingerprint = 0, 0
	}
	if string(got.ID) != string(want.ID) || got.Fingerprint != want.Fingerprint || got.HasFingerprint != want.HasFingerprint ||
		got.Time != want.Time || got.Seq != want.Seq || string(got.Text) != string(want.Text) || string(got.Fields) != string(want.Fields) ||
		!slices.Equal(sketch, want.Sketch) {
		t.Fatalf("document %d is %+v, want %+v", at, got, want)
	}
}

// TestMergeStops ends merges early: by the context, and by an error of Keep.
func TestMergeStops(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	table, _ := makeTable(t, r, "t", 100)
	w, err := sstable.NewWriter(&bytes.Buffer{}, params, sstable.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Merge(ctx, w, []Input{{Reader: table}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("broken")
	in := Input{Reader: table, Keep: func(uint32) (bool, error) { return false, broken }}
	if _, err := Merge(context.Background(), w, []Input{in}, nil); !errors.Is(err, broken) {
		t.Errorf("broken: %v", err)
	}
}

// A merge into several tables has the documents of a merge into one, in the same order.
func TestMergeIntoSeveral(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 1))
	for round, most := range []uint32{1, 7, 100, 1000} {
		var inputs []Input
		for i := range 3 {
			table, _ := makeTable(t, r, fmt.Sprintf("t%d", i), 100+r.IntN(100))
			inputs = append(inputs, Input{Reader: table, Keep: func(doc uint32) (bool, error) { return doc%5 != 0, nil }})
		}
		var want [][]uint32
		one := open(t, "one", func(w *sstable.Writer) (err error) {
			want, err = Merge(ctx, w, inputs, nil)
			return err
		})
		m, err := NewMerger(ctx, inputs, nil)
		if err != nil {
			t.Fatal(err)
		}
		next := uint32(0)
		for m.More() {
			part := open(t, "part", func(w *sstable.Writer) error { return m.Fill(w, most) })
			if n := part.NumDocs(); n != min(most, one.NumDocs()-next) {
				t.Fatalf("round %d: a table of %d documents from number %d on", round, n, next)
			}
			for doc := range part.NumDocs() {
				var d sstable.Document
				if err := one.Document(next+doc, &d); err != nil {
					t.Fatal(err)
				}
				checkDoc(t, part, doc, d)
			}
			next += part.NumDocs()
		}
		if next != one.NumDocs() || !reflect.DeepEqual(m.Renumber(), want) {
			t.Errorf("round %d: %d documents of %d, or other numbers", round, next, one.NumDocs())
		}
	}
}

// TestMergeOrderOfEqualKeys merges tables whose documents have one fingerprint, or none: those of
// the first input come first.
func TestMergeOrderOfEqualKeys(t *testing.T) {
	for _, has := range []bool{true, false} {
		var inputs []Input
		for i := range 4 {
			r := open(t, fmt.Sprint(i), func(w *sstable.Writer) error {
				return w.Add(&sstable.Document{ID: fmt.Appendf(nil, "%d", 9-i), Fingerprint: 7, HasFingerprint: has, Text: []byte("x")})
			})
			inputs = append(inputs, Input{Reader: r})
		}
		var numbers [][]uint32
		open(t, "merged", func(w *sstable.Writer) (err error) {
			numbers, err = Merge(context.Background(), w, inputs, nil)
			return err
		})
		for i, n := range numbers {
			if n[0] != uint32(i) {
				t.Errorf("fingerprint %t: the document of input %d is number %d", has, i, n[0])
			}
		}
	}
}
