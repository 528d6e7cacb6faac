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

	// Times of the oldest and the newest document, in microseconds since 1970.
	MinTime, MaxTime int64
	// Times are quantiles of the times of all documents, ascending, as sstable.Reader.TimeSketch
	// returns them. Without any, times are taken to be uniform from MinTime to MaxTime.
	Times []int64
	// Held says that expired documents of the table must stay for now: they count as living.
	Held bool
	// Damaged says that a merge could not read the table: it is merged no more, but may be dropped.
	Damaged bool
}

// Expired estimates how many documents of t, neither deleted nor replaced, are older than before,
// in microseconds since 1970, and may be dropped. It is exact where all or none are.
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

// share estimates the share of the documents that are older than before, which lies after MinTime
// and not after MaxTime: 0 to 1.
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

// living returns how many documents of t a merge keeps at most.
func (t *Table) living() int64 { return t.Docs - t.Dead }

// gone reports whether nothing of t is left: all of its documents are dead, or older than before
// and need not stay.
func (t *Table) gone(before int64) bool {
	return t.Docs == t.Dead || before > 0 && t.MaxTime < before && !t.Held
}

// mergeable returns the tables that are at most half full, by size.
func mergeable(tables []*Table, o Options) (bySize []*Table) {
	for _, t := range tables {
		if t.living() <= o.MaxDocs/2 {
			bySize = append(bySize, t)
		}
	}
	slices.SortFunc(bySize, func(a, b *Table) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Number, b.Number))
	})
	return bySize
}

// fitting returns the first tables, at least two, of which maxDocs documents or fewer are alive.
// Each of the tables is half full at most.
func fitting(tables []*Table, maxDocs int64) []*Table {
	docs := int64(0)
	for i, t := range tables {
		if docs += t.living(); docs > maxDocs {
			return tables[:i]
		}
	}
	return tables
}
