package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// tableOfIDs returns a table of n documents; id returns the ID of a document by its number.
func tableOfIDs(t *testing.T, n int, id func(doc int) string) (*Reader, []byte) {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, Params{Tokenizer: 1, Shingle: 3, Hash: 1}.ForTable(int64(n)), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for doc := range n {
		d := Document{ID: []byte(id(doc)), HasFingerprint: true, Fingerprint: uint64(doc) << 40, Seq: uint64(1 + doc), Time: int64(doc)}
		if err := w.Add(&d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := OpenBytes(buf.Bytes(), "ids")
	if err != nil {
		t.Fatal(err)
	}
	return r, buf.Bytes()
}

// TestIDOrder compares the parts of tables of one part and of several parts with a scan of all IDs.
func TestIDOrder(t *testing.T) {
	ctx := t.Context()
	for _, n := range []int{0, 1, 2*write.PartDocs - 1, 2 * write.PartDocs, 20*write.PartDocs + 77} {
		r := rand.New(rand.NewPCG(uint64(n), 8))
		numbers := r.Perm(10 * (n + 1))
		id := func(doc int) string { return fmt.Sprintf("%c/%d", "ab"[doc&1], numbers[doc]) }
		table, _ := tableOfIDs(t, n, id)
		o, err := table.IDOrder()
		if err != nil {
			t.Fatal(err)
		}
		if o.Parts() != max(1, n/write.PartDocs) {
			t.Fatalf("%d documents in %d parts", n, o.Parts())
		}
		partOf, count := make([]int, n), 0
		for p := range o.Parts() {
			last := -1
			err := o.EachID(ctx, p, func(doc uint32, got []byte) error {
				if int(doc) <= last || string(got) != id(int(doc)) {
					return fmt.Errorf("document %d after %d is %q", doc, last, got)
				}
				last, partOf[doc] = int(doc), p
				count++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if count != n {
			t.Fatalf("%d of %d documents are in parts", count, n)
		}
		byID := make([]int, n)
		for doc := range byID {
			byID[doc] = doc
		}
		slices.SortFunc(byID, func(a, b int) int { return bytes.Compare([]byte(id(a)), []byte(id(b))) })
		if !slices.IsSortedFunc(byID, func(a, b int) int { return partOf[a] - partOf[b] }) {
			t.Fatalf("%d documents: parts are not in the order of IDs", n)
		}
		for _, prefix := range []string{"", "a", "b", "c", "a/1", "b/77", "a/123", "0"} {
			first, end := o.Range([]byte(prefix), []byte(base.PrefixEnd(prefix)))
			var got, want []uint32
			for doc := range n {
				if bytes.HasPrefix([]byte(id(doc)), []byte(prefix)) {
					want = append(want, uint32(doc))
				}
			}
			for p := first; p < end; p++ {
				err := o.EachID(ctx, p, func(doc uint32, id []byte) error {
					if bytes.HasPrefix(id, []byte(prefix)) {
						got = append(got, doc)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Fatalf("%d documents, prefix %q: %d found, want %d", n, prefix, len(got), len(want))
			}
		}
		var got []uint32
		err = table.EachWrittenID(ctx, Written{From: 3, To: int64(n / 2), MaxSeq: math.MaxUint64}, func(doc uint32, have []byte) error {
			if string(have) != id(int(doc)) {
				return fmt.Errorf("document %d is %q", doc, have)
			}
			got = append(got, doc)
			return nil
		})
		if want := max(0, n/2-2); err != nil || n > 1 && len(got) != want {
			t.Fatalf("%d of %d documents written, want %d, %v", len(got), n, want, err)
		}
	}
}

// TestIDOrderErrors stops the listing, cancels it, and damages an ID.
func TestIDOrderErrors(t *testing.T) {
	const n = 3 * write.PartDocs
	table, data := tableOfIDs(t, n, func(doc int) string { return fmt.Sprintf("document-%d", doc) })
	o, err := table.IDOrder()
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := o.EachID(t.Context(), 1, func(uint32, []byte) error { return stop }); err != stop {
		t.Errorf("stopped: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.EachID(cancelled, 1, func(uint32, []byte) error { return nil }); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	data[bytes.Index(data, fmt.Appendf(nil, "document-%d", n-3))] ^= 1
	table, err = OpenBytes(data, "ids")
	if err == nil {
		o, err = table.IDOrder()
	}
	for part := 0; err == nil && part < o.Parts(); part++ {
		err = o.EachID(t.Context(), part, func(uint32, []byte) error { return nil })
	}
	if !errors.Is(err, base.ErrCorruption) {
		t.Errorf("an ID that does not have its checksum: %v", err)
	}
}
