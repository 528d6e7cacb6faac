package sstable

import (
	"bytes"

	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// IDHashBlocks calls fn with HashID of every ID of the table, ascending, a block of at most 512 at
// a time, valid until fn returns. A hash costs a nanosecond or two. It stops at the first error,
// which it returns.
func (r *Reader) IDHashBlocks(fn func(hashes []uint64) error) (err error) {
	defer r.unguard(guard(), &err)
	defer r.pages.Sequential()()
	return r.ids.EachBlock(func(_ int, hashes []uint64) error {
		for i := range hashes {
			hashes[i] <<= 64 - idBits
		}
		return fn(hashes)
	})
}

// mostTimes is how many times as many IDs a table has whose run is still intersected as a whole.
const mostTimes = 16

// EachCommonID calls fn for every two documents of a and b that have the same ID, in no particular
// order, and stops at the first error, which it returns. It intersects the runs of hashes of the
// two: that costs two or three nanoseconds for each ID of both. In a table that is much larger than
// the other, the hashes of the other are looked up.
func EachCommonID(a, b *Reader, fn func(docA, docB uint32) error) (err error) {
	defer unguardAny([]*Reader{a, b}, guard(), &err)
	if a.ids.Len() > b.ids.Len() {
		given := fn
		a, b, fn = b, a, func(docB, docA uint32) error { return given(docA, docB) }
	}
	common := func(posA, posB int) error { return ifSameID(a, posA, b, posB, fn) }
	if b.ids.Len() <= mostTimes*a.ids.Len() {
		return keyrun.EachCommon(a.ids, b.ids, common)
	}
	return a.ids.EachBlock(func(first int, hashes []uint64) error {
		for i, hash := range hashes {
			at, end, err := b.ids.Find(hash)
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
