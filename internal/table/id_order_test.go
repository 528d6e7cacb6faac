package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// storedOrder makes even small tables store the order of their IDs.
var storedOrder = WriterOptions{OrderDocs: 20}

// namedDocs returns n documents with IDs that have long common prefixes, zero bytes, and IDs that
// are prefixes of others; bare of them, at random, have no fingerprint and no text.
func namedDocs(seed uint64, n, bare int) []Document {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	docs := testDocs(r, n)
	for i := range docs {
		d := &docs[i]
		d.ID = fmt.Appendf(nil, "%s%0*d", []string{"", "user/0000000000/", "a", "a\x00", "a\x00\x00\x00\x00\x00\x00\x00\x00"}[i%5], 1+i/5%9, i)
		if r.IntN(n) < bare {
			d.HasFingerprint, d.Fingerprint, d.Rest, d.Text, d.Sketch = false, 0, nil, nil, nil
			d.Fields = fmt.Appendf(nil, `{"n":%d}`, i)
		}
	}
	return docs
}

// namedTable returns a table of documents, which stores the order of their IDs.
func orderTable(t *testing.T, docs []Document, workers int) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewBatchWriter(t.Context(), &buf, testParams, BatchOptions{WriterOptions: storedOrder, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	b := batchOf(testParams, 1, docs)
	addRecordsOf(t, w, b, docs, len(docs))
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// checkOrder compares the order of a table's IDs with a sort, and with the documents that the table
// should have. Documents without a fingerprint must be numbered in that order.
func checkOrder(t *testing.T, r *Reader, docs []Document) {
	t.Helper()
	want := slices.Clone(docs)
	slices.SortFunc(want, func(a, b Document) int { return bytes.Compare(a.ID, b.ID) })
	o, err := r.IDOrder()
	if err != nil || int(r.NumDocs()) != len(want) {
		t.Fatalf("%d documents of %d, %v", r.NumDocs(), len(want), err)
	}
	at, last := 0, uint32(0)
	err = o.EachID(t.Context(), 0, len(want), func(doc uint32, id []byte) error {
		var d Document
		if err := r.Document(doc, &d); err != nil {
			return err
		}
		w := &want[at]
		if !bytes.Equal(id, w.ID) || !bytes.Equal(d.ID, w.ID) || !bytes.Equal(d.Text, w.Text) || !bytes.Equal(d.Fields, w.Fields) || d.HasFingerprint != w.HasFingerprint {
			return fmt.Errorf("position %d has %q, document %q %s, want %q %s", at, id, d.ID, d.Fields, w.ID, w.Fields)
		}
		if !d.HasFingerprint && doc < last {
			return fmt.Errorf("document %d comes after %d", doc, last)
		} else if !d.HasFingerprint {
			last = doc
		}
		at++
		return nil
	})
	if err != nil || at != len(want) {
		t.Fatalf("%d of %d: %v", at, len(want), err)
	}
	for i := range want {
		for _, id := range [][]byte{want[i].ID, append(bytes.Clone(want[i].ID), 0), want[i].ID[:len(want[i].ID)/2]} {
			first, _ := slices.BinarySearchFunc(want, id, func(d Document, id []byte) int { return bytes.Compare(d.ID, id) })
			if got, err := o.Seek(id); err != nil || got != first {
				t.Fatalf("%q is at %d, want %d, %v", id, got, first, err)
			}
		}
	}
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// TestIDOrder reads the order of IDs from tables with and without fingerprints, which store it or
// are too small to, and from tables merged of them, with and without documents left out.
func TestIDOrder(t *testing.T) {
	for _, n := range []int{0, 1, 19, 20, 300, 1100} {
		for _, bare := range []int{0, n / 2, n} {
			docs := namedDocs(7, n, bare)
			data := orderTable(t, docs, 1)
			if !bytes.Equal(data, orderTable(t, docs, 3)) {
				t.Fatalf("%d documents: other bytes with 3 workers", n)
			}
			r := openTable(t, data)
			if s := r.t.Section(format.KindIDOrder, 0); (s != nil) != (n >= 20) || s != nil && (s.Count == 0) != (bare == n) {
				t.Fatalf("%d documents, %d bare: section %+v", n, bare, s)
			}
			checkOrder(t, r, docs)
			for _, cuts := range []int{1, 3} {
				mergeNamed(t, docs, cuts)
			}
		}
	}
}

// mergeNamed merges tables with parts of docs, with and without documents left out, and then what
// comes of it, erasing.
func mergeNamed(t *testing.T, docs []Document, parts int) {
	t.Helper()
	bare := !slices.ContainsFunc(docs, func(d Document) bool { return d.HasFingerprint })
	for _, dropped := range []int{0, 3} {
		var again []MergeInput
		var all []Document
		for half := range 2 {
			var inputs []MergeInput
			for p := range parts {
				var some, kept []Document
				for i, d := range docs {
					if i%2 == half && i/2%parts == p {
						some = append(some, d)
					}
				}
				r := openTable(t, orderTable(t, some, 1))
				in := MergeInput{Reader: r}
				if dropped > 0 {
					in.Keep = func(doc uint32) (bool, error) { return doc%3 != 1, nil }
				}
				for _, d := range some {
					if doc, ok, err := r.Lookup(d.ID); !ok || err != nil {
						t.Fatal(ok, err)
					} else if dropped == 0 || doc%3 != 1 {
						kept = append(kept, d)
					}
				}
				inputs, all = append(inputs, in), append(all, kept...)
			}
			var out bytes.Buffer
			if _, _, err := Merge(t.Context(), &out, testParams, inputs, MergeOptions{WriterOptions: storedOrder}); err != nil {
				t.Fatal(err)
			}
			again = append(again, MergeInput{Reader: openTable(t, out.Bytes())})
		}
		for _, erase := range []bool{false, true} {
			var out [2]bytes.Buffer
			for i := range out {
				if _, _, err := Merge(t.Context(), &out[i], testParams, again, MergeOptions{WriterOptions: storedOrder, Erase: erase, Workers: 1 + 2*i}); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
				t.Fatal("other bytes with 3 workers")
			}
			r := openTable(t, out[0].Bytes())
			checkOrder(t, r, all)
			if bare && (erase || parts > 1 && len(all) > 20) && r.t.Places != nil {
				t.Fatalf("%d documents: records are not in the order of IDs", len(all))
			}
		}
	}
}

// TestIDOrderEnds stops the listing and cancels it, and lists nothing.
func TestIDOrderEnds(t *testing.T) {
	r := openTable(t, orderTable(t, namedDocs(9, 600, 100), 1))
	o, err := r.IDOrder()
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := o.EachID(t.Context(), 7, 600, func(uint32, []byte) error { return stop }); err != stop {
		t.Errorf("stopped: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.EachID(cancelled, 0, 600, func(uint32, []byte) error { return nil }); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if from, end, err := o.Range([]byte("b"), []byte("a")); err != nil || from != end {
		t.Errorf("from b to a: %d to %d, %v", from, end, err)
	}
}

// reordered returns a table with an edited order of IDs.
func reordered(t *testing.T, r *Reader, edit func(docs []uint64) []uint64) []byte {
	t.Helper()
	o, err := r.t.IDOrder()
	if err != nil {
		t.Fatal(err)
	}
	docs := make([]uint64, r.NumDocs())
	for at := range docs {
		doc, err := o.Doc(at)
		if err != nil {
			t.Fatal(err)
		}
		docs[at] = uint64(doc)
	}
	docs = edit(docs)
	body, dir := keyrun.EncodeColumn(docs)
	n := uint64(len(docs))
	return rebuilt(r, 2, map[Kind][]byte{format.KindIDOrder: body, format.KindIDOrder | format.DirFlag: dir},
		map[Kind]uint64{format.KindIDOrder: n, format.KindIDOrder | format.DirFlag: n})
}

// TestIDOrderRefused has tables whose order of IDs cannot be right, with good checksums: Verify
// refuses them, and reading or merging them neither panics nor loses a document silently.
func TestIDOrderRefused(t *testing.T) {
	docs := namedDocs(11, 140, 50)
	r := openTable(t, orderTable(t, docs, 1))
	other := openTable(t, orderTable(t, []Document{{ID: []byte("zzz"), Seq: 1}}, 1))
	for name, edit := range map[string]func(d []uint64) []uint64{
		"":                          func(d []uint64) []uint64 { return d },
		"two exchanged":             func(d []uint64) []uint64 { d[3], d[70] = d[70], d[3]; return d },
		"a document twice":          func(d []uint64) []uint64 { d[3] = d[4]; return d },
		"a document too many":       func(d []uint64) []uint64 { d[3] = 140; return d },
		"one less":                  func(d []uint64) []uint64 { return d[:139] },
		"one more":                  func(d []uint64) []uint64 { return append(d, 1) },
		"as the documents' numbers": func(d []uint64) []uint64 { return nil },
		"backwards":                 func(d []uint64) []uint64 { slices.Reverse(d); return d },
	} {
		data := reordered(t, r, edit)
		section := "id-order"
		if name == "as the documents' numbers" {
			section = "names"
		} else if name == "" {
			section = ""
		}
		checkRefused(t, name, data, section)
		bad, err := OpenBytes(data, "test.sst")
		if err != nil {
			t.Fatal(err)
		}
		if o, err := bad.IDOrder(); err == nil {
			if _, err := o.Seek([]byte("user/")); err != nil && !typed(err) {
				t.Errorf("%s: %v", name, err)
			}
			if err := o.EachID(t.Context(), 0, 140, func(uint32, []byte) error { return nil }); err != nil && !typed(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, keep := range []func(doc uint32) (bool, error){nil, func(doc uint32) (bool, error) { return doc%4 != 0, nil }} {
			var out bytes.Buffer
			info, _, err := Merge(t.Context(), &out, testParams, []MergeInput{{Reader: bad, Keep: keep}, {Reader: other}}, MergeOptions{WriterOptions: storedOrder})
			if err != nil && !typed(err) || err == nil && keep == nil && info.Docs != 141 {
				t.Errorf("%s: merged %d documents, %v", name, info.Docs, err)
			}
		}
	}
}

// TestDamagedIDOrder flips bytes of the order of IDs: Verify must notice each, and Salvage must not
// lose a document, since no document depends on them.
func TestDamagedIDOrder(t *testing.T) {
	data := orderTable(t, namedDocs(13, 400, 100), 1)
	r := openTable(t, data)
	for _, s := range r.t.Info.Sections {
		if s.Kind&^format.DirFlag != format.KindIDOrder {
			continue
		}
		for at := s.Offset; at < s.Offset+s.Length; at += 1 + s.Length/7 {
			damaged := bytes.Clone(data)
			damaged[at] ^= 4
			if err := verifyError(t, damaged); !errors.Is(err, base.ErrCorruption) {
				t.Errorf("%s, byte %d: %v", s.Name(), at-s.Offset, err)
			}
			if got, _, _ := salvage(t, damaged, SalvageOptions{}); len(got) != 400 {
				t.Errorf("%s, byte %d: %d documents of 400", s.Name(), at-s.Offset, len(got))
			}
		}
	}
}
