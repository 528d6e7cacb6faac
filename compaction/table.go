package compaction

import (
	"cmp"
	"slices"
	"sort"
)

// Table describes a table to Pick.
type Table struct {
	Number uint64 // the table's name
	Size   int64  // bytes
	Docs   int64
	Dead   int64 // documents that are deleted or replaced

	// MinTime and MaxTime are the times of the oldest and the newest document, in microseconds
	// since 1970.
	MinTime, MaxTime int64
	// Times are quantiles of the times of all documents, ascending, the first and the last included.
	// Without them, times are assumed to be uniform from MinTime to MaxTime.
	Times []int64
	// Expiring says that documents of the table may expire by themselves. Those that have expired
	// count as dead.
	Expiring bool
	// Held says that expired documents of the table must not be dropped for now: they count as
	// living.
	Held bool
	// Damaged says that a merge could not read the table: it may be dropped, but is not merged
	// again.
	Damaged bool
}

// Expired estimates how many documents of t, neither deleted nor replaced, are older than before,
// in microseconds since 1970, and may be dropped. It is exact if the answer is all documents or
// none.
func (t *Table) Expired(before int64) int64 {
	stored := t.Docs - t.Dead
	switch {
	case t.Held || before <= t.MinTime:
		return 0
	case before > t.MaxTime:
		return stored
	}
	return int64(float64(stored) * t.share(before))
}

// share estimates which share of the documents is older than before: 0 to 1. before must be after
// MinTime and not after MaxTime.
func (t *Table) share(before int64) float64 {
	times := t.Times
	if len(times) < 2 {
		times = []int64{t.MinTime, t.MaxTime}
	}
	i := sort.Search(len(times), func(i int) bool { return times[i] >= before })
	switch i {
	case 0:
		return 0
	case len(times):
		return 1
	}
	part := 0.0
	if span := float64(times[i]) - float64(times[i-1]); span > 0 {
		part = (float64(before) - float64(times[i-1])) / span
	}
	return (float64(i-1) + part) / float64(len(times)-1)
}

// living returns at most how much of t remains after a merge.
func (t *Table) living() extent {
	e := extent{t.Size, t.Docs - t.Dead}
	if t.Dead > 0 {
		e.bytes = int64(float64(t.Size) * float64(e.docs) / float64(t.Docs))
	}
	return e
}

// gone reports whether nothing of t needs to remain: all of its documents are dead, or older than
// before and not held.
func (t *Table) gone(before int64) bool {
	return t.Docs == t.Dead || before > 0 && t.MaxTime < before && !t.Held
}

// mergeable returns the tables that are at most half full, by size.
func mergeable(tables []*Table, o Options) (bySize []*Table) {
	for _, t := range tables {
		if !o.Full(*t) {
			bySize = append(bySize, t)
		}
	}
	slices.SortFunc(bySize, func(a, b *Table) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Number, b.Number))
	})
	return bySize
}

// fitting returns the first tables that together fit into one. These are at least two, since each
// table must be at most half full.
func fitting(tables []*Table, o Options) []*Table {
	var all extent
	for i, t := range tables {
		if all = all.plus(t.living()); !o.fits(all) {
			return tables[:i]
		}
	}
	return tables
}
