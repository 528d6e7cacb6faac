package compaction

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// A division is tables, grouped by the windows of a time to live. Tables may be merged with those
// of their group.
type division struct {
	// groups are, first, tables that span more than a window, if there are any, then those of each
	// window, the youngest first.
	groups [][]*Table
	past   int // the first group of a window that has passed; len(groups) if there is none
}

// wideSpan is how many windows a table may span and still belong to one: a table that was flushed
// across a border spans two for a part.
const wideSpan = 1.25

// windows divides tables by the window that their newest document belongs to. Options have a TTL.
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
		w := min(floorDiv(t.MaxTime, window), now) // documents may have times of the future
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

// oldest returns a time that nearly all documents of t are younger than: a few old ones among them
// cost little space, and do not make the table span more windows.
func (t *Table) oldest() int64 {
	if n := len(t.Times); n >= 16 {
		return t.Times[n/16]
	}
	return t.MinTime
}

// passedWindows yields the tables of each of these windows, where they are to become one. What was
// added late waits until it is worth it.
func passedWindows(windows [][]*Table, o Options) iter.Seq[[]*Table] {
	return func(yield func([]*Table) bool) {
		for _, tables := range windows {
			bySize := mergeable(tables, o)
			if len(bySize) < 2 || !worthIt(bySize) {
				continue
			}
			if fit := fitting(bySize, o.MaxDocs); !yield(fit) {
				return
			}
		}
	}
}

// worthIt reports whether the small ones of tables, ordered by size, are enough to rewrite the
// largest.
func worthIt(bySize []*Table) bool {
	small := int64(0)
	for _, t := range bySize[:len(bySize)-1] {
		small += t.Size
	}
	return small >= bySize[len(bySize)-1].Size/lateShare
}

// lateShare is the share of the largest table of a window, as a divisor, that the others must add
// up to for all to be merged.
const lateShare = 8

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
