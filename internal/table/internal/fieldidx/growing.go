package fieldidx

import (
	"bytes"
	"slices"
	"sync"
)

// Growing has the keys of records in memory. The zero value is ready to use; any number of
// goroutines may use it.
type Growing struct {
	mu      sync.Mutex
	records int
	lists   [][]run // each run has more than twice as many keys as the next one
}

// A run is sorted and never changes.
type run []Keyed

// Keyed is a key with its record.
type Keyed struct {
	key    []byte
	Record uint32
}

// Grow adds records until there are n. indexed returns the paths of the fields, which must not
// change.
func (g *Growing) Grow(n int, indexed func() [][]string, fields func(record int) []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n <= g.records {
		return
	}
	paths := indexed()
	if g.lists == nil {
		g.lists = make([][]run, Lists*len(paths))
	}
	added := make([]run, len(g.lists))
	for ; g.records < n; g.records++ {
		for i, path := range paths {
			Each(path, fields(g.records), func(list int, key []byte) {
				keys := &added[Lists*i+list]
				*keys = append(*keys, Keyed{bytes.Clone(key), uint32(g.records)})
			})
		}
	}
	for list, last := range added {
		if len(last) == 0 {
			continue
		}
		runs := g.lists[list]
		for len(runs) > 0 && len(runs[len(runs)-1]) <= 2*len(last) {
			last = slices.Concat(runs[len(runs)-1], last)
			runs = runs[:len(runs)-1]
		}
		slices.SortFunc(last, func(a, b Keyed) int { return bytes.Compare(a.key, b.key) })
		g.lists[list] = append(runs, last)
	}
}

// Range returns the keys in a range, as List.Range does. They must not be changed.
func (g *Growing) Range(list int, from, to []byte, above, below bool) (found [][]Keyed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if list >= len(g.lists) {
		return nil // no records
	}
	for _, r := range g.lists[list] {
		lo, hi := between(len(r), func(i int) []byte { return r[i].key }, from, to, above, below)
		if lo < hi {
			found = append(found, r[lo:hi])
		}
	}
	return found
}
