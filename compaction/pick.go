package compaction

import (
	"iter"
	"slices"
)

// A Reason says why tables are merged.
type Reason string

// The reasons of a Job.
const (
	ReasonDrop   Reason = "drop"   // no document of the tables is left
	ReasonTier   Reason = "tier"   // a tier of tables is full
	ReasonWindow Reason = "window" // a window of the time to live has passed
	ReasonDead   Reason = "dead"   // much of the table is deleted, replaced or expired
	ReasonCount  Reason = "count"  // there are many tables
)

// A Job is a set of tables to be merged into one.
type Job struct {
	Tables []uint64 // their numbers, ascending
	Reason Reason
	Bytes  int64 // total size of the tables
}

func newJob(reason Reason, tables []*Table) *Job {
	j := &Job{Reason: reason}
	for _, t := range tables {
		j.Tables = append(j.Tables, t.Number)
		j.Bytes += t.Size
	}
	slices.Sort(j.Tables)
	return j
}

// Pick returns the tables to merge into one next, or nil if no merge is needed. Their living
// documents fit into one table. Repeatedly merging the tables that Pick returns terminates.
func Pick(tables []Table, o Options) *Job {
	for j := range Jobs(tables, o, 0) {
		return j
	}
	return nil
}

// Jobs yields all merges that should be done, most urgent first; a table may be in several jobs.
// tables are those that are not being merged, and running is the number of running merges, each of
// which will add a table.
func Jobs(tables []Table, o Options, running int) iter.Seq[*Job] {
	o = o.withDefaults()
	return func(yield func(*Job) bool) {
		var all, done []*Table
		for i := range tables {
			t := &tables[i]
			switch {
			case t.gone(o.Expired):
				done = append(done, t)
			case !t.Damaged:
				all = append(all, t)
			}
		}
		if done != nil && !yield(newJob(ReasonDrop, done)) {
			return
		}
		groups, w := [][]*Table{all}, division{}
		passed := len(groups) // index of the first group of a window that has passed
		if o.TTL > 0 {
			w = windows(all, o)
			groups, passed = w.groups, w.past
		}
		for _, g := range groups {
			if tier := fullTier(g, o); tier != nil && !yield(newJob(ReasonTier, tier)) {
				return
			}
		}
		for tables := range passedWindows(groups[passed:], o) {
			if !yield(newJob(ReasonWindow, tables)) {
				return
			}
		}
		if t := mostlyDead(all, o); t != nil && !yield(newJob(ReasonDead, []*Table{t})) {
			return
		}
		if some := tooMany(groups, passed, o, running); some != nil {
			yield(newJob(ReasonCount, some))
		}
	}
}

// fullTier returns the tables to merge of the first full tier, counted from the smallest tables up:
// as many of its tables as fit into one table.
func fullTier(tables []*Table, o Options) []*Table {
	bySize := mergeable(tables, o)
	for i := 0; i < len(bySize); {
		limit := max(bySize[i].Size, o.Smallest) * int64(o.Fanout)
		j := i
		for j < len(bySize) && bySize[j].Size < limit {
			j++
		}
		if j-i >= o.Fanout {
			return fitting(bySize[i:j], o)
		}
		i = max(j, i+1)
	}
	return nil
}

// mostlyDead returns a table to rewrite, nil if there is none: a table with more than DeadShare
// deleted or replaced documents or, if dead documents need too much space, the table with the
// greatest dead share. With a time to live, expired documents count as dead, and may be at most
// Slack of the living ones.
func mostlyDead(tables []*Table, o Options) *Table {
	var most *Table
	share, dead, living := 0.0, 0.0, 0.0
	for _, t := range tables {
		if t.living().docs > o.MaxDocs {
			continue
		}
		if float64(t.Dead) > o.DeadShare*float64(t.Docs) {
			return t
		}
		n := t.Dead
		if o.Expired > 0 {
			n += t.Expired(o.Expired)
		}
		s, weight := float64(n)/float64(t.Docs), float64(t.Docs)
		if o.TTL <= 0 {
			weight = float64(t.Size)
		}
		dead, living = dead+s*weight, living+(1-s)*weight
		if s > share {
			most, share = t, s
		}
	}
	least := o.Slack * living
	if o.TTL <= 0 {
		if least = spaceShare*living - float64(o.MaxBytes); least < leastDead*living {
			return nil
		}
	}
	if dead > least {
		return most
	}
	return nil
}

// tooMany returns the tables of one group whose merge costs the fewest bytes per table saved. It
// returns nil if the number, including others, is at most MaxTables. groups[passed:] belong to
// windows that have passed.
func tooMany(groups [][]*Table, passed int, o Options, others int) []*Table {
	n := others
	var best []*Table
	var price float64 // bytes per table saved
	for g, tables := range groups {
		bySize := mergeable(tables, o)
		n += len(bySize)
		bytes := int64(0)
		for i, t := range fitting(bySize, o) {
			bytes += t.Size
			p := float64(bytes) / float64(i)
			if g >= passed {
				p /= lasting
			}
			if i > 0 && (best == nil || p < price) {
				best, price = bySize[:i+1], p
			}
		}
	}
	if n <= o.MaxTables {
		return nil
	}
	return best
}

// lasting is a cost factor: in a window that has passed, a merge may cost this many times more per
// table saved than elsewhere, because its effect lasts until the window expires. 16 writes least in
// the simulation of late documents.
const lasting = 16

// Without a time to live, dead documents and the result of the largest merge need at most
// spaceShare of the bytes of living documents, in a database so large that dead documents have
// leastDead documents left: so large that a table has at most a fifth. There the peak is 1.28 times the
// living bytes in TestBounded.
const (
	spaceShare = 0.28
	leastDead  = 0.08
)
