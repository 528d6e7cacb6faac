package input

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts what sources have left out, and where they had to guess, by kind. It may be nil.
type Tally struct {
	skipped map[string]Counts // by file
	guessed map[string]Counts
}

// Counts are numbers of records by their kind.
type Counts map[string]int64

// Note notes what a file has, in place of what was noted of it before: records that are no documents,
// and charsets that are not known.
func (t *Tally) Note(file string, skipped, guessed Counts) {
	if t == nil {
		return
	}
	if t.skipped == nil {
		t.skipped, t.guessed = map[string]Counts{}, map[string]Counts{}
	}
	t.skipped[file], t.guessed[file] = skipped, guessed
}

// Skipped describes the records that are no documents: "12 request, 3 image/png"; "" if there are none.
func (t *Tally) Skipped() string { return sum(t.skipped) }

// Guessed describes the charsets that are not known: "2 x-foo"; "" if there are none.
func (t *Tally) Guessed() string { return sum(t.guessed) }

func sum(files map[string]Counts) string {
	total := Counts{}
	for _, counts := range files {
		for kind, n := range counts {
			total[kind] += n
		}
	}
	return total.String()
}

// String lists the counts, the greatest first.
func (c Counts) String() string {
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), strings.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", c[kind], kind)
	}
	return strings.Join(kinds, ", ")
}
