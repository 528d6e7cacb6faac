package sstable

import (
	"bytes"
	"fmt"

	"github.com/zeebo/xxh3"
)

// An idHash says how a table hashes IDs: its run of IDs (KindIDs) holds key(id) of each. Every
// method that looks into that run goes by the table's own idHash, and whatever combines several
// tables compares their idHashes first.
type idHash struct {
	seed uint64 // of xxh3-64
	drop int    // low bits of the hash that the run does not keep, 0..63
}

// idHashes returns the idHash of the tables of each format version: it is part of the format.
var idHashes = map[uint32]func(*Info) idHash{
	2: func(*Info) idHash { return idHash{drop: 64 - idBits} },
}

// openIDHash sets the table's idHash.
func (r *Reader) openIDHash() error {
	hash := idHashes[r.info.Version]
	if hash == nil {
		return fmt.Errorf("%s: the hash of IDs of table format version %d is not known: %w", r.file, r.info.Version, ErrUnsupported)
	}
	r.idHash = hash(&r.info)
	return nil
}

// key returns what the run of IDs holds for an ID. IDs of equal keys may differ.
func (h idHash) key(id []byte) uint64 {
	if h.seed == 0 {
		return xxh3.Hash(id) >> (h.drop & 63)
	}
	return xxh3.HashSeed(id, h.seed) >> (h.drop & 63)
}

// isHashID reports whether the keys are those of HashID, without the bits that are zero.
func (h idHash) isHashID() bool { return h == idHash{drop: 64 - idBits} }

// Lookup finds the document with an ID.
func (r *Reader) Lookup(id []byte) (doc uint32, found bool, err error) {
	defer r.unguard(guard(), &err)
	return r.lookup(id)
}

// lookup is Lookup without protection from faults.
func (r *Reader) lookup(id []byte) (doc uint32, found bool, err error) {
	lo, hi, err := r.ids.Find(r.idHash.key(id))
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
