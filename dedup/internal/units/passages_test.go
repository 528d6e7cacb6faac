package units

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/features"
)

// TestPassages compares the passages of random documents of few different words with a map of all
// windows.
func TestPassages(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	found := 0
	specs := []features.Spec{{}, {}, {}, {Symbols: true}, {Fold: []string{"width", "accents"}}, {StopWords: []string{"a", "b"}}, {Mask: []string{"numbers", "b+[^a]*c"}}}
	for i := range specs {
		var err error
		if specs[i], err = specs[i].Canonical(); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 100 {
		n, least, known := 1+r.IntN(9), 2+max(0, r.IntN(6)-3), max(0, r.IntN(6)-3)
		o := Options{Level: Passage, MinWords: n, Spec: specs[round%len(specs)]}
		var docs []string
		for range 1 + r.IntN(40) {
			var text strings.Builder
			for range r.IntN(50) {
				switch r.IntN(20) {
				case 0:
					if len(docs) > 0 {
						text.WriteString(docs[r.IntN(len(docs))] + " ")
					}
				case 1:
					text.WriteString(strings.Repeat([]string{"a ", "b, A ", "a b C "}[r.IntN(3)], r.IntN(2*n+2)))
				default:
					text.WriteString([]string{"a", "b", "C", "ärger", "一二", "e\u0301", "12"}[r.IntN(7)])
					text.WriteString([]string{" ", "\n\n", ". ", " == "}[r.IntN(4)])
				}
			}
			docs = append(docs, text.String()[:min(text.Len(), 2000)])
		}
		found += comparePassages(t, docs, o, least, known)
	}
	if found < 5_000 {
		t.Errorf("%d windows come again: this tests too little", found)
	}
}

// TestLargePassages compares texts with too many windows for a batch, between small ones.
func TestLargePassages(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var docs []string
	for d := range 4 {
		var text strings.Builder
		for text.Len() < []int{100, maxAhead + 1}[d%2] {
			if from := r.IntN(maxAhead); d > 1 && r.IntN(100) == 0 {
				text.WriteString(strings.ToUpper(docs[1][from:min(from+r.IntN(10_000), len(docs[1]))]))
			}
			fmt.Fprint(&text, r.IntN(1000), " ")
		}
		docs = append(docs, text.String())
	}
	if n := comparePassages(t, docs, Options{Level: Passage, MinWords: 20}, 2, 0); n < 2*maxFound {
		t.Errorf("%d windows come again: this tests too little", n)
	}
}

// TestPassagesOfLicenses compares texts that people have written, and copied from each other.
func TestPassagesOfLicenses(t *testing.T) {
	var docs []string
	for _, doc := range corpora.Docs(t, "../../../examples/licenses.jsonl.gz") {
		docs = append(docs, doc.Text)
	}
	docs = docs[:len(docs)/8]
	for _, n := range []int{8, 50} {
		if found := comparePassages(t, docs, Options{Level: Passage, MinWords: n}, 2, 0); found < 10_000 {
			t.Errorf("%d windows of %d words come again: this tests too little", found, n)
		}
	}
}

// comparePassages compares the passages of documents with a map of all windows, and returns the
// number of repeated windows.
func comparePassages(t *testing.T, docs []string, o Options, least, known int) int {
	t.Helper()
	n := o.MinWords
	var all []unit
	texts := make([][]string, len(docs))
	for d, text := range docs {
		texts[d] = o.Spec.Words(text)
		for i := range max(0, len(texts[d])-n+1) {
			all = append(all, unit{strings.Join(texts[d][i:i+n], " "), At(uint32(d), uint32(i))})
		}
	}
	want, split := model(all, least, known, false), o.Splitter()
	for _, memory := range []int64{1 << 20, 3000} {
		got := repeats(t, docs, o, memory, least, known, false)
		if !slices.Equal(single(got), want) {
			t.Fatalf("%d words, %d bytes: %d repeats, want %d", n, memory, len(single(got)), len(want))
		}
		removed, windows := map[int][]Removed{}, map[int][]Repeat{}
		for _, rep := range got {
			d := int(rep.At.Doc())
			removed[d] = o.Remove(removed[d], rep)
			windows[d] = append(windows[d], single([]Repeat{rep})...)
		}
		for d, text := range docs {
			removed := removed[d]
			if want := removedByModel(windows[d], n, len(texts[d])); !slices.Equal(removed, want) {
				t.Fatalf("%d words, %d bytes: of %.1000q is removed %v, want %v", n, memory, text, removed, want)
			}
			if spans := split(nil, text); len(spans) != len(texts[d]) {
				t.Fatalf("%.1000q has %d words, want %d", text, len(spans), len(texts[d]))
			}
		}
	}
	return len(want)
}

// removedByModel returns the removed passages of a document with that many words, given its
// repeated windows of n words.
func removedByModel(windows []Repeat, n, words int) (all []Removed) {
	gone, first := make([]bool, words), map[int]Place{}
	for _, w := range windows {
		from, to := int(w.At.Unit()), int(w.At.Unit())+n
		if w.First.Doc() == w.At.Doc() {
			from = max(from, int(w.First.Unit())+n)
		}
		if _, ok := first[from]; !ok {
			first[from] = w.First + Place(from) - Place(w.At.Unit())
		}
		for i := from; i < to; i++ {
			gone[i] = true
		}
	}
	for i := range gone {
		switch {
		case !gone[i]:
		case i > 0 && gone[i-1]:
			all[len(all)-1].To++
		default:
			all = append(all, Removed{From: uint32(i), To: uint32(i) + 1, First: first[i]})
		}
	}
	return all
}

// TestPassageWithinItself checks that the first window of a text that repeats itself stays, for
// any period.
func TestPassageWithinItself(t *testing.T) {
	for period := 1; period < 12; period++ {
		o := Options{Level: Passage, MinWords: 5}
		text := strings.Repeat(strings.Join(strings.Split("abcdefghijkl"[:period], ""), " ")+" ", 20)
		var removed []Removed
		for _, rep := range repeats(t, []string{text}, o, 1<<20, 2, 0, false) {
			removed = o.Remove(removed, rep)
		}
		from := uint32(max(5, period))
		if want := []Removed{{From: from, To: uint32(20 * period), First: At(0, from-uint32(period))}}; !slices.Equal(removed, want) {
			t.Errorf("period %d: %v, want %v", period, removed, want)
		}
	}
}
