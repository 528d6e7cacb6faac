// Package compaction decides which tables to merge, and merges them.
//
//	numbers := compaction.Pick(tables, compaction.Options{})  // nil: nothing to do
//	renumber, err := compaction.Merge(ctx, w, inputs, nil)    // into the writer of a table
//
// [Pick] is the policy and [Merge], or a [Merger] for several outputs, the mechanism. The package
// knows tables and tombstones; files, versions and the catalog belong to the engine.
//
// # Policy
//
// Tables are merged size-tiered: a tier is the set of tables whose sizes lie within a factor of
// Fanout, and a tier of Fanout tables or more is merged into one table, which then belongs to a
// higher tier. With n tables' worth of data a document is rewritten about log_Fanout(n) times, and
// a query meets at most Fanout-1 tables a tier. Also, a table of which more than DeadShare is
// dead is rewritten alone, and a table whose newest document has expired is dropped without being
// read.
package compaction

import (
	"cmp"
	"slices"
)

// Table describes a table to Pick.
type Table struct {
	Number  uint64 // the table's name
	Size    int64  // bytes
	Docs    int64
	Dead    int64 // documents that are deleted or replaced
	MaxTime int64 // of the newest document, in microseconds since 1970
}

// Options are the parameters of the policy; zero values mean the defaults.
type Options struct {
	Fanout    int     // tables a tier before it is merged, at least 2; default 4
	DeadShare float64 // share of dead documents at which a table is rewritten; default 0.3
	Smallest  int64   // bytes; all tables below it count as one tier; default 4 MiB
	Expired   int64   // documents older than this, in microseconds since 1970, have expired; 0 for none
}

func (o Options) withDefaults() Options {
	if o.Fanout < 2 {
		o.Fanout = 4
	}
	if o.DeadShare <= 0 {
		o.DeadShare = 0.3
	}
	if o.Smallest <= 0 {
		o.Smallest = 4 << 20
	}
	return o
}

// Pick returns the numbers of the tables to merge into one next, in ascending order, or nil if none
// needs it.
func Pick(tables []Table, o Options) []uint64 {
	o = o.withDefaults()
	var done []uint64
	for _, t := range tables {
		if t.Docs == t.Dead || o.Expired > 0 && t.MaxTime < o.Expired {
			done = append(done, t.Number) // nothing of it is left
		}
	}
	if len(done) > 0 {
		slices.Sort(done)
		return done
	}
	if tier := fullTier(tables, o); tier != nil {
		return tier
	}
	for _, t := range tables {
		if float64(t.Dead) > o.DeadShare*float64(t.Docs) {
			return []uint64{t.Number}
		}
	}
	return nil
}

// fullTier returns the first tier, from the smallest tables up, that holds Fanout tables or more.
func fullTier(tables []Table, o Options) []uint64 {
	bySize := slices.SortedFunc(slices.Values(tables), func(a, b Table) int {
		if c := cmp.Compare(a.Size, b.Size); c != 0 {
			return c
		}
		return cmp.Compare(a.Number, b.Number)
	})
	for i := 0; i < len(bySize); {
		limit := max(bySize[i].Size, o.Smallest) * int64(o.Fanout)
		j := i
		for j < len(bySize) && bySize[j].Size < limit {
			j++
		}
		if j-i >= o.Fanout {
			tier := make([]uint64, 0, j-i)
			for _, t := range bySize[i:j] {
				tier = append(tier, t.Number)
			}
			slices.Sort(tier)
			return tier
		}
		i = max(j, i+1)
	}
	return nil
}
