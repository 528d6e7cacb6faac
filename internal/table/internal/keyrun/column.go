package keyrun

import (
	"io"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// A Column is an array of unsigned numbers, bit-packed in blocks of 512. A block stores its least
// value (frame of reference) and the differences from it, with the number of bits that the greatest
// difference needs. A block whose values ascend is encoded like a block of a key run if that is
// shorter: times that rise with every write need 2 or 3 bits each. A column is safe for concurrent
// use.
type Column struct {
	Dir
}

// OpenColumn opens a section, as Open does.
func OpenColumn(src Section) (*Column, error) {
	d, err := openDir(src, tagColumn)
	if err != nil {
		return nil, err
	}
	return &Column{Dir: *d}, nil
}

// Max returns the greatest value, 0 if there is none.
func (c *Column) Max() uint64 { return c.last }

// Get returns value i, 0 <= i < Len.
func (c *Column) Get(i int) (uint64, error) {
	b := i >> BlockShift
	if err := c.check(b); err != nil {
		return 0, err
	}
	in := c.Info(b)
	if in.High > 0 {
		return c.keyFrom(b, in, i&(BlockLen-1), 0, 0), nil
	}
	return c.Base(b) + kernel.Get(c.Packed(in), in.Width, i&(BlockLen-1)), nil
}

// Bounds returns lower and upper bounds, inclusive, of the values of block b without reading it.
func (c *Column) Bounds(b int) (least, most uint64) {
	c.need(b, b+1)
	least, most = c.Base(b), c.last
	if in := c.Info(b); in.High == 0 {
		if top := least + (uint64(1)<<in.Width - 1); top >= least {
			most = min(most, top)
		}
	}
	return least, most
}

// check verifies block b: its checksum, and that no value exceeds the greatest.
func (c *Column) check(b int) error {
	if c.isSeen(b) {
		return nil
	}
	return c.checkSlow(b)
}

func (c *Column) checkSlow(b int) error {
	c.need(b, b+1)
	if err := c.checkCRC(b); err != nil {
		return err
	}
	in := c.Info(b)
	if in.High > 0 {
		if err := c.checkEnds(b, in, c.last); err != nil {
			return err
		}
		var space kernel.Keys
		if _, err := c.checkAscent(b, in, &space); err != nil {
			return err
		}
		c.setSeen(b)
		return nil
	}
	packed, limit := c.Packed(in), c.last-c.Base(b)
	for i := range c.Count(b) {
		if v := kernel.Get(packed, in.Width, i); v > limit {
			return c.Corrupt(in.Off, "block %d: value %d exceeds %d", b, c.Base(b)+v, c.last)
		}
	}
	c.setSeen(b)
	return nil
}

// Block writes the values of block b (positions 512*b and on) to dst, which must have at least 512
// elements, and returns their number.
func (c *Column) Block(b int, dst []uint64) (int, error) {
	if err := c.check(b); err != nil {
		return 0, err
	}
	in := c.Info(b)
	if in.High > 0 {
		var space kernel.Keys
		return copy(dst, c.Decode(b, in, 0, c.Count(b), &space)), nil
	}
	n, packed, base := c.Count(b), c.Packed(in), c.Base(b)
	for i := range n {
		dst[i] = base + kernel.Get(packed, in.Width, i)
	}
	return n, nil
}

// Verify checks every block that has not been checked yet.
func (c *Column) Verify() error {
	for b := range c.blocks {
		if err := c.check(b); err != nil {
			return err
		}
	}
	return nil
}

// ColumnWriter encodes a column as values are added. It needs 20 bytes of memory for every 512
// values until Finish.
type ColumnWriter struct {
	body
	values [BlockLen]uint64
	max    uint64
}

// NewColumnWriter returns a writer of the body of a section, which must start on a 64-byte boundary
// of the file. If w is nil, everything stays in memory.
func NewColumnWriter(w io.Writer) *ColumnWriter {
	return &ColumnWriter{body: body{w: w, frame: frameWriter{tag: tagColumn}}}
}

// Add appends a value.
func (c *ColumnWriter) Add(v uint64) error {
	c.values[c.fill] = v
	c.max = max(c.max, v)
	c.count++
	if c.fill++; c.fill == BlockLen {
		c.flushBlock()
	}
	return c.err
}

// AddAll appends values.
func (c *ColumnWriter) AddAll(values []uint64) error {
	for len(values) > 0 {
		n := copy(c.values[c.fill:], values)
		c.max = max(c.max, slices.Max(values[:n]))
		c.count += uint64(n)
		if c.fill += n; c.fill == BlockLen {
			c.flushBlock()
		}
		values = values[n:]
	}
	return c.err
}

// Len returns the number of values so far.
func (c *ColumnWriter) Len() int { return int(c.count) }

// Finish writes the rest of the body and returns the directory.
func (c *ColumnWriter) Finish() (dir []byte, err error) {
	if c.fill > 0 {
		c.flushBlock()
	}
	c.flush()
	return c.frame.directory(c.count, c.max), c.err
}

func (c *ColumnWriter) flushBlock() {
	values := c.values[:c.fill]
	start, base, high := len(c.out), slices.Min(values), 0
	width := kernel.RoundWidth(bits.Len64(slices.Max(values) - base))
	if slices.IsSorted(values) {
		w := keyWidth(values)
		if h := unaryWords(values, w); 8*h+packedSize(len(values), w) < packedSize(len(values), width) {
			high, width = h, w
			c.out = appendUnary(c.out, values, width, high)
			c.out = appendPacked(c.out, values, width)
		}
	}
	if high == 0 {
		for i := range values {
			values[i] -= base
		}
		c.out = appendPacked(c.out, values, width)
	}
	c.frame.addBlock(c.out[start:], base, high, len(c.out)-start-8*high, width)
	c.fill = 0
	if len(c.out) >= writeChunk {
		c.flush()
	}
}

// EncodeColumn encodes values. The body has a capacity of kernel.Slack more bytes, as Section
// requires.
func EncodeColumn(values []uint64) (body, dir []byte) {
	c := NewColumnWriter(nil)
	for _, v := range values {
		c.Add(v) // cannot fail without an output
	}
	dir, _ = c.Finish()
	return slices.Grow(c.out, kernel.Slack), dir
}
