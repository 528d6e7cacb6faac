package main

import (
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// flat is one array of fingerprints, in the order of documents.
type flat struct {
	fps  []uint64
	hits []uint32
}

func buildFlat(_ string, fps []uint64, _ int) (index, error) {
	return &flat{fps: append([]uint64(nil), fps...)}, nil
}

func (f *flat) Near(q uint64, k int, found func(uint32)) (int, error) {
	f.hits = kernel.ScanFlat(f.hits[:0], f.fps, q, k)
	if found != nil {
		for _, doc := range f.hits {
			found(doc)
		}
	}
	return len(f.hits), nil
}

func (f *flat) Bytes() (int64, error) { return int64(8 * len(f.fps)), nil }

func (f *flat) Close() error { return nil }

// buckets is the design of go-simstore's small store for distance 3, which was the fastest peer
// when it was measured. Each permuted table has an array indexed by the value of the leading
// block (16 bits with four tables), and for each value the fingerprints that have it,
// uncompressed, with their documents.
type buckets struct {
	rotations
	tables []bucketTable
}

type bucketTable struct {
	start []uint32 // by bucket, plus the end of the last one
	fps   []uint64 // not permuted
	docs  []uint32
}

func buildBuckets(_ string, fps []uint64, k int) (index, error) {
	b := &buckets{rotations: forDistance(k)}
	for t := range b.bits {
		b.tables = append(b.tables, b.table(t, fps))
	}
	return b, nil
}

func (b *buckets) table(t int, fps []uint64) bucketTable {
	shift := 64 - b.bits[t]
	bt := bucketTable{make([]uint32, 1<<b.bits[t]+1), make([]uint64, len(fps)), make([]uint32, len(fps))}
	for _, fp := range fps {
		bt.start[b.permute(t, fp)>>shift+1]++
	}
	for i := 1; i < len(bt.start); i++ {
		bt.start[i] += bt.start[i-1]
	}
	next := append([]uint32(nil), bt.start...)
	for i, fp := range fps {
		at := &next[b.permute(t, fp)>>shift]
		bt.fps[*at], bt.docs[*at] = fp, uint32(i)
		*at++
	}
	return bt
}

func (b *buckets) Near(q uint64, k int, found func(uint32)) (n int, err error) {
	for t := range b.tables {
		bt := &b.tables[t]
		bucket := b.permute(t, q) >> (64 - b.bits[t])
		lo, hi := bt.start[bucket], bt.start[bucket+1]
		docs := bt.docs[lo:hi]
		for i, fp := range bt.fps[lo:hi] {
			if x := fp ^ q; bits.OnesCount64(x) <= k && b.firstFoundIn(t, x) {
				n++
				if found != nil {
					found(docs[i])
				}
			}
		}
	}
	return n, nil
}

func (b *buckets) Bytes() (n int64, err error) {
	for _, t := range b.tables {
		n += int64(4*len(t.start) + 8*len(t.fps) + 4*len(t.docs))
	}
	return n, nil
}

func (b *buckets) Close() error { return nil }
