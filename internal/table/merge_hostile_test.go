package table

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// TestMergeForged replaces a word of tables, makes every checksum right, and merges the tables,
// with and without a document left out, alone and with another table. No merge may panic or hang,
// and an error must report damage.
func TestMergeForged(t *testing.T) {
	more, _ := buildTable(t, testParams, WriterOptions{}, testDocs(rand.New(rand.NewPCG(31, 7)), 40))
	for i, n := range []int{12, 600, 12, 600} {
		make := newVictim
		if i >= 2 {
			make = newMergedVictim
		}
		v := make(t, n, WriterOptions{BlockSize: 300})
		r := openTable(t, slices.Clone(v.data))
		for c := range exhaustive.Every(t, 12*n).Of(len(v.data) / 8 * len(forgedWords)) {
			at, value := c/len(forgedWords)*8, forgedWords[c%len(forgedWords)]
			data := slices.Clone(v.data)
			binary.LittleEndian.PutUint64(data[at:], value)
			reseal(r, data)
			mergeForged(t, data, more, at, value)
		}
	}
}

// mergeForged merges a table whose word at an offset was set to value.
func mergeForged(t *testing.T, data, more []byte, at int, value uint64) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("word at %d of %d set to %#x: panic: %v", at, len(data), value, p)
		}
	}()
	for _, keep := range []func(doc uint32) (bool, error){
		nil,
		func(doc uint32) (bool, error) { return doc%3 > 0, nil },
		func(doc uint32) (bool, error) { return doc%50 == 49, nil },
	} {
		for _, shift := range []uint64{0, 1 << 40} {
			table, err := OpenBytes(data, "test.sst")
			if err != nil || !table.Params().Compatible(testParams) {
				return
			}
			inputs := []MergeInput{{Reader: table, Keep: keep, SeqShift: shift}}
			if shift > 0 {
				inputs = append(inputs, MergeInput{Reader: openTable(t, more)})
			}
			var out bytes.Buffer
			// One goroutine: a panic in another one could not be recovered here.
			if _, _, err = Merge(t.Context(), &out, table.Params(), inputs, MergeOptions{Workers: 1}); err != nil && !typed(err) {
				t.Errorf("word at %d of %d set to %#x: %v", at, len(data), value, err)
			}
		}
	}
}

// TestMergeRepeated merges tables with the same rank for every document, or with the same document
// for every ID hash, while most documents are left out.
func TestMergeRepeated(t *testing.T) {
	p := testParams
	p.Sketch, p.MinJaccard = 0, 0
	docs := testDocs(rand.New(rand.NewPCG(31, 8)), 2000)
	for i := range docs {
		docs[i].Sketch = nil
	}
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	more, _ := buildTable(t, p, WriterOptions{}, docs[:3])
	r := openTable(t, data)
	var body bytes.Buffer
	ids := keyrun.NewPairWriter(&body, uint32(len(docs)-1))
	same := make([]uint64, len(docs))
	for i := range same {
		same[i] = 1700
		if err := ids.AddPair(uint64(i), 1701); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := ids.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"ranks": withColumn(r, format.KindRanks, same),
		"ids":   rebuilt(r, FormatVersion, map[Kind][]byte{KindIDs: body.Bytes(), KindIDs | format.DirFlag: dir}, nil),
	} {
		for _, workers := range []int{1, 3} {
			inputs := []MergeInput{
				{Reader: openTable(t, data), Keep: func(doc uint32) (bool, error) { return doc%50 == 0, nil }},
				{Reader: openTable(t, more), Keep: func(doc uint32) (bool, error) { return false, nil }},
			}
			var out bytes.Buffer
			_, _, err := Merge(t.Context(), &out, p, inputs, MergeOptions{Workers: workers})
			if !typed(err) {
				t.Errorf("%s, %d goroutines: %v", name, workers, err)
			}
		}
	}
}

// TestMergeWraps shifts sequence numbers so far that their order would change. A forged table can
// make its database do that.
func TestMergeWraps(t *testing.T) {
	docs := []Document{{ID: []byte("a"), Seq: 5}, {ID: []byte("b"), Seq: 9}}
	data, _ := buildTable(t, mergeParams, WriterOptions{}, docs)
	for shift, wraps := range map[uint64]bool{^uint64(0) - 9: false, ^uint64(0) - 8: true, ^uint64(0) - 5: true, ^uint64(0) - 4: false} {
		var out bytes.Buffer
		_, _, err := Merge(t.Context(), &out, mergeParams, []MergeInput{{Reader: openTable(t, data), SeqShift: shift}}, MergeOptions{})
		if wraps != typed(err) || !wraps && err != nil {
			t.Errorf("%d added: %v", shift, err)
		}
	}
}
