package compaction

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// A division has tables in groups, by the windows of a time to live. Tables may be merged only with
// tables of their group.
type division struct {
	// groups starts with the tables that span more than a window, if there are any. A group for
	// each window follows, youngest first.
	groups [][]*Table
	past   int // index of the first group of a window that has passed; len(groups) if there is none
}

// wideSpan is how many windows a table may span and still belong to one: a table that was flushed
// across a border is partly in the next window.
const wideSpan = 1.25

// windows divides tables by the window to which their newest document belongs. o must have a TTL.
func windows(tables []*Table, o Options) (d division) {
	window := max(o.TTL/int64(o.Windows), 1)
	now := floorDiv(o.Expired+o.TTL, window)
	var wide []*Table
	by := map[int64][]*Table{}
	for _, t := range tables {
		oldest := max(t.oldest(), o.Expired)
		if float64(t.MaxTime-oldest) > wideSpan*float64(window) {
			wide = append(wide, t)
			continue
		}
		w := min(floorDiv(t.MaxTime, window), now) // times of documents may be in the future
		by[w] = append(by[w], t)
	}
	if wide != nil {
		d.groups = append(d.groups, wide)
	}
	d.past = len(d.groups)
	for _, w := range slices.SortedFunc(maps.Keys(by), func(a, b int64) int { return cmp.Compare(b, a) }) {
		d.groups = append(d.groups, by[w])
		if w == now {
			d.past = len(d.groups)
		}
	}
	return d
}

// oldest returns a time such that nearly all documents of t are younger: a few older documents cost
// little space, and must not make the table span more windows.
func (t *Table) oldest() int64 {
	if n := len(t.Times); n >= 16 {
		return t.Times[n/16]
	}
	return t.MinTime
}

// passedWindows yields, for each of some windows that have passed, the tables to merge into one.
// Documents added late wait until a merge is worth its cost.
func passedWindows(windows [][]*Table, o Options) iter.Seq[[]*Table] {
	return func(yield func([]*Table) bool) {
		for _, tables := range windows {
			bySize := mergeable(tables, o)
			if len(bySize) < 2 || !worthIt(bySize) {
				continue
			}
			if fit := fitting(bySize, o); !yield(fit) {
				return
			}
		}
	}
}

// worthIt reports whether the smaller ones of tables, which are ordered by size, are large enough
// to justify rewriting the largest.
func worthIt(bySize []*Table) bool {
	small := int64(0)
	for _, t := range bySize[:len(bySize)-1] {
		small += t.Size
	}
	return small >= bySize[len(bySize)-1].Size/lateShare
}

// lateShare: the tables of a window are merged if the others add up to at least 1/lateShare of the
// largest.
const lateShare = 8

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
