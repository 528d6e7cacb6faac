package corpus

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// TestSetClasses checks that documents with equal sets, or with equal texts where texts are
// compared, form one class and are joined as one.
func TestSetClasses(t *testing.T) {
	const n = 3000
	for what, c := range map[string]struct {
		measure setjoin.Measure
		classes int
	}{
		"sets": {setjoin.Measure{}, 2}, "texts": {Levenshtein(0.9).Measure, 4},
	} {
		l := NewListing(Options{Sets: true, Measure: c.measure, Memory: 16 << 20, Dir: t.TempDir()})
		x := NewExtractor(t.Context(), features.Params{Shingle: 3}, l.Corpus)
		for i := range n {
			text := []string{"one two three four five", "One, two, three, four, five.", "six seven eight nine", "SIX seven eight nine", ""}[i%5]
			id := fmt.Sprint("d", i)
			l.AddID(id)
			must.Do(t, x.Add(&engine.Doc{ID: id, Text: text}, nil))
		}
		must.Do(t, x.Finish())
		x.Stop()
		defer l.Close()
		must.Do(t, l.Rank(t.Context()))
		all := must.Get(l.setClasses(context.Background()))(t)
		if all.N != c.classes || len(all.Items) != n/5*4 || !slices.Contains(all.Firsts(), 0) {
			t.Errorf("%s: %d classes of %d documents, first ones %v", what, all.N, len(all.Items), all.Firsts())
		}
		for class := range all.N {
			if docs := all.Items[all.First[class]:all.First[class+1]]; !slices.IsSorted(docs) || len(docs) != n/5*4/c.classes {
				t.Errorf("%s: class %d has %d documents", what, class, len(docs))
			}
		}
	}
}

// TestWithinCrowd checks that equal documents of different groups are not compared with each
// other if only documents of one group may match.
func TestWithinCrowd(t *testing.T) {
	const n = 3000
	for _, across := range []bool{false, true} {
		l := NewListing(Options{Sets: true, Fingerprints: true, Memory: 16 << 20, Dir: t.TempDir()})
		l.Groups = &collection.Groups{Across: across, Within: !across}
		defer l.Close()
		x := NewExtractor(t.Context(), features.Params{Shingle: 3}, l.Corpus)
		defer x.Stop()
		for i := range uint32(n) {
			of := collection.Group{In: i / 2}
			if across {
				of = collection.Group{Across: i / 2}
			}
			l.Groups.Of = append(l.Groups.Of, of)
			must.Do(t, x.Add(&engine.Doc{Text: "one two three four five"}, l.Groups))
		}
		must.Do(t, x.Finish())
		var compared atomic.Int64
		accept := func(a, b uint32) bool { compared.Add(1); return l.Groups.Accept(a, b) }
		stars, err := l.Sets.Stars(t.Context(), 0.8, setjoin.Options{Accept: func(a, b int) bool { return accept(uint32(a), uint32(b)) }})
		must.Do(t, err)
		apart := l.Groups.Apart(selfjoin.Apart{
			Involved: func(uint32) bool { return true }, Accept: accept, Group: func(n uint32) (uint64, bool) { return l.Groups.Number(n), true },
		})
		keeper, _, err := l.PrintStars(t.Context(), nil, 3, 0, &apart, selfjoin.Options{})
		must.Do(t, err)
		for i := range uint32(n) {
			want := i &^ 1 // the first of its group
			if across && i != 1 {
				want = 0
			} else if across {
				want = 1
			}
			if keeper[i] != want || stars.Keeper[i] != want {
				t.Fatalf("across %v: %d joins %d and %d, not %d", across, i, keeper[i], stars.Keeper[i], want)
			}
		}
		if count := compared.Load(); count > 10*n {
			t.Errorf("across %v: %d documents were compared %d times", across, n, count)
		}
	}
}
