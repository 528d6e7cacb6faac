package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// setsTable returns a table with sets, from texts of few words.
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

// TestVerifySets changes the index of sets and the sizes and makes the checksums right: Verify must
// notice what disagrees with the texts, and searches must notice a document that does not exist.
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
	width := uint64(1) << 9 // for 300 documents
	for name, change := range map[string]func(keys []uint64) []uint64{
		"none":           func(keys []uint64) []uint64 { return keys },
		"one less":       func(keys []uint64) []uint64 { return slices.Delete(keys, 100, 101) },
		"one more":       func(keys []uint64) []uint64 { return append(keys, (1<<22-1)*width) },
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
		damaged := openTable(t, rebuilt(r, FormatVersion, map[Kind][]byte{format.KindSets: body.Bytes(), format.KindSets | format.DirFlag: dir},
			map[Kind]uint64{format.KindSets: uint64(len(changed)), format.KindSets | format.DirFlag: uint64(len(changed))}))
		err = damaged.Verify(t.Context(), nil)
		if name == "none" && err != nil || name != "none" && (!typed(err) || !strings.Contains(err.Error(), "corrupt sets ")) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "no such number" {
			var out bytes.Buffer
			if _, _, err := Merge(t.Context(), &out, r.Params(), []MergeInput{{Reader: damaged}}, MergeOptions{Workers: 1}); !typed(err) {
				t.Errorf("a merge finds %v", err)
			}
			if _, _, _, err := damaged.SetCandidates(nil, SetQuery{Set: wholeBins(keys), T: 0.001, Most: 300}); !typed(err) {
				t.Errorf("a search finds %v", err)
			}
		}
	}
	sizes := make([]uint64, len(docs))
	if err := openTable(t, withColumn(r, format.KindSetSizes, sizes)).Verify(t.Context(), nil); !typed(err) || !strings.Contains(err.Error(), "set-sizes") {
		t.Errorf("other sizes: %v", err)
	}
}

func wholeBins(keys []uint64) (set []uint64) {
	for _, k := range keys {
		set = append(set, k>>9<<42)
	}
	return slices.Compact(set)
}

// TestMergeSets checks that the index of a merged table agrees with its texts, whichever documents
// are left out and however small the pieces are.
func TestMergeSets(t *testing.T) {
	for _, piece := range []int{0, 1, 2000} {
		var inputs []MergeInput
		for i, n := range []int{700, 1, 1500, 90, 1100} {
			data, _ := setsTable(t, n)
			inputs = append(inputs, MergeInput{Reader: openTable(t, data), Keep: func(doc uint32) (bool, error) {
				return i%2 == 1 || doc%uint32(i+2) > 0 && doc < 1200, nil
			}})
		}
		for i, in := range inputs[1:] { // IDs must differ, and only the first input has all documents
			keep := in.Keep
			inputs[i+1].Keep = func(doc uint32) (bool, error) {
				id, err := in.ID(doc)
				for _, other := range inputs[:i+1] {
					if _, found, e := other.Lookup(id); err != nil || e != nil || found {
						return false, cmp.Or(err, e)
					}
				}
				return keep(doc)
			}
		}
		var out bytes.Buffer
		info, _, err := Merge(t.Context(), &out, inputs[0].Params(), inputs, MergeOptions{Workers: 3, Piece: piece})
		if err != nil {
			t.Fatal(err)
		}
		r := openTable(t, append(out.Bytes(), make([]byte, 64)...)[:out.Len()])
		if err := r.Verify(t.Context(), nil); err != nil || info.Docs < 1000 || r.t.Sets.Keys.Len() < 10_000 {
			t.Errorf("pieces of %d: %d documents, %d keys, %v", piece, info.Docs, r.t.Sets.Keys.Len(), err)
		}
	}
}
