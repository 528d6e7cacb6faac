package corpus

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/ordered"
)

// setClasses returns the classes of equal sets, or texts.
func (c *Corpus) setClasses(ctx context.Context) (all collection.Classes, err error) {
	docs := c.inOrder(nil)
	p := ordered.Pairs{Keys: make([]uint64, len(docs)), Vals: docs}
	read, other := c.contents(), c.contents()
	for i, doc := range docs {
		content, err := read(doc)
		if err == nil && i%4096 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return all, err
		}
		p.Keys[i] = xxh3.Hash(content)
	}
	p = ordered.SortPairs(p, ordered.MakePairs(len(docs)))
	all.Items, all.First = p.Vals, []uint32{0}
	for from := 0; from < len(p.Keys); {
		to := from + 1
		for to < len(p.Keys) && p.Keys[to] == p.Keys[from] {
			to++
		}
		for from < to { // almost always once: the hash distinguishes almost all sets
			one, err := read(p.Vals[from])
			if err != nil {
				return all, err
			}
			same := func(doc uint32) bool {
				content, failed := other(doc)
				err = cmp.Or(err, failed, ctx.Err())
				return bytes.Equal(content, one)
			}
			equal := equalFirst(p.Vals[from:to], same)
			if err != nil {
				return all, err
			}
			c.Groups.Sort(p.Vals[from : from+equal])
			from += equal
			all.First = append(all.First, uint32(from))
		}
	}
	all.N = len(all.First) - 1
	return all, nil
}

// equalFirst moves the documents that are the same as the first one to the front, in stable
// order, and returns their number. The other documents stay in order, too.
func equalFirst(docs []uint32, same func(doc uint32) bool) (n int) {
	var others []uint32
	for i, doc := range docs {
		if i == 0 || same(doc) {
			docs[n] = doc
			n++
		} else {
			others = append(others, doc)
		}
	}
	copy(docs[n:], others)
	return n
}

// Equal returns for each document the first document that is equal to it and belongs to its
// group; Groups treat both as one. If group returns false, the document represents only itself.
func (c *Corpus) Equal(ctx context.Context, group func(n uint32) (uint64, bool)) ([]uint32, error) {
	first := slices.Grow([]uint32(nil), int(c.N))
	for n := range uint32(c.N) {
		first = append(first, n)
	}
	all, err := c.setClasses(ctx)
	if err != nil {
		return nil, err
	}
	for class := range all.N {
		firsts := map[uint64]uint32{} // by group
		for _, n := range all.Items[all.First[class]:all.First[class+1]] {
			g, ok := group(n)
			f, had := firsts[g]
			switch {
			case !ok || c.Fingerprints != nil && had && c.Distance(n, f) != 0:
			case had:
				first[n] = f
			default:
				firsts[g] = n
			}
		}
	}
	return first, nil
}

// contents returns a function that reads the set or text of a document. Its result is valid until
// the next call.
func (c *Corpus) contents() func(doc uint32) ([]byte, error) {
	if c.texts != nil {
		var scratch []byte
		return func(doc uint32) ([]byte, error) { return c.texts.text(&scratch, int(doc)) }
	}
	reader, set := c.Sets.Reader(), []uint64(nil)
	return func(doc uint32) (_ []byte, err error) {
		set, err = reader.Append(set[:0], int(doc))
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(set))), 8*len(set)), err
	}
}
