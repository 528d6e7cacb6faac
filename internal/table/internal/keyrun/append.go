package keyrun

import "fmt"

// Blocks do not depend on each other, so parts of a section may be encoded in parallel, by writers
// without an output, and concatenated in order: only the offsets in the directory change.

// Append appends the keys of part, and empties part for reuse. part must be a writer of the same
// kind without an output. The keys so far must fill whole blocks, and no key of part may be less
// than the last key so far. After a part that does not fill its last block, nothing more can be
// added.
func (k *Writer) Append(part *Writer) error {
	if k.fill == BlockLen {
		k.flushBlock()
	}
	if part.count == 0 {
		return k.err
	}
	if k.count%BlockLen != 0 || k.frame.vwidth != part.frame.vwidth || k.frame.tag != part.frame.tag {
		return fmt.Errorf("key run: a part after %d keys of a block", k.count%BlockLen)
	}
	last := part.last()
	part.flushBlock()
	if first := part.frame.bases[0]; k.count > 0 && first < k.last() {
		return k.outOfOrder(first)
	}
	k.keys[BlockLen-1] = last // where last expects it when fill is 0
	return k.append(&part.body)
}

// append moves the encoded data of part to b. part retains its memory.
func (b *body) append(part *body) error {
	b.flush()
	b.frame.append(&part.frame)
	if b.err == nil && b.w != nil {
		_, b.err = b.w.Write(part.out)
	} else {
		b.out = append(b.out, part.out...)
	}
	b.count += part.count
	part.reset()
	return b.err
}

// reset discards all encoded data but retains the memory.
func (b *body) reset() {
	b.frame.reset()
	b.out, b.fill, b.count, b.err = b.out[:0], 0, 0, nil
}

// Append appends the values of part, and empties part for reuse. part must come from
// NewColumnWriter(nil). The values so far must fill whole blocks.
func (c *ColumnWriter) Append(part *ColumnWriter) error {
	if part.count == 0 {
		return c.err
	}
	if c.fill != 0 || c.count%BlockLen != 0 {
		return fmt.Errorf("column: a part after %d values", c.count)
	}
	if part.fill > 0 {
		part.flushBlock()
	}
	c.max, part.max = max(c.max, part.max), 0
	return c.append(&part.body)
}

// append appends the entries of the blocks of part, which follow the entries of f.
func (f *frameWriter) append(part *frameWriter) {
	f.bases = append(f.bases, part.bases...)
	f.crcs = append(f.crcs, part.crcs...)
	for _, info := range part.infos {
		f.infos = append(f.infos, info+uint64(f.bytes>>3)<<16)
	}
	f.bytes, f.low, f.high = f.bytes+part.bytes, f.low+part.low, f.high+part.high
}

// reset removes all blocks but retains the memory.
func (f *frameWriter) reset() {
	f.bases, f.infos, f.crcs = f.bases[:0], f.infos[:0], f.crcs[:0]
	f.bytes, f.low, f.high = 0, 0, 0
}
