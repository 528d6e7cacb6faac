package main

import (
	"math/bits"
	"slices"
)

// index answers "which documents have a fingerprint within k bits of q", for the k that it was
// built for.
type index interface {
	// Near calls found, unless it is nil, with the number of each such document, and returns how
	// many there are.
	Near(q uint64, k int, found func(doc uint32)) (int, error)
	// Bytes returns the size of the index.
	Bytes() (int64, error)
	Close() error
}

// contestant builds an index of fps for distances up to k. dir is an empty folder for its use.
type contestant struct {
	name  string
	about string
	build func(dir string, fps []uint64, k int) (index, error)
}

// contestants returns all contestants in display order. The others are compared with the first.
func contestants(d *database) []contestant {
	return []contestant{
		{"simdb", "the engine: db.Near, documents by ID, nearest first", d.build},
		{"buckets", "permuted tables in memory, uncompressed, an array of buckets each", buildBuckets},
		{"flat scan", "one array, compared as a whole with kernel.ScanFlat", buildFlat},
	}
}

// rotations are permuted tables with one leading block each: the block of table i is the bits[i]
// bits from offset[i] on, counted from the top. Two fingerprints within k bits agree in one of
// k+1 blocks, so k+1 tables are complete.
type rotations struct{ offset, bits []int }

// forDistance returns the usual 4 tables, or more if k needs them.
func forDistance(k int) (r rotations) {
	m := max(4, k+1)
	for i, at := 0, 0; i < m; i++ {
		w := 64 / m
		if i < 64%m {
			w++
		}
		r.offset, r.bits = append(r.offset, at), append(r.bits, w)
		at += w
	}
	return r
}

// permute moves the leading block of a table to the top.
func (r rotations) permute(table int, fp uint64) uint64 {
	return bits.RotateLeft64(fp, r.offset[table])
}

// firstFoundIn reports whether table is the first in which x = fp^q has an equal leading block;
// it prevents duplicate results.
func (r rotations) firstFoundIn(table int, x uint64) bool {
	for i := range table {
		if x<<r.offset[i]>>(64-r.bits[i]) == 0 {
			return false
		}
	}
	return true
}

// nearByDefinition returns the correct answer in ascending order.
func nearByDefinition(fps []uint64, q uint64, k int) (docs []uint32) {
	for i, fp := range fps {
		if bits.OnesCount64(fp^q) <= k {
			docs = append(docs, uint32(i))
		}
	}
	return docs
}

// answer collects the results of x in ascending order.
func answer(x index, q uint64, k int) ([]uint32, error) {
	var docs []uint32
	_, err := x.Near(q, k, func(doc uint32) { docs = append(docs, doc) })
	slices.Sort(docs)
	return docs, err
}
