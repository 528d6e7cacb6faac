package units

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/token"
)

// TestPassages compares the passages of random documents of few different words with those of a map
// of all windows.
func TestPassages(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	found := 0
	for round := range 150 {
		n, least, known := 1+r.IntN(9), 2+max(0, r.IntN(6)-3), max(0, r.IntN(6)-3)
		o := Options{Level: Passage, MinWords: n, Symbols: round%5 == 4}
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
					text.WriteString([]string{"a", "b", "C", "ärger", "一二", "e\u0301"}[r.IntN(6)])
					text.WriteString([]string{" ", "\n\n", ". ", " == "}[r.IntN(4)])
				}
			}
			docs = append(docs, text.String()[:min(text.Len(), 2000)])
		}
		var all []unit
		texts := make([][]string, len(docs))
		for d, text := range docs {
			texts[d] = slices.Collect(token.Split(text, o.Symbols))
			for i := range max(0, len(texts[d])-n+1) {
				all = append(all, unit{strings.Join(texts[d][i:i+n], " "), At(uint32(d), uint32(i))})
			}
		}
		want := model(all, least, known)
		found += len(want)
		for _, memory := range []int64{1 << 20, 3000} {
			got := repeats(t, docs, o, memory, least, known)
			if !slices.Equal(single(got), want) {
				t.Fatalf("round %d, %d words, %d bytes: %d repeats, want %d", round, n, memory, len(single(got)), len(want))
			}
			for d, text := range docs {
				var removed []Removed
				for _, rep := range got {
					if int(rep.At.Doc()) == d {
						removed = o.Remove(removed, rep)
					}
				}
				if want := removedByModel(want, uint32(d), n, len(texts[d])); !slices.Equal(removed, want) {
					t.Fatalf("round %d, %d words, %d bytes: of %q is removed %v, want %v", round, n, memory, text, removed, want)
				}
				if spans := o.Split(nil, text); len(spans) != len(texts[d]) {
					t.Fatalf("%q has %d words, want %d", text, len(spans), len(texts[d]))
				}
			}
		}
	}
	if found < 10_000 {
		t.Errorf("%d windows come again: this tests too little", found)
	}
}

// removedByModel returns the passages of a document of so many words, given all windows that come
// again, of n words.
func removedByModel(windows []Repeat, doc uint32, n, words int) (all []Removed) {
	gone, first := make([]bool, words), map[int]Place{}
	for _, w := range windows {
		if w.At.Doc() != doc {
			continue
		}
		from, to := int(w.At.Unit()), int(w.At.Unit())+n
		if w.First.Doc() == doc {
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
			all = append(all, Removed{uint32(i), uint32(i) + 1, first[i]})
		}
	}
	return all
}

// The first window of a text that repeats itself stays, whatever its period is.
func TestPassageWithinItself(t *testing.T) {
	for period := 1; period < 12; period++ {
		o := Options{Level: Passage, MinWords: 5}
		text := strings.Repeat(strings.Join(strings.Split("abcdefghijkl"[:period], ""), " ")+" ", 20)
		var removed []Removed
		for _, rep := range repeats(t, []string{text}, o, 1<<20, 2, 0) {
			removed = o.Remove(removed, rep)
		}
		from := uint32(max(5, period))
		if want := []Removed{{from, uint32(20 * period), At(0, from-uint32(period))}}; !slices.Equal(removed, want) {
			t.Errorf("period %d: %v, want %v", period, removed, want)
		}
	}
}
