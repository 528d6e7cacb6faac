package hamming

import (
	"errors"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// TestNearFirst first rejects all hits, so that all are offered, and then accepts one in each table
// in turn. In one of the tables most documents have the same fingerprint: the search must not visit
// them all.
func TestNearFirst(t *testing.T) {
	r := keytest.Rand("first", 0)
	const equal = 0x123456789abcdef0
	var tables []*Wide
	var all [][]uint64
	for i, n := range []int{0, 900, 40_000, 1, 20_000} {
		fps := keytest.Shapes[i%2].Make(r, max(n, 1))[:n]
		if i == 4 {
			for j := range fps[:n-100] {
				fps[j] = equal
			}
		}
		slices.Sort(fps)
		tables = append(tables, NewWide(DefaultLayout, [][]*keyrun.Run{openRuns(t, buildRuns(DefaultLayout, fps))}, nil, nil))
		all = append(all, fps)
	}
	s := new(Searcher)
	for _, k := range []int{0, 1, 3, 6, 12, 30, 64} {
		for _, q := range []uint64{nearQuery(r, all[1]), nearQuery(r, all[2]), equal, equal ^ 1<<63, equal ^ 3<<20, r.Uint64()} {
			got := make([]map[uint32]Hit, len(tables))
			for i := range got {
				got[i] = map[uint32]Hit{}
			}
			found, err := s.First(tables, []uint64{q}, k, func(i int, h Hit) (bool, error) { got[i][h.Doc] = h; return false, nil })
			if found || err != nil {
				t.Fatalf("k %d: %v, %v though nothing was accepted", k, found, err)
			}
			for i := range tables {
				want := bruteNear(all[i], q, k)
				for _, h := range want {
					if got[i][h.Doc] != h {
						t.Fatalf("table %d, k %d: %+v, want %+v", i, k, got[i][h.Doc], h)
					}
				}
				if len(got[i]) != len(want) {
					t.Fatalf("table %d, k %d: %d hits, want %d", i, k, len(got[i]), len(want))
				}
				found, err := s.First(tables, []uint64{q}, k, func(table int, _ Hit) (bool, error) { return table == i, nil })
				if err != nil || found != (len(want) > 0) {
					t.Fatalf("table %d, k %d: %v, %v, want one of %d", i, k, found, err, len(want))
				}
			}
		}
	}
	stop := errors.New("stop")
	if _, err := s.First(tables, []uint64{equal}, 3, func(int, Hit) (bool, error) { return false, stop }); err != stop {
		t.Fatalf("an error of the callback comes back as %v", err)
	}
	found, err := s.First(tables, []uint64{equal ^ 1}, 3, func(int, Hit) (bool, error) { return true, nil })
	if !found || err != nil || len(s.found) > 2*keyrun.BlockLen {
		t.Fatalf("%v, %v after %d hits", found, err, len(s.found))
	}
}
