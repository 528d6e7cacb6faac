package compaction

import (
	"cmp"
	"slices"
)

// Group divides tables that are not damaged into few groups, each of which can be merged into one table: its living
// documents are at most maxDocs, sstable.MaxDocs if that is 0. A table with more is a group of
// its own. No two of the groups fit into one table, so there are at most one more than twice as
// many groups as full tables for the documents. Groups are in descending order of living
// documents; in a group numbers ascend.
func Group(tables []Table, maxDocs int64) [][]uint64 {
	maxDocs = Options{MaxDocs: maxDocs}.withDefaults().MaxDocs
	// First fit decreasing.
	whole := slices.DeleteFunc(slices.Clone(tables), func(t Table) bool { return t.Damaged })
	byDocs := slices.SortedFunc(slices.Values(whole), func(a, b Table) int {
		if c := cmp.Compare(b.living(), a.living()); c != 0 {
			return c
		}
		return cmp.Compare(a.Number, b.Number)
	})
	var groups [][]uint64
	var docs []int64 // of each group
	for _, t := range byDocs {
		g := slices.IndexFunc(docs, func(n int64) bool { return n+t.living() <= maxDocs })
		if g < 0 {
			g = len(groups)
			groups, docs = append(groups, nil), append(docs, 0)
		}
		groups[g] = append(groups[g], t.Number)
		docs[g] += t.living()
	}
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}
