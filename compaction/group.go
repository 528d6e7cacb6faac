package compaction

import (
	"cmp"
	"slices"
)

// Group divides the tables that are not damaged into few groups, so that each group can be merged
// into one table: it has at most maxDocs living documents (the limit of the format if that is 0). A
// table with more is a group of its own. No two groups fit into one table, so the number of groups
// is at most one more than twice the number of full tables that the documents need. Groups are in
// descending order of living documents; in each group, numbers ascend.
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
	var docs []int64 // by group
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
