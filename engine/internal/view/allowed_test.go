package view

import (
	"fmt"
	"runtime"
	"testing"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAllowedShares checks that a set and one derived from it share nearly all nodes: adding or
// removing a pair copies the nodes on two paths, even for an ID with many pairs.
func TestAllowedShares(t *testing.T) {
	const n, some = 20_000, 500
	for name, pair := range map[string]func(i int) IDPair{
		"chain": func(i int) IDPair { return IDPair{fmt.Sprint("a", i), fmt.Sprint("b", i)} },
		"star":  func(i int) IDPair { return IDPair{"a", fmt.Sprint("b", i)} },
	} {
		var pairs []IDPair
		for i := range n + some {
			pairs = append(pairs, pair(i))
		}
		set := new(AllowedPairs).With(pairs[:n])
		before := set
		made := allocated(func() {
			for i := range some {
				set = set.With(pairs[n+i:][:1]).Without(pairs[i:][:1])
			}
		}) / some
		// Four paths of three or four nodes of up to 1.3 KB.
		if made > 24<<10 {
			t.Errorf("%s: %d bytes allocated to add a pair to %d and to remove one", name, made, n)
		}
		if got := set.All(); len(got) != n || set.Has(pairs[0].A, pairs[0].B) || !set.Has(pairs[n].B, pairs[n].A) {
			t.Errorf("%s: %d pairs", name, len(got))
		}
		if !before.Has(pairs[0].A, pairs[0].B) || before.Has(pairs[n].A, pairs[n].B) || len(before.All()) != n {
			t.Errorf("%s: edits have changed the set that they began with", name)
		}
		if made := allocated(func() { new(AllowedPairs).With(pairs) }) / uint64(len(pairs)); made > 400 {
			t.Errorf("%s: %d bytes allocated for each pair of a set made at once", name, made)
		}
	}
}
