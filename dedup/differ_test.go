package dedup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// catalogue returns names that differ in few words, some of them the same words.
func catalogue(r *rand.Rand, n int) (names []string) {
	for i := range n {
		words := strings.Fields(fmt.Sprintf("item %d of part %d in shelf %d of hall %d on floor %d", i/4, i/4, i/4, i/4, i/4))
		switch r.IntN(5) {
		case 0:
			words = append(words, "sequela")
		case 1:
			words[2] = []string{"for", "from"}[r.IntN(2)]
		case 2:
			words[5] = fmt.Sprint("typo", r.IntN(1e9))
		}
		names = append(names, strings.Join(words, " "))
	}
	return names
}

// TestDifferences compares the differences that a report names with those of all audit rows.
func TestDifferences(t *testing.T) {
	ctx, r := context.Background(), rand.New(rand.NewPCG(5, 6))
	rule := must.Get(ParsePairRule("JACCARD >= 0.5 OR LEVENSHTEIN >= 0.7 AND NUMBERS(a) = NUMBERS(b)"))(t)
	for _, by := range []Job{{By: engine.Jaccard(0.5)}, {By: engine.Levenshtein(0.7)}, {By: engine.Near(5)}, {Rule: rule}} {
		for _, keep := range []Keep{{First}, {Longest, Last}} {
			names := catalogue(r, 900)
			job := Job{By: by.By, Rule: by.Rule, Keep: keep, Figures: true, Columns: Columns{"lacks", "adds"}}
			result := must.Get(job.Run(ctx, Strings(slices.Values(names))))(t)
			counts, dropped := map[Difference]int64{}, int64(0)
			for row, err := range result.Dropped(ctx) {
				must.Do(t, err)
				dropped++
				if *row.Lacks != "" || *row.Adds != "" {
					counts[Difference{Lacks: *row.Lacks, Adds: *row.Adds}]++
				}
			}
			recurring, most := int64(0), int64(0)
			for _, n := range counts {
				if most = max(most, n); n >= 3 {
					recurring += n
				}
			}
			got := result.Report.Differences
			if got == nil || got.Looked != dropped || got.Recurring != recurring || len(got.Most) == 0 || got.Most[0].Count != most || got.AtLeast {
				t.Fatalf("%v %v, keep %v: %+v; want %d of %d, and at most %d", by.By, by.Rule, keep, got, recurring, dropped, most)
			}
			for _, m := range got.Most {
				if counts[Difference{Lacks: m.Lacks, Adds: m.Adds}] != m.Count {
					t.Errorf("%v %v, keep %v: %+v, want %d", by.By, by.Rule, keep, m, counts[Difference{Lacks: m.Lacks, Adds: m.Adds}])
				}
			}
			if err := result.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDifferencesInBoundedMemory stores only as many texts as fit, and tells how many documents it
// has looked at.
func TestDifferencesInBoundedMemory(t *testing.T) {
	names := catalogue(rand.New(rand.NewPCG(7, 8)), 9000)
	names = append(names, strings.Repeat("long ", differText), strings.Repeat("long ", differText)+"er")
	looked := map[int64]int64{}
	for _, memory := range []int64{2 << 20, 64 << 20} {
		result, err := Job{By: engine.Jaccard(0.5), Figures: true, Memory: memory}.Run(context.Background(), Strings(slices.Values(names)))
		must.Do(t, err)
		looked[memory] = result.Report.Differences.Looked
		if memory == 64<<20 && looked[memory] != result.Report.Dropped-1 { // not the long text
			t.Errorf("%d of %d", looked[memory], result.Report.Dropped)
		}
		if err := result.Close(); err != nil {
			t.Error(err)
		}
	}
	if few := looked[2<<20]; few == 0 || few > 2<<20/differShare/50 {
		t.Errorf("%d documents in 128 KB", few)
	}
}
