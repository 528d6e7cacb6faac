package merge

import (
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// chunkOf returns the range [from, to) of chunk i of n documents.
func chunkOf(i int, n uint32) (from, to uint32) {
	return uint32(i) * docChunk, uint32(min(uint64(i+1)*docChunk, uint64(n)))
}

// docsChunk is a chunk of the elements of the result: documents, or ranks.
type docsChunk struct {
	*merger
	first  int      // first element
	inputs []uint32 // by element: its input
	next   []uint32 // by input: the next element
	values []uint64 // by element: the values that the pass computes
}

// eachChunk calls produce for chunks of docChunk elements, in several goroutines, and consume with
// each result, in order.
func eachChunk[T any](m *merger, sources *Sources, starts [][]uint32, produce func(c *docsChunk) (T, error), consume func(T) error) error {
	type done struct {
		*docsChunk
		result T
	}
	return pipeline.Ordered(m.ctx, len(starts), m.workers, func(i int) (d done, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		c := &docsChunk{merger: m, first: i * docChunk, next: append([]uint32(nil), starts[i]...)}
		c.inputs = m.vals.get(min(docChunk, sources.Len()-c.first))
		sources.GetAll(c.inputs, c.first)
		result, err := produce(c)
		return done{c, result}, err
	}, func(_ int, d done) error {
		m.pass(len(d.inputs))
		err := consume(d.result)
		d.free()
		return err
	})
}

// free makes the slices of a chunk available for reuse.
func (c *docsChunk) free() {
	m := c.merger
	m.vals.put(c.inputs)
	if c.values != nil {
		m.keys.put(c.values)
	}
}

// writeColumn writes a section of the result: a column of the values that produce returns for the
// documents.
func (m *merger) writeColumn(kind format.Kind, index uint16, produce func(c *docsChunk) ([]uint64, error)) error {
	return m.writeColumnOf(kind, index, m.sources, m.starts, produce)
}

// writeColumnOf is writeColumn for elements with other sources.
func (m *merger) writeColumnOf(kind format.Kind, index uint16, sources *Sources, starts [][]uint32, produce func(c *docsChunk) ([]uint64, error)) error {
	m.Out.Begin(kind, index)
	w := keyrun.NewColumnWriter(&m.Out)
	err := eachChunk(m, sources, starts, func(c *docsChunk) (*keyrun.ColumnWriter, error) {
		values, err := produce(c)
		if err != nil {
			return nil, err
		}
		return m.encoded(values), nil
	}, func(part *keyrun.ColumnWriter) error {
		defer m.columns.Put(part)
		return w.Append(part)
	})
	dir, e := w.Finish()
	m.Out.EndWithDir(w.Len(), dir, e)
	return err
}

// encoded returns values as a part of a column; a chunk has whole blocks.
func (m *merger) encoded(values []uint64) *keyrun.ColumnWriter {
	part, ok := m.columns.Get().(*keyrun.ColumnWriter)
	if !ok {
		part = keyrun.NewColumnWriter(nil)
	}
	part.AddAll(values) // cannot fail without an output
	return part
}

// old returns the number of element j in its input. It must be called for all j in order.
func (c *docsChunk) old(j int, dead func(*mergeInput) write.Bitset) uint32 {
	i := c.inputs[j]
	if d := dead(c.merger.inputs[i]); d != nil {
		for d.Has(c.next[i]) {
			c.next[i]++
		}
	}
	c.next[i]++
	return c.next[i] - 1
}

// columns sets c.values to the values that the elements have in columns of the inputs; a nil column
// stands for the numbers of the elements. If translate is not nil, it is called first with the
// values of each input, and may replace them.
func (c *docsChunk) columns(column func(*mergeInput) *keyrun.Column, dead func(*mergeInput) write.Bitset, translate func(in *mergeInput, values []uint64) error) error {
	ends := make([]int, len(c.next)) // by input
	for _, i := range c.inputs {
		ends[i]++
	}
	all := c.merger.keys.get(len(c.inputs)) // the values of all inputs, one input after the other
	defer c.merger.keys.put(all)
	from := 0
	for i, n := range ends {
		in, values := c.merger.inputs[i], all[from:from+n]
		ends[i] = from // position of the next value
		from += n
		if n == 0 {
			continue
		}
		if err := readColumn(values, c.next[i], column(in), dead(in)); err != nil {
			return err
		}
		if translate != nil {
			if err := translate(in, values); err != nil {
				return err
			}
		}
	}
	c.values = c.merger.keys.get(len(c.inputs))
	for j, i := range c.inputs {
		c.values[j] = all[ends[i]]
		ends[i]++
	}
	return nil
}

// readColumn sets values to the values of a column for its elements from old on, except for dead
// ones.
func readColumn(values []uint64, old uint32, column *keyrun.Column, dead write.Bitset) error {
	var block [keyrun.BlockLen]uint64
	for len(values) > 0 {
		b, first := int(old>>keyrun.BlockShift), int(old&(keyrun.BlockLen-1))
		count := keyrun.BlockLen
		if column == nil {
			for j := range block {
				block[j] = uint64(b<<keyrun.BlockShift + j)
			}
		} else if n, err := column.Block(b, block[:]); err != nil {
			return err
		} else {
			count = n
		}
		n := 0
		if dead == nil {
			n = copy(values, block[first:count])
		} else {
			for j := first; j < count && n < len(values); j++ {
				if !dead.Has(uint32(b<<keyrun.BlockShift + j)) {
					values[n] = block[j]
					n++
				}
			}
		}
		values, old = values[n:], uint32(b+1)<<keyrun.BlockShift
	}
	return nil
}
