package sstable

import (
	"bytes"
	"math"

	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// IDHashBlocks calls fn with the hashes (see HashID) of all IDs, ascending, a block of at most 512
// at a time, valid until fn returns. It stops at the first error, which it returns.
func (r *Reader) IDHashBlocks(fn func(hashes []uint64) error) (err error) {
	defer r.unguard(guard(), &err)
	return r.ids.EachBlock(func(_ int, hashes []uint64) error { return fn(hashes) })
}

// EachCommonID calls fn for every two documents of a and b that have the same ID, in no particular
// order, and stops at the first error, which it returns. It merges the runs of hashes of the two:
// that costs some nanoseconds for each ID of the smaller table and less for each of the larger one,
// of which blocks that can't hold a common hash are not read.
func EachCommonID(a, b *Reader, fn func(docA, docB uint32) error) (err error) {
	defer unguardAny([]*Reader{a, b}, guard(), &err)
	x, y := a.ids.Cursor(), b.ids.Cursor()
	for hash := uint64(0); ; {
		if ok, err := x.Seek(hash); !ok {
			return err
		}
		if ok, err := y.Seek(x.Key()); !ok {
			return err
		}
		if hash = y.Key(); hash != x.Key() {
			continue
		}
		if err := eachSameID(a, b, x, y, fn); err != nil || hash == math.MaxUint64 {
			return err
		}
		hash++
	}
}

// eachSameID is EachCommonID for the IDs with the hash that both cursors stand on.
func eachSameID(a, b *Reader, x, y *keyrun.Cursor, fn func(docA, docB uint32) error) error {
	endA, err := x.End()
	if err != nil {
		return err
	}
	endB, err := y.End()
	if err != nil {
		return err
	}
	for posA := x.Pos(); posA < endA; posA++ {
		docA, err := a.docAt(posA)
		if err != nil {
			return err
		}
		idA, err := a.names.Get(docA)
		if err != nil {
			return err
		}
		for posB := y.Pos(); posB < endB; posB++ {
			docB, err := b.docAt(posB)
			if err != nil {
				return err
			}
			idB, err := b.names.Get(docB)
			if err == nil && bytes.Equal(idA, idB) {
				err = fn(docA, docB)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
