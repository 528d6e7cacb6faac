// Package contain finds the documents of a table that contain at least a given share of a set of
// features, and the documents of whose features a set contains at least a given share.
//
// The index is a key run for the sets of all documents. For each feature it has the leading bits of
// its hash, its bin, with the number of the document:
//
//	 63       22+w           w          0        w = bits.Len(documents - 1)
//	+-------+-----+-------------------+
//	| zeros | bin | document number w |
//	+-------+-----+-------------------+
//
// A key needs about log2(2^22 / features of a document) + 2 bits, whatever the number of documents.
// Bins are not hashes: they show that a document may have a feature, and its text decides. All
// tables have the same number of bins, so a merge needs no texts. A column has the sizes of the
// sets.
//
// A document that contains need of the n features of a set lacks at most n - need features. So
// among any p of the features it has at least p - (n - need): it suffices to look for n - need + 1
// features, and a few more rule out nearly all documents that only have a feature in the same bin.
// The rarest features are looked for. If instead the set must contain the share t of a document,
// all features are looked for, and the size of the document's own set determines how many it must
// have.
package contain

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// BinBits is how many leading bits of a hash form its bin. One bit less would save an eighth of a
// byte per feature, and double the number of documents in every bin.
const BinBits = 22

// BinOf returns the bin of the hash of a feature.
func BinOf(hash uint64) uint32 { return uint32(hash >> (64 - BinBits)) }

// Width returns how many bits of a key are the document number, for a given number of documents.
func Width(docs uint32) uint { return uint(bits.Len32(max(docs, 1) - 1)) }

// An Index is a table's index of the sets of its documents. It is safe for concurrent use.
type Index struct {
	Keys  *keyrun.Run
	Sizes *keyrun.Column // of the sets, by document
}

// A Query searches for the documents that contain at least the share T of a set or, with Within,
// for the documents of whose features the set contains at least that share.
type Query struct {
	Set    []uint64 // hashes of features, ascending
	T      float64
	Within bool // T is the share of the document's features that are in Set
	Most   int  // limit of the documents counted, at DocBytes of memory each
}

// DocBytes is the memory that a search needs for each document it counts.
const DocBytes = 32

// More features are looked for than necessary: spareLists more, and further ones as long as the
// total number of keys read is at most fewRead. Then a document with too few of the features must
// be in more of their bins by chance before its text is read without a match, which costs as much
// as reading thousands of keys.
const (
	spareLists = 8
	fewRead    = 500
)

// mostRead is the maximum number of keys read per document of the table: that costs about as much
// as reading the document's text.
const mostRead = 100

// A list is the range of keys of a bin with at least one feature of a set.
type list struct {
	from, to int // positions
	weight   int // number of features in the bin
}

func (l list) len() int { return l.to - l.from }

// Candidates appends to dst, ascending, the documents that may match a query: all that do match,
// and few others. read is the number of keys read. It returns false if reading all texts would be
// faster, or if more than Most documents have to be counted.
func (x *Index) Candidates(dst []uint32, q Query) (docs []uint32, read int, ok bool, err error) {
	all, err := x.lists(q.Set)
	if err != nil {
		return dst, 0, false, err
	}
	lists := all[:0] // one for each bin
	for i, l := range all {
		if n := len(lists); i > 0 && BinOf(q.Set[i]) == BinOf(q.Set[i-1]) {
			lists[n-1].weight++
		} else {
			lists = append(lists, l)
		}
	}
	least := 1 // minimum number of the features looked for
	if !q.Within {
		lacking := len(q.Set) - need(q.T, len(q.Set))
		slices.SortFunc(lists, func(a, b list) int { return cmp.Compare(a.len(), b.len()) })
		weight, keys, n := 0, 0, 0
		for ; n < len(lists); n++ {
			keys += lists[n].len()
			if weight > lacking+spareLists && keys > fewRead {
				break
			}
			weight += lists[n].weight
		}
		lists, least = lists[:n], weight-lacking
	}
	counts, read, ok, err := x.count(lists, q.Most)
	for _, c := range counts {
		doc := uint32(c >> 32)
		if q.Within {
			size, err := x.Sizes.Get(int(doc))
			if err != nil {
				return dst, read, false, err
			}
			least = need(q.T, int(size))
		}
		if int(uint32(c)) >= least {
			dst = append(dst, doc)
		}
	}
	return dst, read, ok, err
}

// Runs is Candidates for the documents that may have all of number consecutive features; number
// must be at least 1. It looks up only some of the features, chosen so that each run of number
// features has one, and so that the fewest keys are read.
func (x *Index) Runs(dst []uint32, features []uint64, number, most int) (docs []uint32, read int, ok bool, err error) {
	// A choice ends at a feature and leaves out fewer than number features between two. best[i] is
	// the cost of the cheapest choice that ends at feature i, and before[i] its previous feature.
	best, before := make([]int, len(features)), make([]int, len(features))
	all, err := x.lists(features)
	if err != nil {
		return dst, 0, false, err
	}
	var recent []int // candidates for the previous feature of the next choice, by ascending cost
	for i := range features {
		best[i], before[i] = all[i].len()+1, -1
		if len(recent) > 0 && recent[0] < i-number {
			recent = recent[1:]
		}
		if i >= number {
			before[i] = recent[0]
			best[i] += best[recent[0]]
		}
		for len(recent) > 0 && best[recent[len(recent)-1]] >= best[i] {
			recent = recent[:len(recent)-1]
		}
		recent = append(recent, i)
	}
	last := -1
	if len(features) >= number {
		last = recent[0]
		if last < len(features)-number {
			last = recent[1]
		}
	}
	var lists []list
	for i := last; i >= 0; i = before[i] {
		lists = append(lists, all[i])
	}
	slices.SortFunc(lists, func(a, b list) int { return cmp.Compare(a.from, b.from) })
	counts, read, ok, err := x.count(slices.Compact(lists), most)
	for _, c := range counts {
		dst = append(dst, uint32(c>>32))
	}
	return dst, read, ok, err
}

// count returns the documents in some lists, ascending, as document<<32 | sum of the weights of its
// lists, and the number of keys read. It returns false if reading all texts would be faster, or if
// there are more than most documents.
func (x *Index) count(lists []list, most int) (counts []uint64, read int, ok bool, err error) {
	for _, l := range lists {
		read += l.len()
	}
	docs := x.Sizes.Len()
	if read > mostRead*docs {
		return nil, 0, false, nil
	}
	var t tally
	var keys []uint64
	mask := uint64(1)<<Width(uint32(docs)) - 1
	for _, l := range lists {
		if keys, err = x.Keys.AppendKeys(keys[:0], l.from, l.to); err != nil {
			return nil, read, false, err
		}
		for _, k := range keys {
			t.add(uint32(k&mask), l.weight)
		}
		if len(t.counts) > most && len(t.sum()) > most {
			return nil, 0, false, nil
		}
	}
	counts = t.sum()
	if n := len(counts); n > 0 && counts[n-1]>>32 >= uint64(docs) {
		return nil, read, false, x.Keys.Corrupt(0, "document %d of %d", counts[n-1]>>32, docs)
	}
	return counts, read, true, nil
}

// need returns the least number of n elements that is at least the share t, and at least one.
func need(t float64, n int) int {
	least := max(int(t*float64(n))-1, 1) // the product is rounded
	for least < n && float64(least)/float64(n) < t {
		least++
	}
	return least
}

// bin returns the least and the greatest key that the bin of a feature can have.
func (x *Index) bin(hash uint64) (first, last uint64) {
	width := Width(uint32(x.Sizes.Len()))
	first = uint64(BinOf(hash)) << width
	return first, first | (1<<width - 1)
}

// lists returns the list of the bin of each feature. It prefetches the directory entries, and then
// the blocks, for all features first, so that cache misses overlap.
func (x *Index) lists(features []uint64) ([]list, error) {
	lists := make([]list, len(features))
	if x.Keys.Len() == 0 {
		return lists, nil
	}
	for _, hash := range features {
		first, _ := x.bin(hash)
		x.Keys.PrefetchWindow(first)
	}
	for _, hash := range features {
		first, last := x.bin(hash)
		block, end := x.Keys.Blocks(first, last)
		r := keyrun.Range{First: first, Last: last, Run: x.Keys, Block: uint32(block), End: uint32(end)}
		r.Prefetch(1)
	}
	for i, hash := range features {
		var err error
		first, last := x.bin(hash)
		if lists[i].from, lists[i].to, err = x.Keys.Range(first, last); err != nil {
			return nil, err
		}
		lists[i].weight = 1
	}
	return lists, nil
}

// A tally counts documents. Its memory depends on the number of different documents, not on the
// number of counts.
type tally struct {
	counts, tmp []uint64 // document<<32 | count
}

// leastTally is the minimum capacity of a tally, in entries.
const leastTally = 1 << 12

// add adds n to the count of a document.
func (t *tally) add(doc uint32, n int) {
	if len(t.counts) == cap(t.counts) {
		if t.sum(); t.counts == nil || len(t.counts) > cap(t.counts)/2 {
			t.counts = slices.Grow(t.counts, max(leastTally, len(t.counts)))
		}
	}
	t.counts = append(t.counts, uint64(doc)<<32|uint64(uint32(n)))
}

// sum adds up the counts, and returns them by document, ascending.
func (t *tally) sum() []uint64 {
	t.tmp = slices.Grow(t.tmp[:0], cap(t.counts))[:len(t.counts)]
	sorted, spare := ordered.Radix(t.counts, t.tmp, 64)
	n := 0
	for _, c := range sorted {
		if n > 0 && sorted[n-1]>>32 == c>>32 {
			sorted[n-1] += c & (1<<32 - 1)
		} else {
			sorted[n] = c
			n++
		}
	}
	t.counts, t.tmp = sorted[:n], spare
	return t.counts
}
