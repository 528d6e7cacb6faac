package compaction

import (
	"cmp"
	"slices"
)

// Group divides the tables that are not damaged into few groups, so that each group can be merged
// into one table within the limits of o. A table that exceeds them is a group of its own. No two
// groups fit into one table. Groups are in descending order of their largest table; in each group,
// numbers ascend.
func Group(tables []Table, o Options) [][]uint64 {
	o = o.withDefaults()
	// First fit decreasing.
	whole := slices.DeleteFunc(slices.Clone(tables), func(t Table) bool { return t.Damaged })
	fill := func(t *Table) float64 {
		e := t.living()
		return max(float64(e.bytes)/float64(o.MaxBytes), float64(e.docs)/float64(o.MaxDocs))
	}
	slices.SortFunc(whole, func(a, b Table) int {
		return cmp.Or(cmp.Compare(fill(&b), fill(&a)), cmp.Compare(a.Number, b.Number))
	})
	var groups [][]uint64
	var sums []extent // by group
	for _, t := range whole {
		e := t.living()
		g := slices.IndexFunc(sums, func(sum extent) bool { return o.fits(sum.plus(e)) })
		if g < 0 {
			g = len(groups)
			groups, sums = append(groups, nil), append(sums, extent{})
		}
		groups[g] = append(groups[g], t.Number)
		sums[g] = sums[g].plus(e)
	}
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}
