package hamming

import (
	"errors"
	"math/bits"
	"slices"
	"sort"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/keytest"
)

// TestSpanOfUncheckedBlock has a lead whose first and last keys lie in good blocks that have been
// checked, and others in one that is damaged.
func TestSpanOfUncheckedBlock(t *testing.T) {
	defer func(before costModel) { cost = before }(cost)
	cost = searchCosts["avx512"] // whatever the kernel, the search begins with the lead in table 0
	r := keytest.Rand("unchecked", 0)
	fps := keytest.Shapes[0].Make(r, 60_000)
	for i := range 1800 {
		fps[i] = 0xabcd<<48 | r.Uint64()>>16
	}
	slices.Sort(fps)
	fps = slices.Compact(fps)
	sections := buildRuns(DefaultLayout, fps)
	inside := sort.Search(len(fps), func(i int) bool { return fps[i] >= 0xabcd<<48 })>>keyrun.BlockShift + 2
	probe := openRuns(t, sections)[0]
	sections[0] = flipped(sections[0], probe.Info(inside).Off+probe.BlockSize(inside)-9, 1)
	x := New(DefaultLayout, openRuns(t, sections), nil)
	run := x.tables[0].run
	for b := range run.NumBlocks() {
		if b != inside {
			if err := run.Check(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := []keyrun.Probe{{First: 0xabcd << 48}}
	if run.LocateAll(p, x.tables[0].rest, x.tables[0].most); !p[0].Exact || bits.Len32(p[0].To-p[0].From) < 11 {
		t.Fatalf("the lead is not one that the index has: %+v", p[0])
	}
	var corrupt *base.CorruptionError
	if _, err := new(Searcher).Near(x, 0xabcd<<48|12345, 3, nil); !errors.As(err, &corrupt) {
		t.Fatalf("a search across a damaged block ends with %v", err)
	}
}
