package records

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

// Note notes what a file has, in place of what was noted of it before: records that are no
// documents, and charsets that are not known.
func (t *Tally) Note(file string, skipped, guessed Counts) {
	if t == nil {
		return
	}
	if t.skipped == nil {
		t.skipped, t.guessed = map[string]Counts{}, map[string]Counts{}
	}
	t.skipped[file], t.guessed[file] = skipped, guessed
}

// All returns the counts of all files: of records that are no documents, and of charsets.
func (t *Tally) All() (skipped, guessed Counts) {
	skipped, guessed = Counts{}, Counts{}
	if t == nil {
		return skipped, guessed
	}
	for file := range t.skipped {
		skipped.Add(t.skipped[file])
		guessed.Add(t.guessed[file])
	}
	return skipped, guessed
}

// Add adds counts.
func (c Counts) Add(other Counts) {
	for kind, n := range other {
		c[kind] += n
	}
}

// String lists the counts, the greatest first: "12 request, 3 image/png".
func (c Counts) String() string {
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), strings.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", c[kind], kind)
	}
	return strings.Join(kinds, ", ")
}
