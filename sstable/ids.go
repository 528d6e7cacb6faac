package sstable

import (
	"bytes"
)

// Lookup finds the document with an ID.
func (r *Reader) Lookup(id []byte) (doc uint32, found bool, err error) {
	defer r.unguard(guard(), &err)
	return r.lookup(id)
}

// lookup is Lookup without protection from faults.
func (r *Reader) lookup(id []byte) (doc uint32, found bool, err error) {
	lo, hi, err := r.ids.Find(idKey(id))
	for ; lo < hi && err == nil; lo++ {
		if doc, err = r.docAt(lo); err != nil {
			break
		}
		name, err := r.names.Get(doc)
		if err != nil {
			return 0, false, err
		}
		if bytes.Equal(name, id) {
			return doc, true, nil
		}
	}
	return 0, false, err
}

// docAt returns the document of a position in the run of IDs.
func (r *Reader) docAt(i int) (uint32, error) {
	v, err := r.ids.Value(i)
	if err == nil && v >= uint64(r.info.Docs) {
		err = r.ids.Corrupt(0, "position %d has document %d of %d", i, v, r.info.Docs)
	}
	return uint32(v), err
}

// How far AppendIDs prefetches ahead: directory entries, and names.
const (
	touchAhead = 16
	namesAhead = 8
)

// AppendIDs appends the IDs of docs to dst, one after the other, and to ends where in dst each of
// them ends. Of many documents, ascending ones are read fastest: cache misses overlap, and
// neighbours share them.
func (r *Reader) AppendIDs(dst []byte, ends []int, docs []uint32) (ids []byte, idEnds []int, err error) {
	defer r.unguard(guard(), &err)
	for _, doc := range docs {
		if err := r.checkDoc(doc); err != nil {
			return dst, ends, err
		}
	}
	r.names.Fetch(docs)
	for i, doc := range docs {
		if i+touchAhead < len(docs) {
			r.names.PrefetchEntry(docs[i+touchAhead])
		}
		if i+namesAhead < len(docs) {
			r.names.Prefetch(docs[i+namesAhead])
		}
		id, err := r.names.Get(doc)
		if err != nil {
			return dst, ends, err
		}
		dst = append(dst, id...)
		ends = append(ends, len(dst))
	}
	return dst, ends, nil
}
