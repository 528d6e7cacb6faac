package records

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts skipped records and guessed charsets by kind. A nil Tally counts nothing.
type Tally struct {
	skipped map[string]Counts // by file, then by kind
	guessed map[string]Counts
}

// Counts are numbers of records by kind.
type Counts map[string]int64

// Note sets the counts of a file, replacing earlier ones: records that are not documents, and
// unknown charsets.
func (t *Tally) Note(file string, skipped, guessed Counts) {
	if t == nil {
		return
	}
	if t.skipped == nil {
		t.skipped, t.guessed = map[string]Counts{}, map[string]Counts{}
	}
	t.skipped[file], t.guessed[file] = skipped, guessed
}

// All returns the sums over all files: records that are not documents, and unknown charsets.
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

// String lists the counts, largest first: "12 request, 3 image/png".
func (c Counts) String() string {
	kinds := slices.SortedFunc(maps.Keys(c), func(a, b string) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), strings.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", c[kind], kind)
	}
	return strings.Join(kinds, ", ")
}
