package cluster

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// viewOf returns a view of documents with these texts, whose IDs are their numbers: the first
// half is in a table, the rest in a memtable.
func viewOf(t *testing.T, texts []string, sketch int) *view.View {
	t.Helper()
	return viewWith(t, texts, sketch, writeTable)
}

// viewWith is viewOf with a table that write creates from documents in table order.
func viewWith(t *testing.T, texts []string, sketch int, write func(*testing.T, table.Params, []table.Document) []byte) *view.View {
	t.Helper()
	params := table.Params{Tokenizer: 1, Hash: 1, Shingle: 3, Layout: table.DefaultLayout, StoreText: true, Sketch: uint32(sketch), MinJaccard: 0.65}
	c := &view.Config{Memory: 1 << 30}
	c.SetParams(params)
	var docs []table.Document
	for i, text := range texts {
		d := table.Document{ID: fmt.Append(nil, i), Text: []byte(text), Seq: uint64(i) + 1, Time: int64(i)}
		c.Texts.Fill(&d, text)
		docs = append(docs, d)
	}
	half := docs[:len(docs)/2]
	slices.SortStableFunc(half, func(a, b table.Document) int { return a.Compare(&b) })
	r := must.Get(table.OpenBytes(write(t, params, half), "table"))(t)
	m := view.NewMemtable(params)
	for _, d := range docs[len(half):] {
		m.Add(&d)
	}
	m.Publish()
	v := new(view.View)
	parts := []view.Part{{Table: &view.Table{Reader: r}, Dead: view.NewTombstones(nil)}}
	v.Take(c, uint64(len(docs)), view.NewVersion(parts, view.NewSmallTables(0, nil, func() bool { return true })), nil, m, new(view.AllowedPairs))
	v.Since = math.MinInt64
	t.Cleanup(func() { v.Close() })
	return v
}

// writeTable writes a table that stores texts in the order of documents.
func writeTable(t *testing.T, params table.Params, docs []table.Document) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := table.NewWriter(&file, params, table.WriterOptions{})
	for i := range docs {
		if err == nil {
			err = w.Add(&docs[i])
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	must.Do(t, err)
	return file.Bytes()
}

// writeShuffled writes a table without sketches that stores texts in another order.
func writeShuffled(t *testing.T, params table.Params, docs []table.Document) []byte {
	t.Helper()
	var file bytes.Buffer
	w := must.Get(table.NewBatchWriter(t.Context(), &file, params, table.BatchOptions{}))(t)
	defer w.Close()
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(docs))
	must.Get(w.AddRecords(len(docs), 0, func(i int) (text, fields []byte) { return docs[order[i]].Text, nil }))(t)
	b := &table.Batch{FirstSeq: 1, Strings: &table.Arena{}, Records: make([]uint32, len(docs)), Bare: make([]uint64, len(docs)/64+1)}
	for i, at := range order {
		b.Records[at] = uint32(i)
	}
	for i := range docs {
		b.IDs = append(b.IDs, b.Strings.AddString(string(docs[i].ID)))
		b.Fingerprints = append(b.Fingerprints, uint64(docs[i].Fingerprint))
		if !docs[i].HasFingerprint {
			b.Bare[i/64] |= 1 << (i % 64)
		}
	}
	must.Get(w.Write(b))(t)
	return file.Bytes()
}

// randomText returns some of forty passages of twenty words, with an occasional word replaced.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(14) {
		s := r.IntN(40)
		for w := range 20 {
			fmt.Fprintf(&b, "word%d ", s*100+w+r.IntN(40)/39)
		}
	}
	return b.String()
}

// TestAddTexts gathers texts in the storage order of a table: items are nevertheless in the order
// of documents, and each has the text of its document and the first item with that text.
func TestAddTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	texts := make([]string, 3000)
	for i := range texts {
		if texts[i] = randomText(r); i > 0 && r.IntN(4) == 0 {
			texts[i] = texts[r.IntN(i)]
		}
	}
	for _, memory := range []int64{1 << 30, 1} { // texts stay in memory, or are read again
		v := viewWith(t, texts, 0, writeShuffled)
		v.Memory = memory
		j := &joinSet{v: v, by: view.Criterion{Text: view.Levenshtein, T: 0.9}}
		must.Do(t, j.addTexts(t.Context()))
		if held := j.text.ends != nil; held != (memory > 1) {
			t.Errorf("with %d bytes of memory texts are held: %t", memory, held)
		}
		if !slices.IsSorted(j.locs) || j.items != len(texts)-count(texts, "") {
			t.Errorf("%d items, or not in the order of documents", j.items)
		}
		sets := firstsOf(j)
		first, scratch := map[string]uint32{}, []byte(nil)
		for i := range uint32(j.items) {
			want := must.Get(j.place(i).Text(&scratch))(t)
			text := string(want)
			if got, err := j.textOf(i, &scratch); err != nil || string(got) != text {
				t.Fatalf("item %d: another text, or %v", i, err)
			}
			if _, ok := first[text]; !ok {
				first[text] = i
			}
			if sets[i] != first[text] || j.text.of[i] != j.text.of[first[text]] {
				t.Fatalf("item %d is in the set of %d, not of %d", i, sets[i], first[text])
			}
		}
	}
}

// firstsOf returns, by item, the first item that is equal.
func firstsOf(j *joinSet) []uint32 {
	firsts := make([]uint32, j.items)
	for class, first := range j.classes.Firsts() {
		s := j.classes.Span(uint32(class))
		for at := s.Lo; at < s.Hi; at++ {
			firsts[j.classes.Item(at)] = first
		}
	}
	return firsts
}

// count returns how many texts are equal to text.
func count(texts []string, text string) (n int) {
	for _, s := range texts {
		if s == text {
			n++
		}
	}
	return n
}

// TestEqualSets distinguishes documents with equal sketches but different texts.
func TestEqualSets(t *testing.T) {
	r := rand.New(rand.NewPCG(67, 68))
	base := randomText(r) + randomText(r)
	texts := make([]string, 120)
	for i := range texts {
		texts[i] = base + fmt.Sprintf(" and then %d", r.IntN(30))
	}
	v := viewOf(t, texts, 1)
	j := must.Get(newJoinSet(t.Context(), v, view.Criterion{Jaccard: true, T: 0.5, Verified: true}, nil))(t)
	text := func(item uint32) string {
		id := must.Get(j.place(item).ID())(t)
		var n int
		fmt.Sscan(string(id), &n)
		return texts[n]
	}
	groups, sets := 0, firstsOf(j)
	for a := range uint32(j.items) {
		if sets[a] == a {
			groups++
		}
		for b := range a {
			x, y := text(a), text(b)
			equal := slices.Equal(v.Texts.Sets().Set([]byte(x)), v.Texts.Sets().Set([]byte(y)))
			if equal != (sets[a] == sets[b]) {
				t.Fatalf("%s and %s: equal sets %v, grouped %v", x, y, equal, !equal)
			}
		}
	}
	if groups == 1 || groups == j.items {
		t.Errorf("%d groups of %d documents", groups, j.items)
	}
}
