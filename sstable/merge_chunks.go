package sstable

import (
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/merge"
)

// docChunk is how many documents are worked on at a time; a multiple of 64.
const docChunk = 1 << 12

// chunkOf returns the documents [from, to) of chunk i of n documents.
func chunkOf(i int, n uint32) (from, to uint32) {
	return uint32(i) * docChunk, uint32(min(uint64(i+1)*docChunk, uint64(n)))
}

// docsChunk is a chunk of the elements of the result: documents, or ranks.
type docsChunk struct {
	*merger
	first  int      // element
	inputs []uint32 // of each element, where it comes from
	next   []uint32 // of each input, the element to come
	values []uint64 // of each element, what the pass is about
}

// eachChunk calls produce for chunks of docChunk elements, in several goroutines, and consume with
// each result, in order.
func eachChunk[T any](m *merger, sources *merge.Sources, starts [][]uint32, produce func(c *docsChunk) (T, error), consume func(T) error) error {
	return merge.Ordered(m.ctx, len(starts), m.workers, func(i int) (result T, err error) {
		defer unguardAny(m.readers, guard(), &err)
		c := &docsChunk{merger: m, first: i * docChunk, next: append([]uint32(nil), starts[i]...)}
		c.inputs = make([]uint32, min(docChunk, sources.Len()-c.first))
		for j := range c.inputs {
			c.inputs[j] = uint32(sources.Get(c.first + j))
		}
		return produce(c)
	}, func(i int, result T) error {
		m.pass(min(docChunk, sources.Len()-i*docChunk))
		return consume(result)
	})
}

// writeColumn writes a section of the result, a column of what produce returns for the documents.
func (m *merger) writeColumn(kind Kind, produce func(c *docsChunk) ([]uint64, error)) error {
	m.out.begin(kind, 0)
	w := keyrun.NewColumnWriter(&m.out)
	err := eachChunk(m, m.sources, m.starts, produce, func(values []uint64) error {
		for _, v := range values {
			w.Add(v) // its error comes back from Finish
		}
		return nil
	})
	dir, e := w.Finish()
	m.out.endWithDir(w.Len(), dir, e)
	return err
}

// old returns the element of its input that element j is; it is called with all j in order.
func (c *docsChunk) old(j int, dead func(*mergeInput) bitset) uint32 {
	i := c.inputs[j]
	if d := dead(c.merger.inputs[i]); d != nil {
		for d.has(c.next[i]) {
			c.next[i]++
		}
	}
	c.next[i]++
	return c.next[i] - 1
}

// columns sets values to what columns of the inputs have for the elements; a column that is nil
// has their numbers.
func (c *docsChunk) columns(column func(*mergeInput) *keyrun.Column, dead func(*mergeInput) bitset) error {
	c.values = make([]uint64, len(c.inputs))
	type block struct {
		number int
		values [keyrun.BlockLen]uint64
	}
	blocks := make([]*block, len(c.next)) // the last that was decoded, of each input
	for j, i := range c.inputs {
		old := c.old(j, dead)
		from := column(c.merger.inputs[i])
		if from == nil {
			c.values[j] = uint64(old)
			continue
		}
		b := blocks[i]
		if b == nil || b.number != int(old>>keyrun.BlockShift) {
			if b == nil {
				b = new(block)
				blocks[i] = b
			}
			b.number = int(old >> keyrun.BlockShift)
			if _, err := from.Block(b.number, b.values[:]); err != nil {
				return err
			}
		}
		c.values[j] = b.values[old&(keyrun.BlockLen-1)]
	}
	return nil
}
