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
	"github.com/simdb/simdb/sstable"
)

// viewOf returns a view of documents with these texts, whose IDs are their numbers: the first half
// of them in a table, the others in a memtable.
func viewOf(t *testing.T, texts []string, sketch int) *view.View {
	t.Helper()
	params := sstable.Params{Tokenizer: 1, Hash: 1, Shingle: 3, Layout: sstable.DefaultLayout, StoreText: true, Sketch: uint32(sketch), MinJaccard: 0.65}
	c := &view.Config{Memory: 1 << 30}
	c.SetParams(params)
	var docs []sstable.Document
	for i, text := range texts {
		d := sstable.Document{ID: fmt.Append(nil, i), Text: []byte(text), Seq: uint64(i) + 1, Time: int64(i)}
		c.Texts.Fill(&d, text)
		docs = append(docs, d)
	}
	half := docs[:len(docs)/2]
	slices.SortStableFunc(half, func(a, b sstable.Document) int { return a.Compare(&b) })
	var file bytes.Buffer
	w, err := sstable.NewWriter(&file, params, sstable.WriterOptions{Docs: len(half)})
	for i := range half {
		if err == nil {
			err = w.Add(&half[i])
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := sstable.OpenBytes(file.Bytes(), "table")
	if err != nil {
		t.Fatal(err)
	}
	m := view.NewMemtable(params.MinJaccard)
	for _, d := range docs[len(half):] {
		m.Add(&d)
	}
	m.Publish()
	v := new(view.View)
	parts := []view.Part{{Table: &view.Table{Reader: r}, Dead: view.NewTombstones(nil)}}
	v.Take(c, uint64(len(docs)), view.NewVersion(parts), nil, m, new(view.AllowedPairs))
	v.Since = math.MinInt64
	t.Cleanup(func() { v.Close() })
	return v
}

// randomText returns some of forty passages of twenty words, each word now and then another one.
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

// TestTextScores drops sets when memory is short, and scores the same.
func TestTextScores(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	texts := make([]string, 250)
	for i := range texts {
		texts[i] = randomText(r)
	}
	j, err := newJoinSet(t.Context(), viewOf(t, texts, 16), view.Criterion{Jaccard: true, T: 0.5, Verified: true})
	if err != nil {
		t.Fatal(err)
	}
	large := j.newTextScores(textMemory)
	for _, memory := range []int{0, 100, 1000} {
		small := j.newTextScores(memory)
		for n := range uint32(40 * 40) {
			a, b := n/40*5, n%40*5 // in the table and in the memtable
			x, err := small.score(a, b)
			y, err2 := large.score(a, b)
			if x != y || err != nil || err2 != nil {
				t.Fatalf("memory %d: %g (%v), want %g (%v)", memory, x, err, y, err2)
			}
			kept := 0
			for _, set := range small.kept {
				kept += len(set)
			}
			if kept > memory || kept+small.room != memory {
				t.Fatalf("%d shingles kept with memory for %d, %d free", kept, memory, small.room)
			}
		}
	}
}

// TestEqualSets tells documents apart whose sketches are equal, and their texts not.
func TestEqualSets(t *testing.T) {
	r := rand.New(rand.NewPCG(67, 68))
	base := randomText(r) + randomText(r)
	texts := make([]string, 120)
	for i := range texts {
		texts[i] = base + fmt.Sprintf(" and then %d", r.IntN(30))
	}
	v := viewOf(t, texts, 1)
	j, err := newJoinSet(t.Context(), v, view.Criterion{Jaccard: true, T: 0.5, Verified: true})
	if err != nil {
		t.Fatal(err)
	}
	text := func(item uint32) string {
		id, err := j.place(item).ID()
		if err != nil {
			t.Fatal(err)
		}
		var n int
		fmt.Sscan(string(id), &n)
		return texts[n]
	}
	groups := 0
	for a := range uint32(j.items) {
		if j.sets[a] == a {
			groups++
		}
		for b := range a {
			x, y := text(a), text(b)
			equal := slices.Equal(v.Texts.Shingler().Set([]byte(x)), v.Texts.Shingler().Set([]byte(y)))
			if equal != (j.sets[a] == j.sets[b]) {
				t.Fatalf("%s and %s: equal sets %v, grouped %v", x, y, equal, !equal)
			}
		}
	}
	if groups == 1 || groups == j.items {
		t.Errorf("%d groups of %d documents", groups, j.items)
	}
}
