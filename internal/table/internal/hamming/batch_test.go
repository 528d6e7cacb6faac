package hamming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

func TestNearBatchEqualsNear(t *testing.T) {
	for _, l := range []Layout{{4, 1}, {2, 1}, {6, 3}, {4, 0}, {8, 1}} {
		for _, shape := range keytest.Shapes {
			t.Run(fmt.Sprintf("%v/%s", l, shape.Name), func(t *testing.T) {
				r := keytest.Rand(shape.Name, l.Blocks)
				fps := shape.Make(r, 8_000)
				slices.Sort(fps)
				x := New(l, openRuns(t, buildRuns(l, fps)), nil)
				s := new(Searcher)
				for _, k := range []int{0, 3, 5, 9, 40} {
					queries := keytest.Fill(60, func(int) uint64 { return nearQuery(r, fps) })
					if k == 40 {
						queries = queries[:3]
					}
					got := make([][]Hit, len(queries))
					err := s.Batch(t.Context(), x, queries, k, func(i int, h Hit) error {
						got[i] = append(got[i], h)
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					for i, q := range queries {
						sortHits(got[i])
						if want := bruteNear(fps, q, k); !slices.Equal(got[i], want) {
							t.Fatalf("k %d, query %d: %d hits, want %d", k, i, len(got[i]), len(want))
						}
					}
				}
			})
		}
	}
}

// TestBatchTables joins the tables one by one, with any radii that have the right sum and with any
// kind of search, sensible or not.
func TestBatchTables(t *testing.T) {
	for _, l := range []Layout{{4, 1}, {2, 1}, {3, 1}, {8, 1}, {16, 1}, {5, 2}, {8, 2}, {4, 0}} {
		for _, shape := range keytest.Shapes {
			t.Run(fmt.Sprintf("%v/%s", l, shape.Name), func(t *testing.T) {
				r := keytest.Rand(shape.Name, l.Blocks)
				fps := shape.Make(r, 2000)
				slices.Sort(fps)
				x := New(l, openRuns(t, buildRuns(l, fps)), nil)
				s := new(Searcher)
				for range 6 {
					k := r.IntN(8)
					queries := keytest.Fill(1+r.IntN(90), func(int) uint64 { return nearQuery(r, fps) })
					got := make([][]Hit, len(queries))
					c := &batchCall{t.Context(), queries, k, randomRadii(r, x, k), s, func(i int, h Hit) error {
						got[i] = append(got[i], h)
						return nil
					}}
					if err := batchAnyhow(x, c, r); err != nil {
						t.Fatal(err)
					}
					for i, q := range queries {
						sortHits(got[i])
						if want := bruteNear(fps, q, k); !slices.Equal(got[i], want) {
							t.Fatalf("k %d, radii %v, query %d: %d hits, want %d", k, c.a.radius, i, len(got[i]), len(want))
						}
					}
				}
			})
		}
	}
}

// randomRadii returns radii that find everything within k bits.
func randomRadii(r *rand.Rand, x *Index, k int) *allocation {
	a := x.everyTable(k)
	if x.layout.Lead != 1 {
		return &a
	}
	for t := range x.tables {
		a.radius[t] = -1
	}
	for range k + 1 {
		a.radius[r.IntN(len(x.tables))]++
	}
	return &a
}

// batchAnyhow is NearBatch with random groups, and random limits beyond which queries are set
// aside.
func batchAnyhow(x *Index, c *batchCall, r *rand.Rand) error {
	w := &c.s.batch
	w.aside, w.alone = make([]uint8, len(c.queries)), make([]float32, len(c.queries))
	for t := range x.tables {
		radius, limit := int(c.a.radius[t]), math.Inf(1)
		if radius < 0 {
			continue
		}
		if r.IntN(2) == 0 {
			limit = r.Float64() * 1000
		}
		for i := range w.aside {
			if w.aside[i] == 0 && r.IntN(20) == 0 {
				w.aside[i] = uint8(t + 1)
			}
		}
		bits := r.IntN(min(x.tables[t].leadBits, 12) + 1)
		x.orderQueries(c, t, bits, false)
		err := x.joinTable(c, &join{permuted: &x.tables[t], table: t, radius: radius, bits: bits, limit: limit})
		if err != nil {
			return err
		}
	}
	return x.searchAlone(c)
}

func TestSortItems(t *testing.T) {
	r := keytest.Rand("items", 0)
	var spare []batchItem
	for leading := 0; leading <= 22; leading++ {
		items := make([]batchItem, r.IntN(5000))
		for i := range items {
			items[i] = batchItem{key: r.Uint64(), query: uint32(i)}
		}
		want := slices.Clone(items)
		digits := (leading + 1) / 2 * 2
		slices.SortStableFunc(want, func(a, b batchItem) int { return cmp.Compare(a.key>>uint(64-digits), b.key>>uint(64-digits)) })
		if spare = sortItems(items, spare, leading); !slices.Equal(items, want) {
			t.Fatalf("%d items by %d bits: out of order", len(items), leading)
		}
	}
}

func TestCountLess(t *testing.T) {
	r := keytest.Rand("count", 0)
	for n := range 70 {
		keys := keytest.Fill(n, func(int) uint64 { return r.Uint64N(uint64(n) + 1) })
		slices.Sort(keys)
		for key := range uint64(n) + 2 {
			if want, _ := slices.BinarySearch(keys, key); countLess(keys, key) != want {
				t.Fatalf("%d keys: %d before %d, want %d", n, countLess(keys, key), key, want)
			}
		}
	}
}

// TestJoinSetsHotQueriesAside makes a lead so hot that its queries should be searched alone, with
// radii that avoid the lead.
func TestJoinSetsHotQueriesAside(t *testing.T) {
	r := keytest.Rand("hot join", 0)
	hot := r.Uint64() &^ (1<<48 - 1)
	fps := keytest.Fill(400_000, func(i int) uint64 {
		if i%4 == 0 {
			return r.Uint64()
		}
		return hot | r.Uint64()>>16
	})
	slices.Sort(fps)
	x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
	s := new(Searcher)
	queries := keytest.Fill(20_000, func(i int) uint64 {
		if i%2 == 0 {
			return r.Uint64()
		}
		return keytest.FlipBits(r, fps[r.IntN(len(fps))], r.IntN(4))
	})
	got := make([][]Hit, len(queries))
	err := s.Batch(t.Context(), x, queries, 3, func(i int, h Hit) error {
		got[i] = append(got[i], h)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.batch.aside[1] != 1 && s.batch.aside[3] != 1 && s.batch.aside[5] != 1 {
		t.Errorf("none of %d in a lead of %d keys is set aside", 3, 300_000)
	}
	for i, q := range queries {
		if i >= 100 && i < len(queries)-100 {
			continue
		}
		sortHits(got[i])
		if want := bruteNear(fps, q, 3); !slices.Equal(got[i], want) {
			t.Errorf("query %d: %d hits, want %d", i, len(got[i]), len(want))
		}
	}
}

// TestNearBatchNoticesDamage flips bits of each run and searches for existing fingerprints, with
// both kinds of search.
func TestNearBatchNoticesDamage(t *testing.T) {
	r := keytest.Rand("batch damage", 0)
	fps := keytest.Shapes[1].Make(r, 700)
	slices.Sort(fps)
	sections := buildRuns(DefaultLayout, fps)
	for table, section := range sections {
		for i := 0; i < sectionSize(section); i += 31 {
			runs := openRuns(t, sections)
			var err error
			if runs[table], err = keyrun.Open(flipped(section, i, 1<<r.IntN(8))); err != nil {
				continue // noticed when opened
			}
			x := New(DefaultLayout, runs, nil)
			got := make([][]Hit, len(fps))
			c := &batchCall{t.Context(), fps, 3, randomRadii(r, x, 3), new(Searcher), func(q int, h Hit) error {
				got[q] = append(got[q], h)
				return nil
			}}
			if err := batchAnyhow(x, c, r); err != nil {
				if !errors.Is(err, base.ErrCorruption) {
					t.Fatal(err)
				}
				continue
			}
			for q := range got {
				sortHits(got[q])
				if !slices.Equal(got[q], bruteNear(fps, fps[q], 3)) {
					t.Fatalf("table %d, byte %d: a wrong answer without an error", table, i)
				}
			}
		}
	}
}

func TestNearBatchMissingFingerprint(t *testing.T) {
	l := Layout{2, 1}
	sections := buildRuns(l, []uint64{1, 1 << 40})
	sections[1] = keyrun.InMemory("run 1", []uint64{l.Permute(1, 1<<41), l.Permute(1, 1)})
	defer func(c costModel) { cost = c }(cost)
	cost.scan = 1e6
	x := New(l, openRuns(t, sections), nil)
	for seed := range 8 {
		c := &batchCall{t.Context(), []uint64{1<<41 | 1<<45}, 1, &allocation{radius: [MaxTables]int8{0, 0}}, new(Searcher), nil}
		if err := batchAnyhow(x, c, keytest.Rand("missing", seed)); !errors.Is(err, base.ErrCorruption) {
			t.Fatalf("a fingerprint that table 0 lacks: %v", err)
		}
	}
}

func TestNearBatchCancelled(t *testing.T) {
	fps := keytest.Fill(5000, func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 })
	slices.Sort(fps)
	x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := new(Searcher).Batch(ctx, x, fps, 0, func(int, Hit) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, n := range []int{10, len(fps)} {
		for _, k := range []int{0, 3, 40} {
			err := new(Searcher).Batch(ctx, x, fps[:n], k, func(int, Hit) error { return nil })
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%d queries, k %d: %v", n, k, err)
			}
		}
	}
}

func TestNearBatchStops(t *testing.T) {
	fps := keytest.Fill(5000, func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 })
	slices.Sort(fps)
	x := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil)
	stop, n := errors.New("stop"), 0
	err := new(Searcher).Batch(t.Context(), x, fps, 0, func(int, Hit) error {
		if n++; n == 10 {
			return stop
		}
		return nil
	})
	if err != stop || n != 10 {
		t.Errorf("%d calls, then %v", n, err)
	}
}
