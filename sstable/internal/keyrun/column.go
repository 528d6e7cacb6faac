package keyrun

import (
	"io"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// column is an array of unsigned numbers, bit-packed in blocks of 512: a block keeps its least
// value (frame of reference) and the differences from it in as many bits as the greatest needs. The
// frame is that of a key run (see Dir), without unary part. A column is safe for concurrent use.
type Column struct {
	Dir
}

// OpenColumn opens the section data, as Open does.
func OpenColumn(data []byte, file, section string, off int64) (*Column, error) {
	d, err := openBlockDir(data, tagColumn, file, section, off)
	if err != nil {
		return nil, err
	}
	for b := range d.blocks {
		if d.Info(b).High != 0 || d.Base(b) > d.last {
			return nil, d.Corrupt(d.dirOff+8*b, "block %d has unary words or a base beyond the greatest value", b)
		}
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
	return c.Base(b) + kernel.Get(c.Packed(in), in.Width, i&(BlockLen-1)), nil
}

// check makes sure that block b is good: its checksum, and that no value is beyond the greatest.
func (c *Column) check(b int) error {
	if c.isSeen(b) {
		return nil
	}
	return c.checkSlow(b)
}

func (c *Column) checkSlow(b int) error {
	if err := c.checkCRC(b); err != nil {
		return err
	}
	in := c.Info(b)
	packed, limit := c.Packed(in), c.last-c.Base(b)
	for i := range c.Count(b) {
		if v := kernel.Get(packed, in.Width, i); v > limit {
			return c.Corrupt(in.Off, "block %d: value %d exceeds %d", b, c.Base(b)+v, c.last)
		}
	}
	c.setSeen(b)
	return nil
}

// Block writes the values of block b (positions 512*b and on) to dst, which has room for 512, and
// returns how many they are.
func (c *Column) Block(b int, dst []uint64) (int, error) {
	if err := c.check(b); err != nil {
		return 0, err
	}
	in := c.Info(b)
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

// ColumnWriter encodes a column as the values come. It keeps 20 bytes for every 512 values until
// Finish.
type ColumnWriter struct {
	w      io.Writer
	frame  frameWriter
	values [BlockLen]uint64
	fill   int
	count  uint64
	max    uint64
	out    []byte
	total  int64
	err    error
}

// NewColumnWriter returns a writer of one section. Sections start on a 64-byte boundary of the
// file.
func NewColumnWriter(w io.Writer) *ColumnWriter {
	return &ColumnWriter{w: w, frame: frameWriter{tag: tagColumn}}
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

// Finish writes what remains and returns the number of values and of bytes.
func (c *ColumnWriter) Finish() (n int, bytes int64, err error) {
	if c.fill > 0 {
		c.flushBlock()
	}
	c.out = c.frame.appendEnd(c.out, c.count, c.max)
	c.flush()
	return int(c.count), c.total, c.err
}

func (c *ColumnWriter) flushBlock() {
	values := c.values[:c.fill]
	low := slices.Min(values)
	for i := range values {
		values[i] -= low
	}
	width := kernel.RoundWidth(bits.Len64(slices.Max(values)))
	start := len(c.out)
	c.out = appendPacked(c.out, values, width)
	c.frame.addBlock(c.out[start:], low, 0, width)
	c.fill = 0
	if len(c.out) >= writeChunk {
		c.flush()
	}
}

func (c *ColumnWriter) flush() {
	if c.err == nil {
		_, c.err = c.w.Write(c.out)
	}
	c.total += int64(len(c.out))
	c.out = c.out[:0]
}

// appendColumn appends the section of values.
func appendColumn(dst []byte, values []uint64) []byte {
	out := appendWriter{dst}
	c := NewColumnWriter(&out)
	for _, v := range values {
		c.Add(v) // an appendWriter never fails
	}
	c.Finish()
	return out.buf
}

type appendWriter struct{ buf []byte }

func (a *appendWriter) Write(p []byte) (int, error) {
	a.buf = append(a.buf, p...)
	return len(p), nil
}
