package merges

import (
	"slices"

	"github.com/simdb/simdb/compaction"
)

// Reserve excludes a table from merges of the policy until Release.
func (g *Scheduler) Reserve(table uint64) {
	l := &g.loads
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reserved == nil {
		l.reserved = map[uint64]bool{}
	}
	l.reserved[table] = true
}

// Release returns reserved tables to the policy.
func (g *Scheduler) Release(tables []uint64) {
	g.loads.mu.Lock()
	defer g.loads.mu.Unlock()
	g.loads.release(tables)
}

// Want requests a merge of reserved tables into one, before any merge of the policy.
func (g *Scheduler) Want(tables []uint64) {
	g.loads.mu.Lock()
	defer g.loads.mu.Unlock()
	g.loads.wanted = append(g.loads.wanted, slices.Clone(tables))
}

// numWanted returns the number of merges requested by Want. The caller reads it before the list of
// tables, because a merge requested later may need tables that the list does not have yet.
func (g *Scheduler) numWanted() int {
	g.loads.mu.Lock()
	defer g.loads.mu.Unlock()
	return len(g.loads.wanted)
}

// takeWanted returns the next of the first wanted merges requested by Want for which may returns
// true, nil if there is none. It discards merges that have become impossible because tables no
// longer exist. The caller holds the lock of the Scheduler.
func (g *Scheduler) takeWanted(wanted int, tables []compaction.Table, o compaction.Options, may func(bytes int64) bool) *compaction.Job {
	l := &g.loads
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 0; i < wanted; i++ {
		j, in := &compaction.Job{Reason: ReasonLoad}, []compaction.Table(nil)
		for _, t := range tables {
			if slices.Contains(l.wanted[i], t.Number) && !t.Damaged && !g.schedule.Taken(t.Number) {
				j.Tables = append(j.Tables, t.Number)
				j.Bytes += t.Size
				in = append(in, t)
			}
		}
		possible := len(in) > 1 && o.Fit(in)
		if possible && !may(j.Bytes) {
			continue
		}
		l.release(l.wanted[i])
		l.wanted = slices.Delete(l.wanted, i, i+1)
		if possible {
			slices.Sort(j.Tables)
			return j
		}
		i--
		wanted--
	}
	return nil
}

// unreserved returns the tables that the policy may pick.
func (g *Scheduler) unreserved(tables []compaction.Table) []compaction.Table {
	g.loads.mu.Lock()
	defer g.loads.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(tables), func(t compaction.Table) bool { return g.loads.reserved[t.Number] })
}
