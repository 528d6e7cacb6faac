package setjoin

import "sync/atomic"

// worker compares sets with those of the index.
type worker struct {
	*join
	reader, keepers *Reader
	prefixer        prefixer
	hashes, keys    []uint64
	finder          finder
	judge           Judge
	cache           [cacheSets]cached
	cachedElems     int
}

// A worker caches the sets of the index that it has read: the members of a cluster are compared
// with the same sets.
const (
	cacheSets  = 256
	cacheElems = 1 << 18 // elements of all cached sets
)

type cached struct {
	set    uint32
	hashes []uint64
}

// run processes items until none are left.
func (w *worker) run(next *atomic.Int64, fn func(w *worker, it *item)) (err error) {
	w.hashes, w.keys = w.hashes[:0], w.keys[:0]
	for w.found.Load() <= int64(w.o.found) {
		from := int(next.Add(workerRun)) - workerRun
		if from >= len(w.items) {
			return nil
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		// Each step waits for reads from memory, so the next items are prefetched meanwhile.
		items := w.items[from:min(from+workerRun, len(w.items))]
		for n := range len(items) + 2 {
			if n < len(items) {
				if err := w.read(&items[n], fn); err != nil {
					return err
				}
			}
			if n > 0 && n <= len(items) && items[n-1].hashes != nil {
				it := &items[n-1]
				it.prefix, w.keys = w.prefixer.of(it.hashes, w.keys)
				w.index.prefetch(&it.prefix, false)
			}
			if n > 1 && items[n-2].hashes != nil {
				if err := w.compareItem(&items[n-2]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read reads the set of an item, unless it is decided.
func (w *worker) read(it *item, fn func(w *worker, it *item)) (err error) {
	if fn(w, it); it.decided() {
		return nil
	}
	lo := len(w.hashes)
	if w.hashes, err = w.reader.Append(w.hashes, int(it.set)); err != nil {
		return err
	}
	it.hashes = w.hashes[lo:len(w.hashes):len(w.hashes)]
	w.prefixer.counts.prefetch(it.hashes[:min(firstPrefetched, len(it.hashes))])
	return nil
}

// compareItem compares an item with the entries of the index.
func (w *worker) compareItem(it *item) (err error) {
	if it.twin, err = w.isTwin(it); err == nil && !it.twin {
		err = w.passes(it, &w.index, w.probe)
	}
	if w.all {
		w.found.Add(int64(len(it.matches)))
	}
	return err
}

// probe compares an item with the entries of the index.
func (w *worker) probe(it *item) (err error) {
	in := &w.index
	return w.search(&w.finder, it, in, func(entry uint32) (done bool, err error) {
		set := in.sets[entry]
		if w.connected(it, set) || w.apart(it, in, entry) {
			return false, nil
		}
		var hashes []uint64
		if w.t.Kind.needsElements() {
			if hashes, err = w.set(set, int(in.sizes[entry])); err != nil {
				return false, err
			}
		}
		return w.compare(w.judge, it, in, entry, set, hashes)
	})
}

// set returns the elements of a set of the index.
func (w *worker) set(set uint32, size int) ([]uint64, error) {
	c := &w.cache[set%cacheSets]
	if c.set == set && len(c.hashes) > 0 {
		return c.hashes, nil
	}
	w.cachedElems -= cap(c.hashes)
	if w.cachedElems+max(size, cap(c.hashes)) > cacheElems {
		clear(w.cache[:])
		w.cachedElems = 0
	}
	hashes, err := w.keepers.Append(c.hashes[:0], int(set))
	*c = cached{set, hashes}
	w.cachedElems += cap(hashes)
	return hashes, err
}
