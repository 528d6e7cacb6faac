package corpus

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
)

// TestSetClasses: documents of equal sets, or of equal texts where these are compared, are one
// class, and are joined as one.
func TestSetClasses(t *testing.T) {
	const n = 3000
	for what, c := range map[string]struct {
		measure setjoin.Measure
		classes int
	}{
		"sets": {setjoin.Measure{}, 2}, "texts": {Levenshtein(0.9).Measure, 4},
	} {
		l := &Listing{Corpus: New(Options{Sets: true, Measure: c.measure, Memory: 16 << 20, Dir: t.TempDir()})}
		x := NewExtractor(t.Context(), features.Params{Shingle: 3}, l.Corpus)
		for i := range n {
			text := []string{"one two three four five", "One, two, three, four, five.", "six seven eight nine", "SIX seven eight nine", ""}[i%5]
			id := fmt.Sprint("d", i)
			l.AddID(id)
			if err := x.Add(&engine.Doc{ID: id, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Finish(); err != nil {
			t.Fatal(err)
		}
		x.Stop()
		defer l.Close()
		if err := l.Rank(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := l.setClasses(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(all.ends) != c.classes || len(all.docs) != n/5*4 || !slices.Contains(all.firsts(), 0) {
			t.Errorf("%s: %d classes of %d documents, first ones %v", what, len(all.ends), len(all.docs), all.firsts())
		}
		for class := range all.ends {
			if docs := all.of(uint32(class)); !slices.IsSorted(docs) || len(docs) != n/5*4/c.classes {
				t.Errorf("%s: class %d has %d documents", what, class, len(docs))
			}
		}
	}
}
