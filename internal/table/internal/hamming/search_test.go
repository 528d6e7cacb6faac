package hamming

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

var testLayouts = []Layout{{4, 1}, {2, 1}, {3, 1}, {5, 1}, {8, 1}, {5, 2}, {6, 3}, {8, 2}, {1, 1}, {16, 1}, {4, 0}}

// buildRuns encodes the runs of a layout over sorted fingerprints.
func buildRuns(l Layout, fps []uint64) []keyrun.Section {
	var runs []keyrun.Section
	for t := range l.Tables() {
		keys := slices.Clone(fps)
		if t > 0 {
			keys = slices.Compact(keys)
			for i, fp := range keys {
				keys[i] = l.Permute(t, fp)
			}
			slices.Sort(keys)
		}
		runs = append(runs, keyrun.InMemory(fmt.Sprintf("run %d", t), keys))
	}
	return runs
}

// sectionSize returns the bytes of a section, body and directory.
func sectionSize(s keyrun.Section) int { return len(s.Body) + len(s.Dir) }

// flipped returns a copy of a section with byte i changed, counted through the body and then the
// directory.
func flipped(s keyrun.Section, i int, mask byte) keyrun.Section {
	s.Body, s.Dir = slices.Clone(s.Body[:cap(s.Body)])[:len(s.Body)], slices.Clone(s.Dir)
	if i < len(s.Body) {
		s.Body[i] ^= mask
	} else {
		s.Dir[i-len(s.Body)] ^= mask
	}
	return s
}

func openRuns(t testing.TB, sections []keyrun.Section) []*keyrun.Run {
	var runs []*keyrun.Run
	for _, s := range sections {
		r, err := keyrun.Open(s)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

func bruteNear(fps []uint64, q uint64, k int) []Hit {
	var hits []Hit
	for i, fp := range fps {
		if d := bits.OnesCount64(fp ^ q); d <= k {
			hits = append(hits, Hit{uint32(i), uint16(d), fp})
		}
	}
	return hits
}

func sortHits(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Doc, b.Doc) })
}

// nearQuery is a stored fingerprint with some bits flipped, or a random one.
func nearQuery(r *rand.Rand, fps []uint64) uint64 {
	if len(fps) == 0 || r.IntN(4) == 0 {
		return r.Uint64()
	}
	return keytest.FlipBits(r, fps[r.IntN(len(fps))], r.IntN(12))
}

func checkNear(t *testing.T, x *Index, fps []uint64, q uint64, k int, s *Searcher) {
	t.Helper()
	got, err := s.Near(x, q, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	sortHits(got)
	if want := bruteNear(fps, q, k); !slices.Equal(got, want) {
		t.Fatalf("Near(%016x, %d): %d hits, want %d; plan %v", q, k, len(got), len(want), s.Plan(x, q, k))
	}
}

func TestNearEqualsBruteForce(t *testing.T) {
	for _, l := range testLayouts {
		for _, shape := range keytest.Shapes {
			t.Run(fmt.Sprintf("%v/%s", l, shape.Name), func(t *testing.T) {
				r := keytest.Rand(shape.Name, l.Blocks)
				s := new(Searcher)
				for _, n := range []int{0, 1, 2, 511, 512, 513, 1024, 1025} {
					fps := shape.Make(r, max(n, 1))[:n]
					slices.Sort(fps)
					x := New(l, openRuns(t, buildRuns(l, fps)), nil)
					for k := 0; k <= 64; k++ {
						checkNear(t, x, fps, nearQuery(r, fps), k, s)
					}
				}
			})
		}
	}
}

// TestNearProbes makes probes look cheap, so that every kind of plan is tried in tables that are
// too small for it.
func TestNearProbes(t *testing.T) {
	exhaustive.Sequential(t)
	defer func(c costModel) { cost = c }(cost)
	cost = costModel{probe: 1, key: 1, scan: 1e6, decode: 1e6, walk: 1e6}
	for _, l := range testLayouts {
		for i := range exhaustive.Some(t, 3, len(keytest.Shapes)) {
			shape := keytest.Shapes[(i+l.Blocks)%len(keytest.Shapes)]
			t.Run(fmt.Sprintf("%v/%s", l, shape.Name), func(t *testing.T) {
				r := keytest.Rand(shape.Name, l.Blocks)
				s := new(Searcher)
				fps := shape.Make(r, 3000)
				slices.Sort(fps)
				x := New(l, openRuns(t, buildRuns(l, fps)), nil)
				probed := 0
				for k := 0; k <= 12; k++ {
					if x.standardPlan(k, s); x.standard[k].Load().ns > 5e4 {
						continue // also exact, but needs millions of probes
					}
					for range 5 {
						checkNear(t, x, fps, nearQuery(r, fps), k, s)
					}
					probed++
				}
				if probed < 3 || s.stats.Probes == 0 {
					t.Errorf("%d distances were probed, %+v", probed, s.stats)
				}
			})
		}
	}
}

func TestNearLarge(t *testing.T) {
	exhaustive.Sequential(t)
	for i := range exhaustive.Some(t, 3, len(keytest.Shapes)) {
		shape := keytest.Shapes[i]
		for _, l := range []Layout{{4, 1}, {2, 1}, {6, 3}} {
			t.Run(fmt.Sprintf("%v/%s", l, shape.Name), func(t *testing.T) {
				r := keytest.Rand(shape.Name, l.Blocks)
				fps := shape.Make(r, 100_000)
				slices.Sort(fps)
				x := New(l, openRuns(t, buildRuns(l, fps)), nil)
				s := new(Searcher)
				for range 30 {
					checkNear(t, x, fps, nearQuery(r, fps), r.IntN(14), s)
				}
			})
		}
	}
}

func TestNearAllocatesNothing(t *testing.T) {
	r := keytest.Rand("alloc", 0)
	fps := keytest.Shapes[1].Make(r, 50_000)
	slices.Sort(fps)
	x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
	s := new(Searcher)
	dst := make([]Hit, 0, len(fps))
	q := fps[777] ^ 5
	for _, k := range []int{0, 3, 6, 10, 64} {
		for range 2 { // the first search of a block verifies it, the second has the lead index
			dst, _ = s.Near(x, q, k, dst[:0])
		}
		if n := testing.AllocsPerRun(5, func() { dst, _ = s.Near(x, q, k, dst[:0]) }); n != 0 {
			t.Errorf("k = %d: %v allocations a search", k, n)
		}
	}
}

// TestPlanIsTheSearch compares Plan with the search itself, the first time and once the lead index
// exists: both must have the same number of probes, or scan. A search that is planned as probes may
// end in a scan.
func TestPlanIsTheSearch(t *testing.T) {
	probed, scanned := 0, 0
	for _, set := range skewedSets {
		for _, n := range []int{1000, 11_000, 50_000} {
			fps, r := makeSkewed(set.name, n), keytest.Rand(set.name, n)
			x, s := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil), new(Searcher)
			for i := range 600 {
				k, q := i/2%6, nearQuery(r, fps)
				p := s.Plan(x, q, k)
				s.stats = Stats{}
				if _, err := s.Near(x, q, k, nil); err != nil {
					t.Fatal(err)
				}
				switch st := s.stats; {
				case p.Method == "scan" && (st.Scans != 1 || st.Probes != 0), p.Method == "probe" && st.Scans == 0 && st.Probes != p.Probes:
					t.Fatalf("%s, %d keys, Near(%016x, %d): plan %v, but %+v", set.name, n, q, k, p, st)
				case st.Scans > 0:
					scanned++
				default:
					probed++
				}
			}
		}
	}
	if probed < 100 || scanned < 100 {
		t.Errorf("%d searches probed, %d scanned", probed, scanned)
	}
}

func TestNearPlans(t *testing.T) {
	r := keytest.Rand("plans", 0)
	fps := keytest.Shapes[0].Make(r, 300_000)
	hot := fps[0] &^ 0xffff // 50,000 fingerprints share 48 bits
	for i := range 50_000 {
		fps[i] = hot | uint64(i)
	}
	slices.Sort(fps)
	x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
	s := new(Searcher)
	if p := s.Plan(x, r.Uint64(), 3); p.Method != "probe" || !slices.Equal(p.Radii, []int{0, 0, 0, 0}) {
		t.Errorf("k = 3 among uniform keys: %v", p)
	}
	if p := s.Plan(x, hot^1<<20, 2); p.Method != "probe" || p.Radii[3] < 1 || p.Candidates > 20_000 {
		t.Errorf("k = 2 beside a hot range: %v", p)
	}
	if p := s.Plan(x, 0, 40); p.Method != "scan" || p.Candidates != len(fps) {
		t.Errorf("k = 40: %v", p)
	}
}

func TestNearNoticesDamage(t *testing.T) {
	r := keytest.Rand("near damage", 0)
	l := DefaultLayout
	fps := keytest.Shapes[1].Make(r, 700)
	slices.Sort(fps)
	sections := buildRuns(l, fps)
	defer func(c costModel) { cost = c }(cost)
	cost.scan, cost.decode, cost.walk = 1e6, 1e6, 1e6
	for table, section := range sections {
		for i := 0; i < sectionSize(section); i += 7 {
			damaged := slices.Clone(sections)
			damaged[table] = flipped(section, i, 1<<r.IntN(8))
			var runs []*keyrun.Run
			for _, d := range damaged {
				run, err := keyrun.Open(d)
				if err != nil {
					break
				}
				runs = append(runs, run)
			}
			if len(runs) < len(damaged) {
				continue // noticed when opened
			}
			x, s := New(l, runs, nil), new(Searcher)
			for range 4 {
				q := nearQuery(r, fps)
				got, err := s.Near(x, q, 3, nil)
				if err != nil {
					if !errors.Is(err, base.ErrCorruption) {
						t.Fatal(err)
					}
					continue
				}
				sortHits(got)
				if !slices.Equal(got, bruteNear(fps, q, 3)) {
					t.Fatalf("table %d, byte %d: a wrong answer without an error", table, i)
				}
			}
		}
	}
}

func TestNearMissingFingerprint(t *testing.T) {
	l := Layout{2, 1}
	sections := buildRuns(l, []uint64{1, 1 << 40})
	sections[1] = keyrun.InMemory("run 1", []uint64{l.Permute(1, 1<<41), l.Permute(1, 1)})
	defer func(c costModel) { cost = c }(cost)
	cost.scan, cost.decode, cost.walk = 1e6, 1e6, 1e6
	x := New(l, openRuns(t, sections), nil)
	if _, err := new(Searcher).Near(x, 1<<41|1<<45, 1, nil); !errors.Is(err, base.ErrCorruption) {
		t.Fatalf("a fingerprint that table 0 lacks: %v", err)
	}
}

func TestNearMissingTable(t *testing.T) {
	l := Layout{2, 1}
	sections := buildRuns(l, []uint64{1, 2, 3})
	sections[1] = keyrun.InMemory("run 1", nil)
	x, s := New(l, openRuns(t, sections), nil), new(Searcher)
	for k := range 65 {
		if _, err := s.Near(x, 1, k, nil); !errors.Is(err, base.ErrCorruption) {
			t.Fatalf("k %d, and table 1 is empty: %v", k, err)
		}
	}
	if err := s.Batch(t.Context(), x, []uint64{1}, 3, nil); !errors.Is(err, base.ErrCorruption) {
		t.Fatalf("a batch, and table 1 is empty: %v", err)
	}
	s.Plan(x, 1, 3)
}

// TestNearConcurrently serves the race detector: several goroutines read the blocks of one index
// for the first time together.
func TestNearConcurrently(t *testing.T) {
	fps := keytest.Shapes[1].Make(keytest.Rand("concurrent", 0), 40_000)
	slices.Sort(fps)
	x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
	var group errgroup.Group
	for g := range 6 {
		group.Go(func() error {
			r, s := keytest.Rand("concurrent", 1+g), new(Searcher)
			for i := range 60 {
				q, k := nearQuery(r, fps), []int{3, 6, 20}[i%3]
				got, err := s.Near(x, q, k, nil)
				if err != nil {
					return err
				}
				sortHits(got)
				if want := bruteNear(fps, q, k); !slices.Equal(got, want) {
					return fmt.Errorf("Near(%016x, %d): %d hits, want %d", q, k, len(got), len(want))
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
