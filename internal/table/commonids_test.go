package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// namedTable returns a table of documents with these IDs.
func namedTable(t *testing.T, rng *rand.Rand, ids []string) *Reader {
	t.Helper()
	docs := make([]Document, len(ids))
	for i, id := range ids {
		docs[i] = Document{ID: []byte(id), HasFingerprint: true, Fingerprint: rng.Uint64()}
	}
	slices.SortFunc(docs, func(a, b Document) int { return a.Compare(&b) })
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	return openTable(t, data)
}

// TestEachCommonID compares EachCommonID with looking up every ID of one table in the other.
func TestEachCommonID(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	for _, size := range [][2]int{{0, 0}, {0, 10}, {1, 1}, {5, 3000}, {3000, 5}, {600, 700}, {3000, 3000}, {40, 9000}} {
		all := make([]string, size[0]+size[1])
		for i := range all {
			all[i] = fmt.Sprint("id-", i)
		}
		pick := func(n int) []string {
			ids := make([]string, n)
			for i, x := range rng.Perm(len(all))[:n] {
				ids[i] = all[x]
			}
			return ids
		}
		a, b := namedTable(t, rng, pick(size[0])), namedTable(t, rng, pick(size[1]))
		want := map[[2]uint32]bool{}
		for doc := range a.NumDocs() {
			id, err := a.ID(doc)
			if err != nil {
				t.Fatal(err)
			}
			other, ok, err := b.Lookup(id)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				want[[2]uint32{doc, other}] = true
			}
		}
		n := 0
		err := EachCommonID(a, b, func(docA, docB uint32) error {
			if !want[[2]uint32{docA, docB}] {
				t.Fatalf("%v: document %d and %d have different IDs", size, docA, docB)
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Fatalf("%v: %d common IDs, want %d, %v", size, n, len(want), err)
		}
		stop := errors.New("stop")
		if err := EachCommonID(a, a, func(uint32, uint32) error { return stop }); err != stop && a.NumDocs() > 0 {
			t.Fatalf("%v, want what the function returned", err)
		}
	}
}

// TestIDHashBlocks compares the hashes with the hashes of all IDs.
func TestIDHashBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(95, 96))
	var ids []string
	var want []uint64
	for i := range 1300 {
		ids = append(ids, fmt.Sprint(i))
		want = append(want, HashID([]byte(ids[i])))
	}
	slices.Sort(want)
	var got []uint64
	err := namedTable(t, rng, ids).IDHashBlocks(func(hashes []uint64) error { got = append(got, hashes...); return nil })
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d hashes, %v", len(got), err)
	}
}
