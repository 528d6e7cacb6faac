package table

import (
	"bytes"
	"slices"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Lookup finds the document with an ID.
func (r *Reader) Lookup(id []byte) (doc uint32, found bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	return r.lookup(id, format.HashID(id))
}

// LookupHash is Lookup for a caller that knows the HashID of the ID.
func (r *Reader) LookupHash(id []byte, hash uint64) (doc uint32, found bool, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	return r.lookup(id, hash)
}

// lookup is LookupHash without protection from faults.
func (r *Reader) lookup(id []byte, hash uint64) (doc uint32, found bool, err error) {
	lo, hi, err := r.t.IDs.Find(hash >> (64 - format.IDBits))
	for ; lo < hi && err == nil; lo++ {
		if doc, err = r.t.DocAt(lo); err != nil {
			break
		}
		r.announceEntry(doc)
		r.t.Names.Load(doc, r.t.Pages)
		name, err := r.t.Names.Get(doc)
		if err != nil {
			return 0, false, err
		}
		if bytes.Equal(name, id) {
			return doc, true, nil
		}
	}
	return 0, false, err
}

// How far AppendIDs prefetches ahead: directory entries, and names.
const (
	touchAhead = 16
	namesAhead = 8
)

// AppendIDs appends the IDs of docs to dst, one after the other, and their ends in dst to ends.
// Ascending documents are read fastest: cache misses overlap, and neighbours share cache lines.
func (r *Reader) AppendIDs(dst []byte, ends []int, docs []uint32) (ids []byte, idEnds []int, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	for _, doc := range docs {
		if err := r.t.CheckDoc(doc); err != nil {
			return dst, ends, err
		}
	}
	r.t.Names.Fetch(docs)
	if ends = slices.Grow(ends, len(docs)); len(docs) > 1 && follow(docs) {
		return r.t.Names.AppendRun(dst, ends, docs[0], docs[0]+uint32(len(docs)))
	}
	for i, doc := range docs {
		if i+touchAhead < len(docs) {
			r.t.Names.PrefetchEntry(docs[i+touchAhead])
		}
		if i+namesAhead < len(docs) {
			r.t.Names.Prefetch(docs[i+namesAhead])
		}
		id, err := r.t.Names.Get(doc)
		if err != nil {
			return dst, ends, err
		}
		dst = append(dst, id...)
		ends = append(ends, len(dst))
	}
	return dst, ends, nil
}

// follow reports whether each of docs is the successor of the one before it.
func follow(docs []uint32) bool {
	for i, doc := range docs {
		if doc != docs[0]+uint32(i) {
			return false
		}
	}
	return true
}

// IDHashBlocks calls fn with the HashID of every ID of the table, ascending, in blocks of at most
// 512 that are valid until fn returns. It stops at fn's first error and returns it. A hash costs a
// nanosecond or two.
func (r *Reader) IDHashBlocks(fn func(hashes []uint64) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	defer r.t.Pages.Sequential()()
	return r.t.IDs.EachBlock(func(_ int, hashes []uint64) error {
		for i := range hashes {
			hashes[i] <<= 64 - format.IDBits
		}
		return fn(hashes)
	})
}

// mostTimes: if one table has up to this many times as many IDs as another, both runs are
// intersected as a whole.
const mostTimes = 16

// EachCommonID calls fn for every pair of documents of a and b with the same ID, in no particular
// order. It stops at fn's first error and returns it. It intersects the two tables' runs of ID
// hashes, which costs two or three nanoseconds per ID of either table. If one table is much larger,
// the hashes of the smaller one are looked up in it.
func EachCommonID(a, b *Reader, fn func(docA, docB uint32) error) (err error) {
	defer unguardAny([]*Reader{a, b}, format.Guard(), &err)
	if a.t.IDs.Len() > b.t.IDs.Len() {
		given := fn
		a, b, fn = b, a, func(docB, docA uint32) error { return given(docA, docB) }
	}
	common := func(posA, posB int) error { return ifSameID(a, posA, b, posB, fn) }
	if b.t.IDs.Len() <= mostTimes*a.t.IDs.Len() {
		return keyrun.EachCommon(a.t.IDs, b.t.IDs, common)
	}
	return a.t.IDs.EachBlock(func(first int, hashes []uint64) error {
		for i, hash := range hashes {
			at, end, err := b.t.IDs.Find(hash)
			for ; at < end && err == nil; at++ {
				err = common(first+i, at)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ifSameID calls fn if the documents at two positions of the runs of ID hashes have the same ID.
func ifSameID(a *Reader, posA int, b *Reader, posB int, fn func(docA, docB uint32) error) error {
	docA, err := a.t.DocAt(posA)
	if err != nil {
		return err
	}
	docB, err := b.t.DocAt(posB)
	if err != nil {
		return err
	}
	idA, err := a.t.Names.Get(docA)
	if err != nil {
		return err
	}
	idB, err := b.t.Names.Get(docB)
	if err == nil && bytes.Equal(idA, idB) {
		err = fn(docA, docB)
	}
	return err
}
