package memindex

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// GrowingSets is an index of the features of the documents of a memtable; searches by containment
// add documents as they need them. The zero value is ready to use; any number of goroutines may use
// it.
type GrowingSets struct {
	mu     sync.Mutex
	lists  map[uint32][]uint32 // documents with a feature, by the leading bits of the feature
	sizes  []uint32            // sizes of the sets of the first documents
	counts []uint32            // counter per document; 0 between searches
	full   bool                // the budget is exhausted
	from   *Budget
	bytes  int64
}

// featureBytes is about the memory for a feature of a document that no other document has.
const featureBytes = 64

// Candidates appends to dst, in ascending order, those of the first n documents that may contain at
// least the fraction t of query, or, if within is set, that may have at least the fraction t of
// their own set in query. set returns the set of a document. visited is the number of list entries
// read. ok is false if the budget does not allow the index.
func (g *GrowingSets) Candidates(b *Budget, dst []uint32, n int, set func(i int) []uint64, query []uint64, t float64, within bool) (docs []uint32, visited int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.from = b; len(g.sizes) < n; {
		if !g.add(set(len(g.sizes))) {
			return dst, 0, false
		}
	}
	need := func(size int) int { return max(1, int(math.Ceil(t*float64(size)*(1-1e-9)))) }
	lists, least, first := make([][]uint32, len(query)), 1, len(query)
	for i, e := range query {
		lists[i] = g.lists[uint32(e>>32)]
	}
	if !within { // a match has at least one of the len(query)-least+1 rarest features
		least = need(len(query))
		slices.SortFunc(lists, func(a, b []uint32) int { return cmp.Compare(len(a), len(b)) })
		first = min(first, len(query)-least+1)
	}
	from := len(dst)
	for _, l := range lists[:first] {
		visited += len(l)
		for _, doc := range l {
			if g.counts[doc]++; g.counts[doc] == 1 {
				dst = append(dst, doc)
			}
		}
	}
	if len(dst) > from {
		for _, l := range lists[first:] {
			visited += len(l)
			for _, doc := range l {
				g.counts[doc] += min(g.counts[doc], 1)
			}
		}
	}
	matching := dst[:from]
	for _, doc := range dst[from:] {
		if within {
			least = need(int(g.sizes[doc]))
		}
		if int(g.counts[doc]) >= least && int(doc) < n {
			matching = append(matching, doc)
		}
		g.counts[doc] = 0
	}
	slices.Sort(matching[from:])
	return matching, visited, true
}

// add adds the set of the next document.
func (g *GrowingSets) add(set []uint64) bool {
	if bytes := featureBytes * int64(len(set)+1); g.full || !g.from.take(bytes) {
		g.full = true
		return false
	} else if g.bytes += bytes; g.lists == nil {
		g.lists = map[uint32][]uint32{}
	}
	doc := uint32(len(g.sizes))
	g.sizes, g.counts = append(g.sizes, uint32(len(set))), append(g.counts, 0)
	for _, e := range set {
		g.lists[uint32(e>>32)] = append(g.lists[uint32(e>>32)], doc)
	}
	return true
}

// GiveBack returns the memory of the index to the budget. Only searches that have already begun may
// use g afterwards.
func (g *GrowingSets) GiveBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bytes > 0 {
		g.from.left.Add(g.bytes)
	}
	g.lists, g.sizes, g.counts, g.bytes, g.full = nil, nil, nil, 0, true
}
