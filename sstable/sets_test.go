package sstable

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/table"
)

// setsTable returns a table with sets, of texts of few words.
func setsTable(t *testing.T, n int) ([]byte, []Document) {
	r := rand.New(rand.NewPCG(35, uint64(n)))
	p := testParams
	p.Sets = true
	docs := testDocs(r, n)
	for i := range docs {
		docs[i].Text = docs[i].Text[:0]
		for range r.IntN(30) {
			docs[i].Text = fmt.Appendf(docs[i].Text, "word%d ", r.IntN(9))
		}
	}
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	return data, docs
}

// TestVerifySets: an index or a size that is not that of the texts is noticed, whatever the
// checksums, and so is a document that does not exist, by searches, too.
func TestVerifySets(t *testing.T) {
	data, docs := setsTable(t, 300)
	r := openTable(t, data)
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	keys, err := r.t.Sets.Keys.AppendKeys(nil, 0, r.t.Sets.Keys.Len())
	if err != nil {
		t.Fatal(err)
	}
	width := uint64(1) << 9 // of 300 documents
	for name, change := range map[string]func(keys []uint64) []uint64{
		"none":           func(keys []uint64) []uint64 { return keys },
		"one less":       func(keys []uint64) []uint64 { return slices.Delete(keys, 100, 101) },
		"one more":       func(keys []uint64) []uint64 { return append(keys, (1<<24-1)*width) },
		"twice":          func(keys []uint64) []uint64 { return slices.Insert(keys, 100, keys[100]) },
		"no such number": func(keys []uint64) []uint64 { keys[100] |= width - 1; slices.Sort(keys); return keys },
		"another bin":    func(keys []uint64) []uint64 { keys[100] += width; slices.Sort(keys); return keys },
	} {
		changed := change(slices.Clone(keys))
		var body bytes.Buffer
		w := keyrun.NewWriter(&body)
		err := w.AddKeys(changed)
		dir, e := w.Finish()
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		damaged := openTable(t, rebuilt(r, FormatVersion, map[Kind][]byte{table.KindSets: body.Bytes(), table.KindSets | table.DirFlag: dir},
			map[Kind]uint64{table.KindSets: uint64(len(changed)), table.KindSets | table.DirFlag: uint64(len(changed))}))
		err = damaged.Verify(t.Context(), nil)
		if name == "none" && err != nil || name != "none" && (!typed(err) || !strings.Contains(err.Error(), "corrupt sets ")) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "no such number" {
			if _, _, _, err := damaged.SetCandidates(nil, SetQuery{Set: wholeBins(keys), T: 0.001}); !typed(err) {
				t.Errorf("a search finds %v", err)
			}
		}
	}
	sizes := make([]uint64, len(docs))
	if err := openTable(t, withColumn(r, table.KindSetSizes, sizes)).Verify(t.Context(), nil); !typed(err) || !strings.Contains(err.Error(), "set-sizes") {
		t.Errorf("other sizes: %v", err)
	}
}

// wholeBins returns a hash for each of the bins of keys.
func wholeBins(keys []uint64) (set []uint64) {
	for _, k := range keys {
		set = append(set, k>>9<<40)
	}
	return slices.Compact(set)
}
