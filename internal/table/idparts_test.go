package table

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// dividedOptions make even small tables store the order of their IDs.
var dividedOptions = WriterOptions{PartDocs: 10, StretchDocs: 150}

// checkStoredOrder checks that a table stores the order of its IDs, in parts that list each
// document once and are in the order of IDs.
func checkStoredOrder(t *testing.T, r *Reader) {
	t.Helper()
	o, err := r.IDOrder()
	if err != nil || o == nil || len(o.stored) != (int(r.NumDocs())+149)/150 {
		t.Fatalf("%d documents: order %+v, %v", r.NumDocs(), o, err)
	}
	var greatest []byte // greatest ID of the parts so far
	var all []uint32
	for part := range o.Parts() {
		var ids [][]byte
		err := o.EachID(t.Context(), part, func(doc uint32, id []byte) error {
			if want, err := r.ID(doc); err != nil || !bytes.Equal(want, id) {
				return fmt.Errorf("document %d is %q, not %q, %v", doc, id, want, err)
			}
			all, ids = append(all, doc), append(ids, bytes.Clone(id))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(ids, bytes.Compare)
		if len(ids) > 0 {
			if bytes.Compare(ids[0], greatest) <= 0 {
				t.Fatalf("part %d has %q, after %q", part, ids[0], greatest)
			}
			greatest = ids[len(ids)-1]
			if first, end := o.Range(ids[0], nil); part < first || part >= end {
				t.Fatalf("%q is in part %d, not in %d to %d", ids[0], part, first, end)
			}
		}
	}
	slices.Sort(all)
	for i, doc := range all {
		if int(doc) != i {
			t.Fatalf("document %d is document %d of the parts", i, doc)
		}
	}
	if len(all) != int(r.NumDocs()) || o.Parts() < 2 {
		t.Fatalf("%d of %d documents in %d parts", len(all), r.NumDocs(), o.Parts())
	}
}

// dividedTable returns a table of n documents, written from a batch, that stores the order of its
// IDs.
func dividedTable(t *testing.T, n, workers int) []byte {
	t.Helper()
	return divided(t, testDocs(rand.New(rand.NewPCG(5, uint64(n))), n), workers)
}

// divided returns a table of documents that stores the order of its IDs.
func divided(t *testing.T, docs []Document, workers int) []byte {
	t.Helper()
	n := len(docs)
	var buf bytes.Buffer
	w, err := NewBatchWriter(t.Context(), &buf, testParams, BatchOptions{WriterOptions: dividedOptions, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	b := batchOf(1, docs)
	addRecordsOf(t, w, b, docs, n)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestLongIDsInParts has bounds of the maximum length, which are prefixes of IDs.
func TestLongIDsInParts(t *testing.T) {
	for _, more := range []int{format.MaxIDBound - 12, format.MaxIDBound - 7, format.MaxIDBound - 6} {
		docs := testDocs(rand.New(rand.NewPCG(5, 6)), 400)
		for i := range docs {
			docs[i].ID = append(bytes.Repeat([]byte("x"), more), docs[i].ID...)
		}
		r := openTable(t, divided(t, docs, 1))
		checkStoredOrder(t, r)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoredIDOrder reads the order of IDs from tables that are written from batches or merged,
// with and without documents left out. The numbers of documents are near the sizes of stretches and
// blocks.
func TestStoredIDOrder(t *testing.T) {
	for _, n := range []int{20, 149, 150, 151, 300, 1000} {
		data := dividedTable(t, n, 1)
		r := openTable(t, data)
		checkStoredOrder(t, r)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Fatalf("%d documents: %v", n, err)
		}
		if !bytes.Equal(data, dividedTable(t, n, 3)) {
			t.Fatalf("%d documents: other bytes with 3 workers", n)
		}
		for _, kept := range []func(doc uint32) bool{nil, func(doc uint32) bool { return doc%3 == 0 }, func(doc uint32) bool { return doc >= uint32(n/2) }} {
			in := MergeInput{Reader: r}
			if kept != nil {
				in.Keep = func(doc uint32) (bool, error) { return kept(doc), nil }
			}
			for _, chunk := range []int{0, 1} {
				var out bytes.Buffer
				info, _, err := Merge(t.Context(), &out, testParams, []MergeInput{in}, MergeOptions{WriterOptions: dividedOptions, Chunk: chunk})
				if err != nil {
					t.Fatal(err)
				}
				merged := openTable(t, out.Bytes())
				if err := merged.Verify(t.Context(), nil); err != nil {
					t.Fatalf("%d documents of %d: %v", info.Docs, n, err)
				}
				if info.Docs >= 20 {
					checkStoredOrder(t, merged)
				}
			}
		}
	}
	one := openTable(t, dividedTable(t, 19, 1)) // too small to be divided
	if o, err := one.IDOrder(); err != nil || o.Parts() != 1 || one.t.Section(format.KindIDBounds, 0) != nil {
		t.Fatalf("19 documents: %v, %v", o, err)
	}
}

// rekeyed returns a table with edited keys in the first stretch of its order of IDs.
func rekeyed(t *testing.T, r *Reader, edit func(keys []uint64, shift int)) []byte {
	t.Helper()
	o, err := r.storedOrder()
	if err != nil {
		t.Fatal(err)
	}
	var keys []uint64
	if err := o.stored[0].run.EachBlock(func(_ int, k []uint64) error { keys = append(keys, k...); return nil }); err != nil {
		t.Fatal(err)
	}
	edit(keys, o.stored[0].shift)
	slices.Sort(keys)
	var body bytes.Buffer
	w := keyrun.NewWriter(&body)
	if err := w.AddKeys(keys); err != nil {
		t.Fatal(err)
	}
	dir, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return rebuilt(r, 2, map[Kind][]byte{format.KindIDParts: body.Bytes(), format.KindIDParts | format.DirFlag: dir}, nil)
}

// rebound returns a table with other bounds of its order of IDs.
func rebound(r *Reader, n uint64, bounds ...string) []byte {
	var b []byte
	for _, s := range bounds {
		b = append(append(b, byte(len(s))), s...)
	}
	sum := kernel.CRC32C(0, b)
	b = append(b, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	return rebuilt(r, 2, map[Kind][]byte{format.KindIDBounds: b}, map[Kind]uint64{format.KindIDBounds: n})
}

// TestStoredIDOrderRefused has tables whose order of IDs cannot be right, with good checksums.
func TestStoredIDOrderRefused(t *testing.T) {
	r := openTable(t, dividedTable(t, 140, 1))
	checkRefused(t, "as it was", rebuilt(r, 2, nil, nil), "")
	o, err := r.storedOrder()
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(o.Parts() - 1)
	for _, c := range []struct {
		name    string
		data    []byte
		section string
	}{
		{"a document in another part", rekeyed(t, r, func(k []uint64, shift int) { k[0] |= last << shift }), "id-parts"},
		{"a document twice", rekeyed(t, r, func(k []uint64, _ int) { k[1] = k[0] }), "id-parts"},
		{"a document too many", rekeyed(t, r, func(k []uint64, shift int) { k[0] |= 1<<shift - 1 }), "id-parts"},
		{"a part too many", rekeyed(t, r, func(k []uint64, shift int) { k[0] |= (last + 1) << shift }), "id-parts"},
		{"other bounds", rebound(r, 2, "a", "b"), "id-parts"},
		{"bounds that do not ascend", rebound(r, 2, "b", "a"), "id-bounds"},
		{"equal bounds", rebound(r, 2, "a", "a"), "id-bounds"},
		{"a bound less", rebound(r, 2, "a"), "id-bounds"},
		{"a bound more", rebound(r, 1, "a", "b"), "id-bounds"},
		{"no bounds", rebound(r, 0), "id-bounds"},
		{"no bytes of bounds", rebuilt(r, 2, map[Kind][]byte{format.KindIDBounds: nil}, nil), "id-bounds"},
		{"too few documents", rebuilt(r, 2, nil, map[Kind]uint64{format.KindIDParts: 139, format.KindIDParts | format.DirFlag: 139}), "id-parts"},
	} {
		checkRefused(t, c.name, c.data, c.section)
		if bad, err := OpenBytes(c.data, "test.sst"); err == nil { // without Verify, it must not panic
			if o, err := bad.IDOrder(); err == nil {
				for part := range o.Parts() {
					if err := o.EachID(t.Context(), part, func(uint32, []byte) error { return nil }); err != nil && !typed(err) {
						t.Errorf("%s: %v", c.name, err)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		name    string
		kinds   []Kind
		section string
	}{
		{"without parts", []Kind{format.KindIDParts}, "directory"},
		{"without bounds", []Kind{format.KindIDBounds}, "id-parts"},
		{"without both", []Kind{format.KindIDParts, format.KindIDBounds}, ""}, // what old programs see
	} {
		without := withSections(t, r.t.Data, func(all []Section, _ int64) []Section {
			for i := range all {
				if slices.Contains(c.kinds, all[i].Kind&^format.DirFlag) {
					all[i].Kind, all[i].Index = format.KindUnknown+Kind(i), 0
				}
			}
			return all
		})
		checkRefused(t, c.name, without, c.section)
	}
}

// TestDamagedIDOrder flips bytes of all sections with the order of IDs: Verify must notice each,
// and Salvage must not lose a document, since no document depends on them.
func TestDamagedIDOrder(t *testing.T) {
	data := dividedTable(t, 400, 1)
	r := openTable(t, data)
	docs, _, err := salvage(t, data, SalvageOptions{})
	if err != nil || len(docs) != int(r.NumDocs()) {
		t.Fatalf("salvaged %d documents of %d, %v", len(docs), r.NumDocs(), err)
	}
	for _, s := range r.t.Info.Sections {
		if s.Kind&^format.DirFlag != format.KindIDParts && s.Kind != format.KindIDBounds {
			continue
		}
		for at := s.Offset; at < s.Offset+s.Length; at += 1 + s.Length/5 {
			damaged := bytes.Clone(data)
			damaged[at] ^= 4
			if err := verifyError(t, damaged); !typed(err) {
				t.Errorf("%s, byte %d: %v", s.Name(), at-s.Offset, err)
			}
			got, _, _ := salvage(t, damaged, SalvageOptions{})
			if len(got) != len(docs) {
				t.Errorf("%s, byte %d: %d documents of %d", s.Name(), at-s.Offset, len(got), len(docs))
			}
		}
	}
}

// TestNumIDParts checks that a part has some two thousand IDs, unless that needs more parts than 16
// bits can number.
func TestNumIDParts(t *testing.T) {
	for _, c := range []struct{ docs, parts int }{
		{write.PartDocs - 1, 0}, {2*write.PartDocs - 1, 1}, {2 * write.PartDocs, 2}, {1 << 19, 256}, {20 << 20, 10240}, {1 << 25, format.MaxIDParts}, {math.MaxInt32, format.MaxIDParts},
	} {
		if got := write.NumIDParts(c.docs, WriterOptions{}); got != c.parts {
			t.Errorf("%d documents: %d parts, want %d", c.docs, got, c.parts)
		}
	}
}
