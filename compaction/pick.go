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
//
// A table has a limit of documents, and no merge is picked whose result might exceed it. A table
// that is more than half full is left alone, but for the dead in it. The others of a tier are
// merged as far as they fit into one table, the smaller ones first; if they do not all fit, the
// result is more than half full. So the limit makes a document be rewritten at most once more, and
// apart from tiers that are not full there are less than twice as many tables as the documents
// need.
package compaction

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/sstable"
)

// Table describes a table to Pick.
type Table struct {
	Number  uint64 // the table's name
	Size    int64  // bytes
	Docs    int64
	Dead    int64 // documents that are deleted or replaced
	MaxTime int64 // of the newest document, in microseconds since 1970
}

// living returns how many documents of t a merge keeps at most.
func (t *Table) living() int64 { return t.Docs - t.Dead }

// Options are the parameters of the policy; zero values mean the defaults.
type Options struct {
	Fanout    int     // tables a tier before it is merged, at least 2; default 4
	DeadShare float64 // share of dead documents at which a table is rewritten; default 0.3
	Smallest  int64   // bytes; all tables below it count as one tier; default 4 MiB
	Expired   int64   // documents older than this, in microseconds since 1970, have expired; 0 for none
	MaxDocs   int64   // documents that a table can have; default sstable.MaxDocs
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
	if o.MaxDocs <= 0 {
		o.MaxDocs = sstable.MaxDocs
	}
	return o
}

// Pick returns the numbers of the tables to merge into one next, in ascending order, or nil if none
// needs it. What of them is alive fits into one table. A caller that merges what is picked until
// nothing is comes to an end.
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
		if float64(t.Dead) > o.DeadShare*float64(t.Docs) && t.living() <= o.MaxDocs {
			return []uint64{t.Number}
		}
	}
	return nil
}

// fullTier returns tables to merge of the first tier, from the smallest tables up, that holds
// Fanout tables or more: all that fit into one table.
func fullTier(tables []Table, o Options) []uint64 {
	var bySize []Table
	for _, t := range tables {
		if t.living() <= o.MaxDocs/2 {
			bySize = append(bySize, t)
		}
	}
	slices.SortFunc(bySize, func(a, b Table) int {
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
			return fitting(bySize[i:j], o.MaxDocs)
		}
		i = max(j, i+1)
	}
	return nil
}

// fitting returns the first tables, at least two, of which maxDocs documents or fewer are alive.
// Each of the tables is half full at most.
func fitting(tables []Table, maxDocs int64) []uint64 {
	var fit []uint64
	docs := int64(0)
	for _, t := range tables {
		if docs += t.living(); docs > maxDocs {
			break
		}
		fit = append(fit, t.Number)
	}
	slices.Sort(fit)
	return fit
}

// Group divides tables into few groups, each of which can be merged into one table: its living
// documents are at most maxDocs, sstable.MaxDocs if that is 0. A table with more is a group of its
// own. There are less than twice as many groups as full tables could hold the documents, and one,
// and no two of the groups fit into one table. The order is that of the number of living documents,
// descending; in a group numbers ascend.
func Group(tables []Table, maxDocs int64) [][]uint64 {
	maxDocs = Options{MaxDocs: maxDocs}.withDefaults().MaxDocs
	// First fit decreasing.
	byDocs := slices.SortedFunc(slices.Values(tables), func(a, b Table) int {
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
