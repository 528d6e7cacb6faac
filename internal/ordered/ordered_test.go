package ordered

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBest checks that Best finds the smallest items, and loses none.
func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 2000 {
		all := make([]int, r.IntN(200))
		for i := range all {
			all[i] = r.IntN(100)
		}
		n := r.IntN(len(all) + 10)
		want := slices.Sorted(slices.Values(all))
		if best := Best(all, n, cmp.Compare[int]); !slices.Equal(best, want[:min(n, len(want))]) {
			t.Fatalf("the least %d are %v, want %v", n, best, want[:min(n, len(want))])
		}
		if slices.Sort(all); !slices.Equal(all, want) {
			t.Fatalf("%v became %v", want, all)
		}
	}
}

// The first items of Runs and of Limited are the first items of a sort, for any number of items,
// with and without equal ones.
func TestRunsAndLimited(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, n := range []int{0, 1, 2, 100, runLength, runLength + 1, 5*runLength - 7} {
		all := make([]int, n)
		for i := range all {
			all[i] = r.IntN(1 + n/2)
		}
		want := slices.Sorted(slices.Values(all))
		for _, most := range []int{1, 2, 63, 64, 1000, n + 1} {
			l := Limited[int]{Most: most, Compare: cmp.Compare[int]}
			for _, x := range all {
				if last, cut := l.Last(); cut && x > last {
					continue
				}
				l.Add(x)
				if held := cap(l.items); held > 4*(2*most+limitedSlack) {
					t.Fatalf("%d items are held for the first %d", held, most)
				}
			}
			if got := l.Items(); !slices.Equal(got, want[:min(most, n)]) {
				t.Fatalf("the first %d of %d are wrong", most, n)
			}
		}
		runs, err := Sort(t.Context(), all, cmp.Compare[int])
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range want {
			if got, ok := runs.Next(); !ok || got != x {
				t.Fatalf("item %d of %d is %d, want %d", i, n, got, x)
			}
		}
		if _, ok := runs.Next(); ok {
			t.Fatal("more items than there were")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Sort(ctx, []int{2, 1}, cmp.Compare[int]); err == nil {
		t.Error("a cancelled sort ended well")
	}
}
