package sstable

// groupTables is how many tables are searched together: what is prefetched for them has to stay in the first caches.
const groupTables = 16

// GroupScratch is the working memory of searches in several tables, one at a time. Its zero value is ready.
type GroupScratch struct {
	Scratch
	plans [groupTables]searchPlan
	hits  []Hit
}

// NearGroup is Near in several tables, for each of which it calls each once, in order, with the table's position, its hits (valid during
// the call) and what the search took. It goes through all tables step by step, directories first, then ranges, so that their cache
// misses overlap as those of one table do. An error of each ends it.
func NearGroup(tables []*Reader, q uint64, k int, s *GroupScratch, each func(table int, hits []Hit, stats NearStats) error) (err error) {
	defer unguardAny(tables, guard(), &err)
	for first := 0; first < len(tables); first += groupTables {
		some := tables[first:min(first+groupTables, len(tables))]
		s.startPlans()
		for i, r := range some {
			r.index.aim(q, k, &s.Scratch, &s.plans[i])
		}
		for i, r := range some {
			r.index.look(&s.Scratch, &s.plans[i])
		}
		for i, r := range some {
			r.index.plan(&s.Scratch, &s.plans[i])
		}
		for i, r := range some {
			s.Stats, s.table = NearStats{}, first+i
			if s.hits, err = r.index.finish(&s.Scratch, &s.plans[i], s.hits[:0]); err != nil {
				return err
			}
			if err := each(first+i, s.hits, s.Stats); err != nil {
				return err
			}
		}
	}
	return nil
}
