package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// FuzzSSTable opens arbitrary bytes, with one word replaced, as a table and reads everything it
// can. If the end looks like the end of a table, the checksums are made right first, so that the
// code behind them is reached.
func FuzzSSTable(f *testing.F) {
	for _, name := range []string{"v2.sst", "v2-merged.sst"} {
		golden, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(golden, uint(0), uint64(0))
	}
	f.Add(smallTable(f, 0), uint(64), ^uint64(0))
	for at := uint(64); at < 2048; at += 72 {
		f.Add(smallTable(f, 3), at, uint64(at)<<20)
	}
	for at := uint(64); at < 2048; at += 72 {
		f.Add(mergedTable(f), at, uint64(at)<<20)
	}
	f.Add([]byte(table.Magic), uint(0), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint, word uint64) {
		data = bytes.Clone(data)
		if len(data) >= 8 && at > 0 {
			at %= uint(len(data) - 7)
			le.PutUint64(data[at:], word)
		}
		data = resealTable(data)
		r, err := table.OpenBytes(data, "fuzz.sst")
		if err != nil {
			mustBeTyped(t, err)
			return
		}
		defer r.Close()
		readTable(t, r)
	})
}

// readTable calls every method of a reader, for the first documents of a large table.
func readTable(t *testing.T, r *table.Reader) {
	var d table.Document
	var s table.NearSearcher
	for doc := range min(r.NumDocs(), 300) {
		if err := r.Document(doc, &d); err != nil {
			mustBeTyped(t, err)
			continue
		}
		if _, _, err := r.Lookup(d.ID); err != nil {
			mustBeTyped(t, err)
		}
		for _, k := range []int{0, 3, 9} {
			hits, err := s.Near(r, d.Fingerprint^1<<(doc%64), k, nil)
			if err != nil {
				mustBeTyped(t, err)
			}
			for _, h := range hits {
				if h.Doc >= r.NumFingerprints() || int(h.Distance) > k {
					t.Fatalf("hit %+v within %d, of %d fingerprints", h, k, r.NumFingerprints())
				}
			}
		}
	}
	for _, it := range []*table.Iter{r.Iter(), r.Entries()} {
		for n := 0; n < 2000 && it.Next(); n++ {
			if len(it.Document().ID) == 0 {
				t.Fatalf("document %d without ID", it.Doc())
			}
		}
		if it.Err() != nil {
			mustBeTyped(t, it.Err())
		}
	}
	if err := r.Verify(t.Context(), nil); err != nil {
		mustBeTyped(t, err)
	}
	if _, err := r.TimeSketch(); err != nil {
		mustBeTyped(t, err)
	}
	if err := table.EachCommonID(r, r, func(uint32, uint32) error { return nil }); err != nil {
		mustBeTyped(t, err)
	}
	_, _, err := table.Merge(t.Context(), io.Discard, r.Params(), []table.MergeInput{{Reader: r}}, table.MergeOptions{Workers: 1})
	if err != nil {
		mustBeTyped(t, err)
	}
	var out bytes.Buffer
	if err := r.Describe(&out); err != nil {
		t.Fatal(err)
	}
}

// mustBeTyped fails for an error that callers cannot classify.
func mustBeTyped(t *testing.T, err error) {
	t.Helper()
	var c *base.CorruptionError
	if !errors.As(err, &c) && !errors.Is(err, table.ErrUnsupported) {
		t.Fatalf("untyped error: %v", err)
	}
}

func smallTable(f *testing.F, n int) []byte {
	var buf bytes.Buffer
	w, err := table.NewWriter(&buf, table.Params{Layout: table.Layout{Blocks: 2, Lead: 1}, StoreText: true}, table.WriterOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for i := range n {
		d := table.Document{ID: fmt.Append(nil, i), HasFingerprint: i < 2, Fingerprint: uint64(i) << 40, Text: []byte("text")}
		if err := w.Add(&d); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return buf.Bytes()
}

// mergedTable returns a table with places of records, with one record that belongs to no document.
func mergedTable(f *testing.F) []byte {
	var inputs []table.MergeInput
	for i := range 2 {
		r, err := table.OpenBytes(smallTable(f, 7), "input.sst")
		if err != nil {
			f.Fatal(err)
		}
		inputs = append(inputs, table.MergeInput{Reader: r, Keep: func(doc uint32) (bool, error) { return (doc == 6) == (i == 0), nil }})
	}
	var out bytes.Buffer
	if _, _, err := table.Merge(f.Context(), &out, inputs[0].Params(), inputs, table.MergeOptions{}); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}
