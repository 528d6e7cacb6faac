package hamming

// groupTables is how many searches are planned together: what is prefetched for them has to stay in the first caches.
const groupTables = 16

// Group is Near in several tables. It calls fn once for each, in order, with the table's position, its hits (valid during
// the call) and the work that the search took, and stops at the first error, which it returns. It takes each step for all
// tables of a group before the next step, so that their cache misses overlap as those of one table do.
func (s *Searcher) Group(tables []*Index, q uint64, k int, fn func(table int, hits []Hit, work Stats) error) (err error) {
	for first := 0; first < len(tables); first += groupTables {
		some := tables[first:min(first+groupTables, len(tables))]
		s.start()
		for i, x := range some {
			x.prepare(q, k, s, &s.plans[i])
		}
		for i, x := range some {
			x.resolveLeads(s, &s.plans[i])
		}
		for i, x := range some {
			x.choose(s, &s.plans[i])
		}
		for i, x := range some {
			s.stats, s.table = Stats{}, first+i
			if s.group, err = x.execute(s, &s.plans[i], s.group[:0]); err != nil {
				return err
			}
			if err := fn(first+i, s.group, s.stats); err != nil {
				return err
			}
		}
	}
	return nil
}
