package table

import (
	"bytes"
	"fmt"
	"testing"
)

// TestMergeHot merges tables with sketches: the result must have the hashes that are hot in all
// inputs together.
func TestMergeHot(t *testing.T) {
	params := Params{Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 8, MinJaccard: 0.65, StoreText: true}
	var inputs []MergeInput
	for i := range 3 {
		var buf bytes.Buffer
		w, err := NewWriter(&buf, params, WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range 100 {
			d := Document{ID: fmt.Appendf(nil, "%d-%d", i, j), HasFingerprint: true, Fingerprint: uint64(j) << 50}
			d.Sketch = []uint32{77, 1000 + uint32(100*i+j)} // 77 is hot only in all tables together
			if err := w.Add(&d); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := OpenBytes(buf.Bytes(), "input")
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, MergeInput{Reader: r, Keep: func(doc uint32) (bool, error) { return doc%10 > 0, nil }})
	}
	var buf bytes.Buffer
	info, renumber, err := Merge(t.Context(), &buf, params, inputs, MergeOptions{})
	if err != nil || info.Docs != 270 {
		t.Fatalf("%d documents, %v", info.Docs, err)
	}
	r, err := OpenBytes(buf.Bytes(), "merged")
	if err == nil {
		err = r.Verify(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	hits, err := r.Jaccard([]uint32{77, 1105}, 0.9, nil)
	if err != nil || len(hits) != 1 {
		t.Fatalf("hits %v, %v", hits, err)
	}
	if number, kept := renumber.New(1, 5); !kept || number != hits[0].Doc {
		t.Errorf("document 5 of input 1 is %d, %t; the hit %d", number, kept, hits[0].Doc)
	}
	if _, kept := renumber.New(1, 50); kept {
		t.Error("a document that was left out has a number")
	}
}
