package sstable

import (
	"bytes"
	"math"

	"github.com/simdb/simdb/internal/kernel"
)

// IDHashBlocks calls fn with the hashes (see HashID) of all IDs, ascending, a block of at most 512 at a time, valid until fn
// returns. It stops at the first error, which it returns.
func (r *Reader) IDHashBlocks(fn func(hashes []uint64) error) (err error) {
	defer r.unguard(guard(), &err)
	return r.ids.eachBlock(func(_ int, hashes []uint64) error { return fn(hashes) })
}

// EachCommonID calls fn for every two documents of a and b that have the same ID, in no particular order, and stops at the
// first error, which it returns. It merges the runs of hashes of the two: that costs some nanoseconds for each ID of the
// smaller table and less for each of the larger one, of which blocks that can't hold a common hash are not read.
func EachCommonID(a, b *Reader, fn func(docA, docB uint32) error) (err error) {
	defer unguardAny([]*Reader{a, b}, guard(), &err)
	x, y := runCursor{run: a.ids}, runCursor{run: b.ids}
	for hash := uint64(0); ; {
		if ok, err := x.seek(hash); !ok {
			return err
		}
		if ok, err := y.seek(x.key()); !ok {
			return err
		}
		if hash = y.key(); hash != x.key() {
			continue
		}
		if err := eachSameID(a, b, &x, &y, fn); err != nil || hash == math.MaxUint64 {
			return err
		}
		hash++
	}
}

// eachSameID is EachCommonID for the IDs with the hash that both cursors stand on.
func eachSameID(a, b *Reader, x, y *runCursor, fn func(docA, docB uint32) error) error {
	endA, err := x.end()
	if err != nil {
		return err
	}
	endB, err := y.end()
	if err != nil {
		return err
	}
	for posA := x.pos(); posA < endA; posA++ {
		docA, err := a.docAt(posA)
		if err != nil {
			return err
		}
		idA, err := a.names.get(docA)
		if err != nil {
			return err
		}
		for posB := y.pos(); posB < endB; posB++ {
			docB, err := b.docAt(posB)
			if err != nil {
				return err
			}
			idB, err := b.names.get(docB)
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

// eachBlock calls fn with the keys of every block, the first of which is at position pos, until it returns an error.
func (r *keyRun) eachBlock(fn func(pos int, keys []uint64) error) error {
	var space kernel.Keys
	for b := range r.blocks {
		if err := r.check(b); err != nil {
			return err
		}
		if err := fn(b<<blockShift, r.decode(b, r.info(b), 0, r.count(b), &space)); err != nil {
			return err
		}
	}
	return nil
}

// A runCursor goes forward in a run, over blocks that it need not look at.
type runCursor struct {
	run   *keyRun
	block int      // number of the block
	keys  []uint64 // of the block; none before the first seek
	at    int      // in keys
	space kernel.Keys
}

// key returns the key that the cursor stands on.
func (c *runCursor) key() uint64 { return c.keys[c.at] }

// pos returns its position.
func (c *runCursor) pos() int { return c.block<<blockShift + c.at }

// seek moves to the first key that is not less than key and reports whether there is one. Keys asked for must ascend.
func (c *runCursor) seek(key uint64) (ok bool, err error) {
	for len(c.keys) == 0 || c.keys[len(c.keys)-1] < key {
		next := 0
		if len(c.keys) > 0 {
			next = c.block + 1
		}
		if next+1 < c.run.blocks && c.run.base(next+1) < key { // not in the next block
			less, _ := c.run.blockRange(key, key)
			next = less - 1
		}
		if next >= c.run.blocks {
			return false, nil
		}
		if err := c.run.check(next); err != nil {
			return false, err
		}
		c.block, c.at, c.keys = next, 0, c.run.decode(next, c.run.info(next), 0, c.run.count(next), &c.space)
	}
	for c.keys[c.at] < key {
		c.at++
	}
	return true, nil
}

// end returns the position behind the last key that equals the one the cursor stands on.
func (c *runCursor) end() (int, error) {
	at := c.at + 1
	for at < len(c.keys) && c.keys[at] == c.key() {
		at++
	}
	end := c.block<<blockShift + at
	if at < len(c.keys) {
		return end, nil
	}
	for ; end < c.run.Len(); end++ {
		if key, err := c.run.Key(end); err != nil || key != c.key() {
			return end, err
		}
	}
	return end, nil
}
