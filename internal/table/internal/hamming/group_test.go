package hamming

import (
	"errors"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

func TestNearGroupEqualsNear(t *testing.T) {
	r := keytest.Rand("group", 0)
	var tables []*Wide
	var all [][]uint64
	for i := range 20 {
		n := []int{0, 1, 700, 30_000}[i%4]
		fps := keytest.Shapes[i%2].Make(r, max(n, 1))[:n]
		slices.Sort(fps)
		tables = append(tables, NewWide(DefaultLayout, [][]*keyrun.Run{openRuns(t, buildRuns(DefaultLayout, fps))}, nil, nil))
		all = append(all, fps)
	}
	s := new(Searcher)
	for _, k := range []int{0, 3, 6, 12, 64} {
		for range 10 {
			q := nearQuery(r, all[3])
			next := 0
			err := s.Group(tables, []uint64{q}, k, func(i int, hits []Hit, stats Stats) error {
				if i != next {
					t.Fatalf("table %d after %d", i, next)
				}
				next++
				got := slices.Clone(hits)
				sortHits(got)
				if want := bruteNear(all[i], q, k); !slices.Equal(got, want) {
					t.Fatalf("table %d, k %d: %d hits, want %d", i, k, len(got), len(want))
				}
				if len(all[i]) > 0 && stats.Candidates+stats.Probes+stats.Scans == 0 {
					t.Fatalf("table %d: no work was counted: %+v", i, stats)
				}
				return nil
			})
			if err != nil || next != len(tables) {
				t.Fatalf("%d of %d tables: %v", next, len(tables), err)
			}
		}
	}
	stop := errors.New("stop")
	if err := s.Group(tables, []uint64{1}, 3, func(i int, _ []Hit, _ Stats) error {
		if i == 17 {
			return stop
		}
		return nil
	}); err != stop {
		t.Fatalf("an error of the callback comes back as %v", err)
	}
}
