package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// random returns a collection of items with few distinct fingerprints, or with sets of their
// bits, and a function that matches two items; it returns false if they do not match.
func random(t *testing.T, r *rand.Rand, sets bool, groups *Groups, most int) (*Collection, func(a, b uint32) (float64, bool)) {
	fps := make([]uint64, r.IntN(60))
	for i := range fps {
		for range 1 + r.IntN(4) {
			fps[i] |= 1 << r.IntN(8)
		}
		if groups != nil {
			g := Group{uint32(r.IntN(most)), uint32(r.IntN(most))}
			if !groups.Within {
				g.In = 0
			} else if !groups.Across {
				g.Across = 0
			}
			groups.Of = append(groups.Of, g)
		}
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(fps)))
	c := &Collection{Items: len(fps), Groups: groups, K: 2, T: 0.6}
	numbers := make([]uint32, len(fps))
	for i, fp := range fps {
		n, _ := slices.BinarySearch(distinct, fp)
		numbers[i] = uint32(n)
	}
	if !sets {
		d := selfjoin.Documents{Codes: numbers}
		c.Fingerprints, c.Classes.N = selfjoin.Columns{distinct}, len(distinct)
		c.Classes.First, c.Classes.Items = d.Having(len(distinct))
	} else {
		c.Classes = ClassesOf(numbers, len(distinct))
		if c.Classes.Items == nil {
			for i := range uint32(len(fps)) {
				c.Classes.Items = append(c.Classes.Items, i)
			}
		}
		if groups != nil {
			c.Classes.Of = nil
		}
		c.Sets = func(items []uint32) (*Sets, error) {
			s := &Sets{Sets: setjoin.NewSets(setjoin.SetsOptions{}), Of: items}
			for _, item := range items {
				var set []uint64
				for fp := fps[item]; fp != 0; fp &= fp - 1 {
					set = append(set, uint64(bits.TrailingZeros64(fp)))
				}
				if err := s.Add(set); err != nil {
					return nil, err
				}
			}
			return s, nil
		}
	}
	for class := range uint32(c.Classes.N) {
		s := c.Classes.Span(class)
		groups.Sort(c.Classes.Items[s.Lo:s.Hi])
	}
	perm := r.Perm(len(fps))
	c.Rank = func(context.Context, ItemSet) (func(uint32) uint32, int, error) {
		return func(item uint32) uint32 { return uint32(perm[item]) }, len(fps), nil
	}
	return c, func(a, b uint32) (float64, bool) {
		if !groups.Accept(a, b) {
			return 0, false
		}
		if !sets {
			d := bits.OnesCount64(fps[a] ^ fps[b])
			return -float64(d), d <= c.K
		}
		score := float64(bits.OnesCount64(fps[a]&fps[b])) / float64(bits.OnesCount64(fps[a]|fps[b]))
		return score, score >= c.T
	}
}

// TestPairs compares pairs, their number, and components with brute force: for any items, for
// items in the same, for items across, and for both.
func TestPairs(t *testing.T) {
	for seed := range uint64(240) {
		r, sets := rand.New(rand.NewPCG(seed, 3)), seed%2 > 0
		var groups *Groups
		if limits := seed / 2 % 4; limits > 0 {
			groups = &Groups{Within: limits != 2, Across: limits > 1}
		}
		c, match := random(t, r, sets, groups, 1+int(seed%5))
		rank, _, _ := c.Rank(t.Context(), nil)
		var want []Pair
		forest := selfjoin.NewForest(c.Items)
		for b := range uint32(c.Items) {
			for a := range b {
				if m, ok := match(a, b); ok {
					want = append(want, Pair{m, min(rank(a), rank(b)), max(rank(a), rank(b))})
					forest.Union(a, b)
				}
			}
		}
		compare := func(x, y Pair) int {
			return cmp.Or(cmp.Compare(y.Match, x.Match), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
		}
		slices.SortFunc(want, compare)
		errMany := errors.New("too many")
		pairs, err := c.Pairs(t.Context(), 1<<20, func() error { return errMany })
		if err != nil {
			t.Fatal(err)
		}
		var found []Pair
		err = c.EachPair(t.Context(), func(a, b uint32, m float64) bool {
			found = append(found, Pair{m, min(rank(a), rank(b)), max(rank(a), rank(b))})
			return true
		})
		slices.SortFunc(found, compare)
		n, e := c.Count(t.Context())
		if got := slices.Collect(pairs); !slices.Equal(got, want) || !slices.Equal(found, want) || n != int64(len(want)) || cmp.Or(err, e) != nil {
			t.Fatalf("seed %d: pairs\n%v, as found\n%v, %d of them, want\n%v; %v", seed, got, found, n, want, cmp.Or(err, e))
		}
		if _, err := c.Pairs(t.Context(), 1, func() error { return errMany }); len(want) > 1 && err != errMany {
			t.Fatalf("seed %d: %d pairs fit into a byte: %v", seed, len(want), err)
		}
		if !sets && groups == nil { // clusters of classes, which the tests of View and Corpus cover
			continue
		}
		order := make([]uint32, c.Items)
		for at, item := range r.Perm(c.Items) {
			order[at] = uint32(item)
		}
		by := &Clustering{Collection: c, Components: true, Order: order}
		keeper, _, err := by.Keepers(t.Context())
		if labels := selfjoin.Preferred(forest.Labels(), order); err != nil || !slices.Equal(keeper, labels) {
			t.Fatalf("seed %d: keepers\n%v, want\n%v; %v", seed, keeper, labels, err)
		}
		checkClusters(t, fmt.Sprint("seed ", seed), c, keeper, rank)
	}
}

// checkClusters compares the order of clusters with brute force.
func checkClusters(t *testing.T, what string, c *Collection, keeper []uint32, rank func(item uint32) uint32) {
	found, err := Collect(t.Context(), c, Classes{N: c.Items}, nil, keeper, func(item uint32) (uint32, error) { return rank(item), nil }, cmp.Compare)
	var got, want []uint32
	for n := range found.Len() {
		members, err := found.Append(t.Context(), nil, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			if got = append(got, m.Item); keeper[m.Item] != members[0].Item {
				t.Fatalf("%s: %d is first in cluster %d, with a member of %d", what, members[0].Item, n, keeper[m.Item])
			}
		}
	}
	sizes := map[uint32]int{}
	for _, k := range keeper {
		sizes[k]++
	}
	for item, k := range keeper {
		if sizes[k] > 1 {
			want = append(want, uint32(item))
		}
	}
	slices.SortFunc(want, func(a, b uint32) int {
		k, m := keeper[a], keeper[b]
		if k == m && (a == k || b == k) {
			return cmp.Compare(min(a^k, 1), min(b^k, 1))
		}
		return cmp.Or(cmp.Compare(sizes[m], sizes[k]), cmp.Compare(rank(k), rank(m)), cmp.Compare(rank(a), rank(b)))
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%s: members %v, want %v; %v", what, got, want, err)
	}
}
