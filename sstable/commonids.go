package sstable

import (
	"bytes"
	"math"

	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// IDHashBlocks calls fn with HashID of every ID of the table, a block of at most 512 at a time,
// valid until fn returns. They are in ascending order if the table keeps these very hashes, which
// costs a nanosecond or two each; otherwise the IDs are read and hashed, in the order of documents.
// It stops at the first error, which it returns.
func (r *Reader) IDHashBlocks(fn func(hashes []uint64) error) (err error) {
	defer r.unguard(guard(), &err)
	defer r.pages.Sequential()()
	if r.idHash.isHashID() {
		return r.ids.EachBlock(func(_ int, hashes []uint64) error {
			for i := range hashes {
				hashes[i] <<= 64 - idBits
			}
			return fn(hashes)
		})
	}
	hashes := make([]uint64, 0, keyrun.BlockLen)
	for doc := range r.info.Docs {
		id, err := r.names.Get(doc)
		if err != nil {
			return err
		}
		if hashes = append(hashes, HashID(id)); len(hashes) < keyrun.BlockLen && doc+1 < r.info.Docs {
			continue
		}
		if err := fn(hashes); err != nil {
			return err
		}
		hashes = hashes[:0]
	}
	return nil
}

// EachCommonID calls fn for every two documents of a and b that have the same ID, in no particular
// order, and stops at the first error, which it returns. It intersects the runs of hashes of the
// two: that costs two or three nanoseconds for each ID of both. Of a table that is much larger than
// the other, blocks that can't hold a common hash are not read. Tables that hash IDs differently
// have no hashes in common: each ID of the smaller one is looked up in the other.
func EachCommonID(a, b *Reader, fn func(docA, docB uint32) error) (err error) {
	defer unguardAny([]*Reader{a, b}, guard(), &err)
	n, m := a.ids.Len(), b.ids.Len()
	switch {
	case a.idHash.seed != b.idHash.seed: // below
	case a.idHash.drop != b.idHash.drop || max(n, m) > mostTimes*min(n, m):
		return mergeIDs(a, b, fn)
	case n > m:
		return intersectIDs(b, a, func(docB, docA uint32) error { return fn(docA, docB) })
	default:
		return intersectIDs(a, b, fn)
	}
	if a.NumDocs() > b.NumDocs() {
		return lookUpIDs(b, a, func(docB, docA uint32) error { return fn(docA, docB) })
	}
	return lookUpIDs(a, b, fn)
}

// lookUpIDs is EachCommonID for tables with any hashes. a should be the smaller one.
func lookUpIDs(a, b *Reader, fn func(docA, docB uint32) error) error {
	for docA := range a.NumDocs() {
		id, err := a.names.Get(docA)
		if err != nil {
			return err
		}
		docB, found, err := b.lookup(id)
		if found {
			err = fn(docA, docB)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An idCursor goes through the run of IDs of a table. Hashes are compared by the leading bits that
// both tables keep.
type idCursor struct {
	*keyrun.Cursor
	r    *Reader
	more int // low bits that this table keeps and the other does not
}

// seek moves to the first ID whose hash is not less than hash and reports whether there is one.
func (c *idCursor) seek(hash uint64) (bool, error) { return c.Seek(hash << (c.more & 63)) }

// hash returns the hash of the ID that c stands on.
func (c *idCursor) hash() uint64 { return c.Key() >> (c.more & 63) }

// mostTimes is how many times as many IDs a table has whose run is still intersected as a whole.
const mostTimes = 16

// intersectIDs is EachCommonID for tables that keep the same bits of hashes. a must not be the
// larger one.
func intersectIDs(a, b *Reader, fn func(docA, docB uint32) error) error {
	return keyrun.EachCommon(a.ids, b.ids, func(posA, posB int) error { return ifSameID(a, posA, b, posB, fn) })
}

// ifSameID calls fn if the documents at two positions of the runs of hashes have the same ID.
func ifSameID(a *Reader, posA int, b *Reader, posB int, fn func(docA, docB uint32) error) error {
	docA, err := a.docAt(posA)
	if err != nil {
		return err
	}
	docB, err := b.docAt(posB)
	if err != nil {
		return err
	}
	idA, err := a.names.Get(docA)
	if err != nil {
		return err
	}
	idB, err := b.names.Get(docB)
	if err == nil && bytes.Equal(idA, idB) {
		err = fn(docA, docB)
	}
	return err
}

// mergeIDs is EachCommonID for tables that keep more or less of the same hash.
func mergeIDs(a, b *Reader, fn func(docA, docB uint32) error) error {
	drop := max(a.idHash.drop, b.idHash.drop)
	x := &idCursor{a.ids.Cursor(), a, drop - a.idHash.drop}
	y := &idCursor{b.ids.Cursor(), b, drop - b.idHash.drop}
	for hash := uint64(0); ; {
		if ok, err := x.seek(hash); !ok {
			return err
		}
		if ok, err := y.seek(x.hash()); !ok {
			return err
		}
		if hash = y.hash(); hash != x.hash() {
			continue
		}
		if err := eachSameID(x, y, fn); err != nil || hash == math.MaxUint64>>drop {
			return err
		}
		hash++
	}
}

// eachSameID is EachCommonID for the IDs with the hash that both cursors stand on.
func eachSameID(x, y *idCursor, fn func(docA, docB uint32) error) error {
	endA, err := x.End(x.more)
	if err != nil {
		return err
	}
	endB, err := y.End(y.more)
	if err != nil {
		return err
	}
	for posA := x.Pos(); posA < endA; posA++ {
		for posB := y.Pos(); posB < endB; posB++ {
			if err := ifSameID(x.r, posA, y.r, posB, fn); err != nil {
				return err
			}
		}
	}
	return nil
}
