package sstable

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestNearBatchEqualsNear(t *testing.T) {
	for _, l := range []Layout{{4, 1}, {2, 1}, {6, 3}, {4, 0}} {
		for _, shape := range keyShapes {
			t.Run(fmt.Sprintf("%v/%s", l, shape.name), func(t *testing.T) {
				r := testRand(shape.name, l.Blocks)
				fps := shape.make(r, 20_000)
				slices.Sort(fps)
				x := newIndex(l, openRuns(t, buildRuns(l, fps)))
				s := new(Scratch)
				for _, k := range []int{0, 3, 5, 9, 40} {
					queries := fill(100, func(int) uint64 { return nearQuery(r, fps) })
					if k == 40 {
						queries = queries[:3]
					}
					got := make([][]Hit, len(queries))
					err := x.NearBatch(queries, k, s, func(i int, h Hit) error {
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

func TestNearBatchSetsHotQueriesAside(t *testing.T) {
	r := testRand("aside", 0)
	fps := keyShapes[0].make(r, 300_000)
	hot := fps[0] &^ 0xffff
	for i := range 50_000 {
		fps[i] = hot | uint64(i)
	}
	slices.Sort(fps)
	x := newIndex(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)))
	s := new(Scratch)
	queries := []uint64{hot | 7, r.Uint64(), hot ^ 1<<20, hot ^ 1<<50}
	got := make([][]Hit, len(queries))
	err := x.NearBatch(queries, 3, s, func(i int, h Hit) error {
		got[i] = append(got[i], h)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if aside := s.batch.aside; aside[0] == 0 || aside[1] != 0 || aside[2] == 0 || aside[3] != 2 {
		t.Errorf("set aside: %v", aside)
	}
	for i, q := range queries {
		sortHits(got[i])
		if want := bruteNear(fps, q, 3); !slices.Equal(got[i], want) {
			t.Errorf("query %d: %d hits, want %d", i, len(got[i]), len(want))
		}
	}
}

func TestNearBatchStops(t *testing.T) {
	fps := fill(5000, func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 })
	slices.Sort(fps)
	x := newIndex(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)))
	stop, n := errors.New("stop"), 0
	err := x.NearBatch(fps, 0, new(Scratch), func(int, Hit) error {
		if n++; n == 10 {
			return stop
		}
		return nil
	})
	if err != stop || n != 10 {
		t.Errorf("%d calls, then %v", n, err)
	}
}
