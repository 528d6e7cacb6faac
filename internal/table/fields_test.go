package table

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// fieldValues are values of all kinds; %d is replaced by a number.
var fieldValues = []string{`"en"`, `"https://www.example.org/%d"`, `%d`, `-%d.5`, `%d.0`, `"%d"`, `1e%d`, `true`, `null`, `""`, `[%d]`, `{"n":%d}`,
	`"` + strings.Repeat("long", 40) + `%d"`, `123456789012345678901234567890%d`, `"\u0000%d"`, `"caf\u00e9"`, `"` + strings.Repeat("0", 200) + `%d"`}

func fieldsTable(t *testing.T, r *rand.Rand, n int) ([]byte, Params, []Document) {
	p := testParams
	p.Index = "v,meta.v"
	value := func() string {
		v := fieldValues[r.IntN(len(fieldValues))]
		if strings.Contains(v, "%d") {
			v = fmt.Sprintf(v, r.IntN(30))
		}
		return v
	}
	docs := testDocs(r, n)
	for i := range docs {
		docs[i].ID = fmt.Appendf(nil, "%d/%d", n, i)
		switch docs[i].Fields = nil; r.IntN(4) {
		case 0:
			docs[i].Fields = fmt.Appendf(nil, `{"meta":{"v":%s},"v":1,"v":%s}`, value(), value())
		case 1, 2:
			docs[i].Fields = fmt.Appendf(nil, `{"w":2,"v":%s}`, value())
		}
	}
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	return data, p, docs
}

// checkFields compares searches in indexed fields with all documents.
func checkFields(t *testing.T, r *Reader, rng *rand.Rand, docs []Document) (found int) {
	paths := r.Params().Indexed()
	for range 300 {
		ranges := randomRanges(rng, len(paths))
		want := docsWithin(docs, paths, ranges)
		got, err := r.FieldCandidates(ranges)
		n, err2 := r.CountFields(ranges)
		if err != nil || err2 != nil || !slices.Equal(got, want) || n < len(want) || len(ranges) == 1 && n != len(want) {
			t.Fatalf("%+v: %d, %d counted, want %d; %v %v", ranges, len(got), n, len(want), err, err2)
		}
		found += len(got)
	}
	return found
}

// randomRanges returns one to three ranges of n fields.
func randomRanges(rng *rand.Rand, n int) (ranges []FieldRange) {
	for range 1 + rng.IntN(3) {
		f := FieldRange{Field: rng.IntN(n), Numbers: rng.IntN(2) == 0}
		bounds := []string{"", "1", "-3.5", "12", "1e20", "123456789012345678901234567890", "en", "https://www.", "https://www.example.org/7", "long", "\x00", strings.Repeat("long", 40) + "7"}
		if f.Numbers {
			bounds = bounds[:6]
		}
		f.Above, f.Below = rng.IntN(3) == 0, rng.IntN(3) == 0
		if f.From, f.To = bounds[rng.IntN(len(bounds))], bounds[rng.IntN(len(bounds))]; rng.IntN(2) == 0 {
			f.To = f.From
		}
		ranges = append(ranges, f)
	}
	return ranges
}

// docsWithin returns the documents with a value in one of ranges, as far as truncated keys show.
func docsWithin(docs []Document, paths [][]string, ranges []FieldRange) (found []uint32) {
	for i := range docs {
		if slices.ContainsFunc(ranges, func(f FieldRange) bool { return within(f, jsonfield.Of(docs[i].Fields, paths[f.Field])) }) {
			found = append(found, uint32(i))
		}
	}
	return found
}

// within reports whether a value is in the range, as far as truncated keys show.
func within(f FieldRange, raw []byte) bool {
	if raw == nil {
		return false
	}
	value := jsonfield.Value(raw)
	key := jsonfield.TextKey
	if f.Numbers {
		if !jsonfield.IsNumber(value) {
			return false
		}
		key = func(v []byte) []byte { return jsonfield.AppendNumberKey(nil, v) }
	}
	in := func(bound string, sign int, without bool) bool {
		k := key([]byte(bound))
		c := sign * bytes.Compare(key(value), k)
		return bound == "" || c > 0 || c == 0 && (!without || len(k) == jsonfield.MostKey)
	}
	return in(f.From, 1, f.Above) && in(f.To, -1, f.Below)
}

// TestFieldIndex searches indexed fields of documents in memory from several goroutines, while
// documents are added. Every search must find what a scan of the documents finds.
func TestFieldIndex(t *testing.T) {
	_, p, docs := fieldsTable(t, rand.New(rand.NewPCG(37, 3)), exhaustive.Size(1500, 6000))
	paths := p.Indexed()
	var x FieldIndex
	var n atomic.Int64 // documents added so far
	var all sync.WaitGroup
	for g := range uint64(3) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(37, 4+g))
			for range 100 {
				some := docs[:min(n.Add(rng.Int64N(80)), int64(len(docs)))]
				if rng.IntN(3) == 0 { // an older view
					some = some[:rng.IntN(len(some)+1)]
				}
				ranges := [][]FieldRange{randomRanges(rng, len(paths)), randomRanges(rng, len(paths))}[rng.IntN(2):]
				got := x.Candidates(&p, len(some), func(doc int) []byte { return docs[doc].Fields }, ranges)
				if !slices.ContainsFunc(ranges, func(r []FieldRange) bool { return slices.Equal(got, docsWithin(some, paths, r)) }) {
					t.Errorf("%+v of %d documents: %d, which no range alone has", ranges, len(some), len(got))
				}
				for _, r := range ranges { // a document is in each of three ranges, at most
					if most := 3 * len(docsWithin(docs, paths, r)); len(got) > most {
						t.Errorf("%+v: %d documents, not the fewest", ranges, len(got))
					}
				}
			}
		})
	}
	all.Wait()
}

// TestFields compares searches in indexed fields with a scan of all documents, in written tables
// and in merged ones, with all kinds of documents left out.
func TestFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 1))
	var inputs []MergeInput
	var kept []Document
	var p Params
	for i, n := range []int{1, 700, 0, 1500, 90} {
		data, params, docs := fieldsTable(t, rng, n)
		p = params
		r := openTable(t, data)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if found := checkFields(t, r, rng, docs); n > 600 && found < 1000 {
			t.Errorf("%d documents: only %d are found", n, found)
		}
		keep := func(doc uint32) (bool, error) { return i == 4 || doc%3 > 0, nil }
		for doc := range docs {
			if ok, _ := keep(uint32(doc)); ok {
				kept = append(kept, docs[doc])
			}
		}
		inputs = append(inputs, MergeInput{Reader: r, Keep: keep})
	}
	var out bytes.Buffer
	if _, _, err := Merge(t.Context(), &out, p, inputs, MergeOptions{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	r := openTable(t, append(out.Bytes(), make([]byte, 64)...)[:out.Len()])
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkFields(t, r, rng, sortedDocs(kept))
}

// TestVerifyFields changes lists of indexed fields and makes the checksums right: Verify must
// notice lists that disagree with the fields, and a merge those that are not sorted.
func TestVerifyFields(t *testing.T) {
	data, p, _ := fieldsTable(t, rand.New(rand.NewPCG(37, 2)), 400)
	r := openTable(t, data)
	l := &r.t.Fields[0]
	docs, err := l.AppendDocs(nil, 0, l.Docs.Len())
	if err != nil || len(docs) < 200 {
		t.Fatal(len(docs), err)
	}
	for name, change := range map[string]func(d []uint64){
		"none":          func([]uint64) {},
		"another":       func(d []uint64) { d[len(d)-1] ^= 1 },
		"out of order":  func(d []uint64) { slices.Reverse(d) },
		"none such":     func(d []uint64) { d[7] = 400 },
		"there twice":   func(d []uint64) { d[20] = d[19] },
		"all of a text": func(d []uint64) { clear(d) },
	} {
		values := make([]uint64, len(docs))
		for i, doc := range docs {
			values[i] = uint64(doc)
		}
		change(values)
		damaged, err := OpenBytes(withColumn(r, format.KindValueDocs, values), "test.sst")
		if err == nil {
			err = damaged.Verify(t.Context(), nil)
		}
		if (err != nil) != (name != "none") || err != nil && (!typed(err) || !strings.Contains(err.Error(), "value")) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "out of order" {
			var out bytes.Buffer
			if _, _, err := Merge(t.Context(), &out, p, []MergeInput{{Reader: damaged}}, MergeOptions{}); !typed(err) {
				t.Errorf("a merge finds %v", err)
			}
		}
	}
	for list := range fieldidx.Lists * p.NumIndexed() {
		if r.t.Section(format.KindValues, uint16(list)) == nil {
			t.Errorf("no list %d", list)
		}
	}
}
