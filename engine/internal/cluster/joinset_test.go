package cluster

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMergeRuns merges sorted runs, some empty, and compares with a stable sort.
func TestMergeRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 300 {
		type item struct{ fp, loc uint64 }
		var all located
		var want []item
		var ends []int
		for run := range r.IntN(7) {
			var items []item
			for doc := range r.IntN(3) * r.IntN(20) {
				items = append(items, item{r.Uint64N(30), uint64(run)<<32 | uint64(doc)})
			}
			slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.fp, b.fp) })
			for _, it := range items {
				all.add(it.fp, it.loc)
			}
			want = append(want, items...)
			ends = append(ends, len(want))
		}
		slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.fp, b.fp) })
		got := mergeRuns(all, ends)
		for i, w := range want {
			if got.fps[i] != w.fp || got.locs[i] != w.loc {
				t.Fatalf("runs that end at %v: item %d is %d at %x, want %d at %x", ends, i, got.fps[i], got.locs[i], w.fp, w.loc)
			}
		}
	}
}

// TestGroup compares groups of equal fingerprints with slices.Compact.
func TestGroup(t *testing.T) {
	for _, fps := range [][]uint64{nil, {7}, {1, 2, 3}, {4, 4, 4}, {0, 0, 1, 5, 5, 6}, {1, 2, 2}} {
		j := &joinSet{items: len(fps)}
		j.group(slices.Clone(fps))
		if want := slices.Compact(slices.Clone(fps)); !slices.Equal(j.fps, want) || j.groups() != len(want) {
			t.Fatalf("%v: groups are %v", fps, j.fps)
		}
		next := uint32(0)
		for g := range j.groups() {
			lo, hi := j.span(uint32(g))
			if lo != next || hi <= lo {
				t.Fatalf("%v: group %d is items %d to %d", fps, g, lo, hi)
			}
			for _, fp := range fps[lo:hi] {
				if fp != j.fps[g] {
					t.Fatalf("%v: group %d has a %d", fps, g, fp)
				}
			}
			next = hi
		}
		if int(next) != len(fps) {
			t.Fatalf("%v: groups end at %d", fps, next)
		}
	}
}

// TestInIDOrder sorts IDs with long common prefixes, and IDs that are prefixes of others, with zero
// bytes behind.
func TestInIDOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	for range 200 {
		distinct := map[string]bool{}
		prefix := strings.Repeat("p", r.IntN(12))
		for range r.IntN(600) {
			id := []byte(prefix)
			for range r.IntN(20) {
				id = append(id, "\x00\x00\x01ab\xff"[r.IntN(6)])
			}
			if len(id) > 0 {
				distinct[string(id)] = true
			}
		}
		var list idList
		for id := range distinct {
			list.add([]byte(id))
		}
		ids := list.all()
		order := inIDOrder(ids)
		if len(ids) != len(distinct) || len(order) != len(ids) {
			t.Fatalf("%d IDs, %d copied, %d in order", len(distinct), len(ids), len(order))
		}
		for i := 1; i < len(order); i++ {
			if bytes.Compare([]byte(ids[order[i-1]]), []byte(ids[order[i]])) >= 0 {
				t.Fatalf("%q comes before %q", ids[order[i-1]], ids[order[i]])
			}
		}
	}
}

// TestItemSet numbers the members of random sets.
func TestItemSet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 100 {
		n := 1 + r.IntN(300)
		set, want := newItemSet(n), []uint32{}
		for range r.IntN(n) {
			i := uint32(r.IntN(n))
			set.add(i)
			want = append(want, i)
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if got := set.count(); got != len(want) {
			t.Fatalf("%d members, want %d", got, len(want))
		}
		var got []uint32
		set.all(func(i uint32) error { got = append(got, i); return nil })
		if !slices.Equal(got, want) {
			t.Fatalf("members %v, want %v", got, want)
		}
		for number, i := range want {
			if set.number(i) != uint32(number) {
				t.Fatalf("member %d has number %d, want %d", i, set.number(i), number)
			}
		}
	}
}
