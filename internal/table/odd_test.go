package table

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/minhash"
)

// oddDocs returns documents with edited copies of a few texts, their sketches and their sets.
func oddDocs(r *rand.Rand, n int, p Params) (docs []Document, sets [][]uint64) {
	f := features.NewFingerprinter(features.Params{Shingle: int(p.Shingle), Sketch: int(p.Sketch), Seed: p.Seed})
	hasher := p.NewSetHasher()
	var texts [][]string
	for i := range n {
		words := make([]string, 1+r.IntN(1+r.IntN(900)))
		for w := range words {
			words[w] = fmt.Sprint("w", r.IntN(5000))
		}
		if i > 0 && r.IntN(4) > 0 {
			words = slices.Clone(texts[r.IntN(len(texts))])
			for range r.IntN(1 + len(words)/4) {
				words[r.IntN(len(words))] = fmt.Sprint("x", r.IntN(5000))
			}
		}
		texts = append(texts, words)
		d := Document{ID: fmt.Append(nil, "d", i), Text: []byte(strings.Join(words, " "))}
		s := f.Bytes(d.Text)
		d.Fingerprint, d.HasFingerprint, d.Sketch = s.Fingerprint, !s.Empty, slices.Clone(s.Sketch)
		docs = append(docs, d)
	}
	docs = sortedDocs(docs)
	for i := range docs {
		sets = append(sets, hasher.Set(docs[i].Text))
	}
	return docs, sets
}

// TestOdd compares searches with odd sketches with brute force: they find what has the score and is
// not rejected, and whatever is as similar as the threshold of the query is not.
func TestOdd(t *testing.T) {
	r := rand.New(rand.NewPCG(52, 1))
	p := testParams
	p.Sketch, p.MinJaccard = 32, 0
	docs, sets := oddDocs(r, 1200, p)
	data, _ := buildTable(t, p, WriterOptions{SegmentDocs: 500}, docs)
	reader := openTable(t, data)
	if err := reader.Verify(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var s JaccardSearcher
	rejected := 0
	for i := 0; i < len(docs); i += 7 {
		for _, at := range []float64{0.5, 0.8, 0.95} {
			low := max(minhash.LeastScore(32, at), 0.02)
			odd := oddsketch.NewQuery(sets[i], at)
			q := JaccardQuery{Sketch: docs[i].Sketch, T: low, Odd: func() *oddsketch.Query { return odd }}
			var want []JaccardHit
			scored := bruteJaccard(docs, q.Sketch, 32, low)
			for _, h := range scored {
				s := oddsketch.Of(sets[h.Doc])
				if _, ok := odd.Differ(&s); ok {
					want = append(want, h)
				} else if rejected++; features.Hashes(sets[i]) != nil && p.NewSetHasher().Jaccard(sets[i], sets[h.Doc]) >= at {
					t.Fatalf("document %d is rejected for %d at %v", h.Doc, i, at)
				}
			}
			for _, s.s.ForcePostings = range []bool{false, true} {
				hits, err := s.Jaccard(reader, q, nil)
				slices.SortFunc(hits, func(a, b JaccardHit) int { return cmp.Compare(a.Doc, b.Doc) })
				if err != nil || !slices.Equal(hits, want) {
					t.Fatalf("document %d at %v: %v, %v, want %v", i, at, hits, err, want)
				}
				var first []JaccardHit
				_, err = s.JaccardFirst(reader, q, nil, func(h JaccardHit) (bool, error) { first = append(first, h); return false, nil })
				slices.SortFunc(first, func(a, b JaccardHit) int { return cmp.Compare(a.Doc, b.Doc) })
				// Odd sketches may be ignored for a few documents before the first one that is not accepted.
				extra := slices.DeleteFunc(slices.Clone(first), func(h JaccardHit) bool { return slices.Contains(want, h) })
				extra = slices.DeleteFunc(extra, func(h JaccardHit) bool { return slices.Contains(scored, h) })
				if err != nil || len(extra) > 0 || len(first) > len(want)+16 || slices.ContainsFunc(want, func(h JaccardHit) bool { return !slices.Contains(first, h) }) {
					t.Fatalf("first of document %d at %v: %v, %v, want %v", i, at, first, err, want)
				}
			}
			var all []JaccardHit
			err := reader.JaccardRange(0, uint32(len(docs)), []JaccardQuery{q}, func(_ int, h JaccardHit) error { all = append(all, h); return nil })
			if err != nil || !slices.Equal(all, want) {
				t.Fatalf("range of document %d at %v: %v, %v, want %v", i, at, all, err, want)
			}
		}
	}
	if rejected < 500 {
		t.Errorf("%d candidates rejected", rejected)
	}
}

// TestOddWrong verifies a table with the odd sketch of another text.
func TestOddWrong(t *testing.T) {
	docs, sets := oddDocs(rand.New(rand.NewPCG(52, 2)), 300, testParams)
	wrong := oddsketch.Of(sets[7])
	docs[200].Odd = &wrong
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	if err := openTable(t, data).Verify(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "not the odd sketch of document 200") {
		t.Error(err)
	}
}

// TestOddMerged merges two tables, of which each document keeps its odd sketch.
func TestOddMerged(t *testing.T) {
	docs, _ := oddDocs(rand.New(rand.NewPCG(52, 3)), 400, testParams)
	var inputs []MergeInput
	for i := range 2 {
		var half []Document
		for j := i; j < len(docs); j += 2 {
			half = append(half, docs[j])
		}
		data, _ := buildTable(t, testParams, WriterOptions{SegmentDocs: 70}, half)
		inputs = append(inputs, MergeInput{Reader: openTable(t, data)})
	}
	var out bytes.Buffer
	if _, _, err := Merge(t.Context(), &out, testParams, inputs, MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	r, sets := openTable(t, out.Bytes()), testParams.NewSetHasher()
	var d Document
	for doc := range r.NumDocs() {
		if err := r.Document(doc, &d); err != nil {
			t.Fatal(err)
		}
		if odd, err := r.t.Sketches.Odd(doc); err != nil || len(d.Sketch) == 0 || odd != oddsketch.Of(sets.Brief(d.Text)) {
			t.Fatalf("document %d: %x, %v", doc, odd, err)
		}
	}
}
