package hamming

import (
	"errors"
	"math/bits"
	"slices"
	"sort"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// TestSpanOfUncheckedBlock has a lead whose first and last keys are in good blocks that have been
// verified, with a damaged block between them.
func TestSpanOfUncheckedBlock(t *testing.T) {
	defer func(before costModel) { cost = before }(cost)
	cost.key = 0.4 // makes the search start with the lead in table 0
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
	sections[0] = flipped(sections[0], probe.Info(inside+1).Off-32, 1)
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

// TestDamageBesideChecked damages every byte of a block of run 0 in turn and searches for the keys
// of the block, in any order. Each search must find its key or the damage, and at least one the
// damage.
func TestDamageBesideChecked(t *testing.T) {
	r := keytest.Rand("beside", 0)
	fps := keytest.Shapes[0].Make(r, 2000)
	slices.Sort(fps)
	fps = slices.Compact(fps)
	good := buildRuns(DefaultLayout, fps)
	run := openRuns(t, good)[0]
	from, end := run.Info(1).Off-16, run.Info(2).Off-16
	var s Searcher
	for at := from; at < end; at += 1 + r.IntN(20) {
		sections := slices.Clone(good)
		sections[0] = flipped(sections[0], at, 1<<r.IntN(8))
		x := New(DefaultLayout, openRuns(t, sections), nil)
		noticed := false
		for _, i := range r.Perm(keyrun.BlockLen) {
			fp := fps[keyrun.BlockLen+i]
			hits, err := s.Near(x, fp, 0, nil)
			if err != nil {
				noticed = true
			} else if len(hits) != 1 || hits[0].Fingerprint != fp || hits[0].Doc != uint32(keyrun.BlockLen+i) {
				t.Fatalf("byte %d damaged: fingerprint %d is found as %v", at, i, hits)
			}
		}
		if !noticed {
			t.Fatalf("byte %d damaged: nothing found it", at)
		}
	}
}
