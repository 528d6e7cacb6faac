// Package contain finds the documents of a table that hold much of a set of features, and those of
// which a set holds much.
//
// The index is a key run of all sets: of each feature the leading bits of its hash, its bin, with
// the number of the document:
//
//	 63       22+w           w          0        w = bits.Len(documents - 1)
//	+-------+-----+-------------------+
//	| zeros | bin | document number w |
//	+-------+-----+-------------------+
//
// A key takes about log2(2^22 / features of a document) + 2 bits, however many documents there are.
// The bins are no hashes: they tell that a document may have a feature, and its text decides. As
// their number is the same in all tables, a merge needs no texts. A column has the sizes of the
// sets.
//
// A document that holds need of the n features of a set lacks at most n - need of them. So of any p
// of them it has p - (n - need) or more: it is enough to look for n - need + 1, and a few more
// leave hardly a document that has only a feature of the same bins. The rarest are looked for. Of a
// set that shall hold the share t of a document, all are looked for, and the size of the document's
// own set says how many it takes.
package contain

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// BinBits is how many leading bits of a hash are a bin. One less takes an eighth of a byte less for
// each feature, and makes every bin have twice as many documents.
const BinBits = 22

// BinOf returns the bin of the hash of a feature.
func BinOf(hash uint64) uint32 { return uint32(hash >> (64 - BinBits)) }

// Width returns how many bits of a key are the number of a document, of that many documents.
func Width(docs uint32) uint { return uint(bits.Len32(max(docs, 1) - 1)) }

// An Index is what a table has of the sets of its documents. It is safe for concurrent use.
type Index struct {
	Keys  *keyrun.Run
	Sizes *keyrun.Column // of the sets, by document
}

// A Query is a search for the documents that hold at least the share T of a set, or of which the
// set holds that share at least.
type Query struct {
	Set    []uint64 // hashes of features, which ascend
	T      float64
	Within bool // the share is that of the document's set that is in Set, not the other way round
	Most   int  // documents that may be counted, at DocBytes of memory each
}

// DocBytes is what a document takes that is counted.
const DocBytes = 32

// Features are looked for beyond those that must be: spareLists, and more as long as fewRead keys
// are read in all. A document that has but a part of what it should has to be in as many of them
// for its text to be read in vain, which takes as long as reading thousands of
// keys.
const (
	spareLists = 8
	fewRead    = 500
)

// mostRead is how many keys are read for each document of the table at most: that takes about as
// long as reading its text.
const mostRead = 100

// A list is the keys of a bin in which a set has some features.
type list struct {
	from, to int // positions
	weight   int // features
}

func (l list) len() int { return l.to - l.from }

// Candidates appends the documents to dst that may be what a query looks for, ascending: all that
// are, and few others. Read is how many keys were read for it. It returns false if reading all
// texts takes less time, or the documents that have to be counted are more than Most.
func (x *Index) Candidates(dst []uint32, q Query) (docs []uint32, read int, ok bool, err error) {
	all, err := x.lists(q.Set)
	if err != nil {
		return dst, 0, false, err
	}
	lists := all[:0] // of each bin one
	for i, l := range all {
		if n := len(lists); i > 0 && BinOf(q.Set[i]) == BinOf(q.Set[i-1]) {
			lists[n-1].weight++
		} else {
			lists = append(lists, l)
		}
	}
	least := 1 // of the features that are looked for
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

// Runs is Candidates for the documents that may have all of some number of features, 1 or more,
// that follow each other. Only some of the features are looked up, chosen so that each run
// of number has one of them and the fewest keys are read.
func (x *Index) Runs(dst []uint32, features []uint64, number, most int) (docs []uint32, read int, ok bool, err error) {
	// A choice ends at a feature and leaves out fewer than number between two. Of the choices that
	// end at feature i, best has the cost of the cheapest, and before the feature before i in it.
	best, before := make([]int, len(features)), make([]int, len(features))
	all, err := x.lists(features)
	if err != nil {
		return dst, 0, false, err
	}
	var recent []int // features at which the next choice may have been before, by rising cost
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

// count returns the documents of some lists, ascending, as document<<32 | sum of the weights of its
// lists, and how many keys it has read; false if reading all texts takes less time, or there are
// more than most.
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

// need returns the least number of n elements whose share is t or more, and one at least.
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

// lists returns the list of the bin of each feature. What is read of the directory, and then of the
// blocks, is requested for all of them before, so that the cache misses overlap.
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

// A tally counts documents. Its memory is that of the different documents, not of all that are
// counted.
type tally struct {
	counts, tmp []uint64 // document<<32 | count
}

// leastTally is how many entries a tally has room for at least.
const leastTally = 1 << 12

// add counts n more for a document.
func (t *tally) add(doc uint32, n int) {
	if len(t.counts) == cap(t.counts) {
		if t.sum(); t.counts == nil || len(t.counts) > cap(t.counts)/2 {
			t.counts = slices.Grow(t.counts, max(leastTally, len(t.counts)))
		}
	}
	t.counts = append(t.counts, uint64(doc)<<32|uint64(uint32(n)))
}

// sum adds up what was counted, and returns it by document, ascending.
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
