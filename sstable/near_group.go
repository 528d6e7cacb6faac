package sstable

// groupTables is how many tables are searched together: what is prefetched for them has to stay in the first caches.
const groupTables = 16

// GroupScratch is the working memory of searches in several tables, one at a time. Its zero value is ready.
type GroupScratch struct {
	tables [groupTables]Scratch
	hits   []Hit
}

// NearGroup is Near in several tables, for each of which it calls each once, in order, with the table's position, its hits (valid during
// the call) and what the search took. It goes through all tables step by step, directories first, then ranges, so that their cache
// misses overlap as those of one table do. An error of each ends it.
func NearGroup(tables []*Reader, q uint64, k int, s *GroupScratch, each func(table int, hits []Hit, stats NearStats) error) error {
	for first := 0; first < len(tables); first += groupTables {
		some := tables[first:min(first+groupTables, len(tables))]
		for _, r := range some {
			r.index.touch(q)
		}
		for i, r := range some {
			if err := r.prepareNear(q, k, &s.tables[i]); err != nil {
				return err
			}
		}
		for i, r := range some {
			var err error
			if s.hits, err = r.finishNear(q, k, &s.tables[i], s.hits[:0]); err != nil {
				return err
			}
			if err := each(first+i, s.hits, s.tables[i].Stats); err != nil {
				return err
			}
		}
	}
	return nil
}

// touch prefetches the parts of the directories that a search starts with.
func (x *Index) touch(q uint64) {
	for i := range x.tables {
		x.tables[i].run.touch(x.tables[i].apply(q))
	}
}

func (r *Reader) prepareNear(q uint64, k int, s *Scratch) (err error) {
	defer r.unguard(guard(), &err)
	s.Stats = NearStats{}
	r.index.prepare(q, k, s)
	return nil
}

func (r *Reader) finishNear(q uint64, k int, s *Scratch, dst []Hit) (hits []Hit, err error) {
	defer r.unguard(guard(), &err)
	return r.index.finish(q, k, s, dst)
}
