package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestEachInTextOrder iterates over tables whose records lie in many orders, and sorts different
// numbers of documents at a time. Each document must be visited once, and those that are sorted
// together in the order of their records.
func TestEachInTextOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 8))
	for _, n := range []int{0, 1, 40, 1500} {
		docs := testDocs(r, n)
		r.Shuffle(n, func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		reader := openTable(t, writeBatch(t, testParams, docs, 1, 1+n/4, 2))
		for _, most := range []uint32{1, 7, 1000, textOrderDocs} {
			var got []uint32
			err := reader.eachInTextOrder(t.Context(), most, func(doc uint32) error { got = append(got, doc); return nil })
			if err != nil {
				t.Fatal(err)
			}
			place := func(doc uint32) uint32 {
				p, err := reader.t.Place(doc)
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			for part := range slices.Chunk(got, int(most)) {
				if !slices.IsSortedFunc(part, func(a, b uint32) int { return int(place(a)) - int(place(b)) }) {
					t.Fatalf("%d documents, %d at a time: not in the order of records", n, most)
				}
			}
			if most >= uint32(n) {
				shuffled := slices.Clone(got)
				r.Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
				some := append(shuffled, shuffled[:n/2]...)
				order, err := reader.TextOrder(some)
				if err != nil || len(order) != len(some) || !slices.IsSortedFunc(order, func(a, b int) int { return int(place(some[a])) - int(place(some[b])) }) {
					t.Fatalf("%d documents: their order is %v, or %v", n, order, err)
				}
				slices.Sort(order)
				if len(slices.Compact(order)) != len(some) {
					t.Fatalf("%d documents: not all of them are in %v", n, order)
				}
				if err := reader.SortInTextOrder(shuffled); err != nil || !slices.Equal(shuffled, got) {
					t.Fatalf("%d documents: sorted in another order than they are visited, or %v", n, err)
				}
			}
			slices.Sort(got)
			for i, doc := range got {
				if doc != uint32(i) || len(got) != int(reader.NumDocs()) {
					t.Fatalf("%d documents, %d at a time: visited %d, document %d is %d", n, most, len(got), i, doc)
				}
			}
		}
	}
	reader := openTable(t, writeBatch(t, testParams, testDocs(r, 50), 1, 10, 2))
	if err := reader.SortInTextOrder([]uint32{0, reader.NumDocs()}); err == nil {
		t.Error("a document was sorted that the table does not have")
	}
	calls, stop := 0, errors.New("stop")
	if err := reader.EachInTextOrder(t.Context(), func(uint32) error { calls++; return stop }); err != stop || calls != 1 {
		t.Errorf("after an error: %v, %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := reader.EachInTextOrder(ctx, func(uint32) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestSampleLevel checks the level chosen for records of two kinds: the fastest level costs few
// bytes for words, and many for text whose characters are drawn from thousands.
func TestSampleLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 9))
	words, signs := strings.Fields("a block of records holds texts with their fields and is compressed as a whole"), []rune{}
	for range 1 << 16 {
		signs = append(signs, 0x4e00+rune(r.ExpFloat64()*700))
	}
	texts := map[string]func() []byte{
		"words": func() (text []byte) {
			for range 200 {
				text = fmt.Appendf(text, "%s %d ", words[r.IntN(len(words))], r.IntN(50))
			}
			return text
		},
		"signs": func() []byte { at := r.IntN(len(signs) - 400); return []byte(string(signs[at : at+400])) },
	}
	for _, c := range []struct {
		kind  string
		alike int
		want  Level
	}{
		{"words", 400, LevelFastest},
		{"words", 0, LevelDefault},
		{"words", 49, LevelDefault}, // less than an eighth
		{"signs", 400, LevelDefault},
	} {
		docs := testDocs(r, 400)
		for i := range docs {
			docs[i].Text, docs[i].Fields = texts[c.kind](), nil
		}
		b := batchOf(testParams, 1, docs)
		level := func(o WriterOptions, alike int) []byte {
			var out strings.Builder
			w, err := NewBatchWriter(t.Context(), &out, testParams, BatchOptions{WriterOptions: o})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			b.Records = make([]uint32, len(docs))
			for i := range docs {
				b.Records[i] = uint32(i)
			}
			if _, err := w.AddRecords(len(docs), alike, func(i int) (text, fields []byte) { return docs[i].Text, nil }); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			return []byte(out.String())
		}
		want := level(WriterOptions{Level: c.want}, 0)
		if got := level(WriterOptions{}, c.alike); !slices.Equal(got, want) {
			t.Errorf("%d of 400 texts of %s are alike: %d bytes, not the %d of level %d", c.alike, c.kind, len(got), len(want), c.want)
		}
	}
}

// TestTextsInOrder reads all and some texts in the order of the file, with one block in memory.
func TestTextsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 9))
	docs := testDocs(r, 900)
	reader := openTable(t, writeBatch(t, testParams, docs, 1, 200, 2))
	for _, skip := range []int{0, 1, 50} {
		var some []uint32
		for doc := 0; doc < int(reader.NumDocs()); doc += 1 + r.IntN(skip+1) {
			some = append(some, uint32(doc))
		}
		if err := reader.SortInTextOrder(some); err != nil {
			t.Fatal(err)
		}
		inOrder, anyOrder := reader.TextsInOrder(false), reader.Texts()
		for _, doc := range some {
			text, fields, err := inOrder.Get(doc)
			if err != nil {
				t.Fatal(err)
			}
			wantText, wantFields, err := anyOrder.Get(doc)
			if err != nil || string(text) != string(wantText) || string(fields) != string(wantFields) {
				t.Fatalf("document %d: %q and %q, want %q and %q, %v", doc, text, fields, wantText, wantFields, err)
			}
		}
	}
}
