// Package fieldidx finds the documents of a table, or of a memtable (Growing), by the values of an
// indexed field.
//
// In a table, a field has two lists: the keys of all its values as texts, and the keys of its
// numeric values (package jsonfield). Each is sorted and has a column with the document of each
// key. Equal keys ascend by document.
//
//	values       strings: keys, sorted                                     (blobs.Values)
//	value-docs   column: the document of each key
//
// A search is a binary search in a list. It finds candidates: keys are truncated, and numbers and
// strings are compared differently, so the fields of the document decide.
package fieldidx

import (
	"bytes"
	"sort"

	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// The lists of a field. List l of field i has index Lists*i + l among the sections.
const (
	Texts = iota
	Numbers
	Lists
)

// A List is one list of a table. It is safe for concurrent use.
type List struct {
	Keys *blobs.List
	Docs *keyrun.Column // by key
}

// Range returns the positions [lo, hi) of the keys between two bounds. A bound itself is included
// unless above or below is set; nil means no bound.
func (l *List) Range(from, to []byte, above, below bool) (lo, hi int, err error) {
	lo, hi = between(l.Docs.Len(), func(i int) []byte {
		key, e := l.Keys.Get(uint32(i))
		if e != nil {
			err = e
		}
		return key
	}, from, to, above, below)
	return lo, hi, err
}

// between is Range for n keys.
func between(n int, key func(i int) []byte, from, to []byte, above, below bool) (lo, hi int) {
	first := func(n int, bound []byte, after bool) int { // key >= bound, or > bound
		return sort.Search(n, func(i int) bool {
			c := bytes.Compare(key(i), bound)
			return c > 0 || c == 0 && !after
		})
	}
	if hi = n; to != nil {
		hi = first(hi, to, !below)
	}
	if from != nil {
		lo = first(hi, from, above)
	}
	return lo, hi
}

// AppendDocs appends the documents of the keys [lo, hi).
func (l *List) AppendDocs(dst []uint32, lo, hi int) ([]uint32, error) {
	var block [keyrun.BlockLen]uint64
	for lo < hi {
		b := lo >> keyrun.BlockShift
		n, err := l.Docs.Block(b, block[:])
		if err != nil {
			return dst, err
		}
		first := b << keyrun.BlockShift
		for _, doc := range block[lo-first : min(n, hi-first)] {
			dst = append(dst, uint32(doc))
		}
		lo = first + n
	}
	return dst, nil
}

// Iter returns an iterator before the first key.
func (l *List) Iter() Iter { return Iter{list: l, keys: l.Keys.Iter(0)} }

// An Iter reads the keys of a list in order.
type Iter struct {
	Key  []byte // aliases the table
	Doc  uint32
	list *List
	keys blobs.ListIter
	at   int // position of the next key
	docs [keyrun.BlockLen]uint64
}

// Next advances to the next key; it returns false after the last one.
func (it *Iter) Next() (bool, error) {
	if it.at == it.list.Docs.Len() {
		return false, nil
	}
	if it.at%keyrun.BlockLen == 0 {
		if _, err := it.list.Docs.Block(it.at>>keyrun.BlockShift, it.docs[:]); err != nil {
			return false, err
		}
	}
	it.Doc = uint32(it.docs[it.at%keyrun.BlockLen])
	it.at++
	var err error
	it.Key, err = it.keys.Next()
	return err == nil, err
}
