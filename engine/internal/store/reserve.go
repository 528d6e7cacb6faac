package store

import (
	"slices"

	"github.com/simdb/simdb/compaction"
)

// Reserve keeps a table from being picked for a merge, until Release.
func (db *Store) Reserve(table uint64) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.ofLoads.reserved == nil {
		db.ofLoads.reserved = map[uint64]bool{}
	}
	db.ofLoads.reserved[table] = true
}

// Release leaves tables to the policy.
func (db *Store) Release(tables []uint64) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.releaseLocked(tables)
}

func (db *Store) releaseLocked(tables []uint64) {
	for _, t := range tables {
		delete(db.ofLoads.reserved, t)
	}
}

// WantMerged has reserved tables merged into one, before whatever the policy picks.
func (db *Store) WantMerged(tables []uint64) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.ofLoads.wanted = append(db.ofLoads.wanted, slices.Clone(tables))
}

// takeWanted returns the next merge that loads want and that may be started by its bytes, nil if
// there is none. Merges that are not possible any more, as tables have gone, are forgotten. The
// caller holds the lock of merges.
func (db *Store) takeWanted(tables []compaction.Table, may func(bytes int64) bool) *compaction.Job {
	db.mu.Lock()
	defer db.mu.Unlock()
	wanted := db.ofLoads.wanted
	for i := 0; i < len(wanted); i++ {
		j, docs := &compaction.Job{Reason: compaction.ReasonLoad}, int64(0)
		for _, t := range tables {
			if slices.Contains(wanted[i], t.Number) && !db.merges.schedule.Taken(t.Number) {
				j.Tables = append(j.Tables, t.Number)
				j.Bytes += t.Size
				docs += t.Docs - t.Dead
			}
		}
		possible := len(j.Tables) > 1 && docs <= db.MaxDocs()
		if possible && !may(j.Bytes) {
			continue
		}
		db.releaseLocked(wanted[i])
		wanted = slices.Delete(wanted, i, i+1)
		db.ofLoads.wanted = wanted
		if possible {
			slices.Sort(j.Tables)
			return j
		}
		i--
	}
	return nil
}

// unreserved returns the tables that the policy may pick from.
func (db *Store) unreserved(tables []compaction.Table) []compaction.Table {
	db.mu.Lock()
	defer db.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(tables), func(t compaction.Table) bool { return db.ofLoads.reserved[t.Number] })
}
