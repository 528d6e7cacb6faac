package blobs

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// listChunk is how many bytes of blocks are written together, so that they share few pages with
// texts.
const listChunk = 256 << 10

// ListWriter collects the blocks of a list.
type ListWriter struct {
	kind    *Kind
	ends    []uint32 // of the block being filled
	strings []byte   // of the block being filled
	blocks  blockDir
	empty   int      // number of empty blocks before the first entry of the directory
	values  []uint64 // buffer of EndBlock

	moved, movedBytes int // bytes of entries, and of the chunk, that Append has moved
}

// NewListWriter returns a writer of a list.
func NewListWriter(k *Kind) *ListWriter {
	return &ListWriter{kind: k, blocks: blockDir{entry: ListEntry}}
}

// Add appends a string of Kind.Least to Kind.Most bytes, and reports whether the chunk should be
// flushed.
func (w *ListWriter) Add(b []byte) (full bool) {
	w.strings = append(w.strings, b...)
	w.ends = append(w.ends, uint32(len(w.strings)))
	if len(w.ends) == 1<<w.kind.Shift {
		w.EndBlock()
	}
	return len(w.blocks.chunk) >= listChunk
}

// Append moves blocks of part to the end of w until the chunk should be flushed, and then returns
// true. If it returns false, it has moved all blocks, and part may be reused. The kind of part must
// not allow empty strings. The strings so far must fill whole blocks. Chunks end at the same
// places, whatever the sizes of parts.
func (w *ListWriter) Append(part *ListWriter) (full bool) {
	part.EndBlock()
	d, p, le := &w.blocks, &part.blocks, binary.LittleEndian
	at, begin := part.moved, part.movedBytes
	end := begin
	for ; at < len(p.entries) && len(d.chunk)+end-begin < listChunk; at += ListEntry {
		e := p.entries[at:]
		d.entries = le.AppendUint64(d.entries, le.Uint64(e)+uint64(len(d.chunk))-uint64(begin)) // less than 2^48
		d.entries = append(d.entries, e[8:ListEntry]...)
		end += int(le.Uint32(e[8:]))
	}
	d.chunk = append(d.chunk, p.chunk[begin:end]...)
	if part.moved, part.movedBytes = at, end; at == len(p.entries) {
		p.chunk, p.entries = p.chunk[:0], p.entries[:0]
		part.moved, part.movedBytes = 0, 0
	}
	return len(d.chunk) >= listChunk
}

// EndBlock moves the strings since the last block to the chunk.
func (w *ListWriter) EndBlock() {
	switch {
	case len(w.ends) == 0:
		return
	case len(w.strings) == 0 && len(w.blocks.entries) == 0:
		w.empty++ // there is no directory until a string has bytes
	default:
		for ; w.empty > 0; w.empty-- {
			w.addEntry(0, 0, 0)
		}
		w.appendBlock()
	}
	w.ends, w.strings = w.ends[:0], w.strings[:0]
}

// appendBlock appends the strings since the last block as a block.
func (w *ListWriter) appendBlock() {
	d, start := &w.blocks, len(w.blocks.chunk)
	width, low := w.fit()
	d.chunk = kernel.AppendPacked(d.chunk, w.values, width)
	d.chunk = d.chunk[:start+packedBytes(len(w.values), width)]
	d.chunk = append(d.chunk, w.strings...)
	w.addEntry(start, width, low)
}

// addEntry appends the entry of the block that starts at start in the chunk.
func (w *ListWriter) addEntry(start, width, low int) {
	d, le := &w.blocks, binary.LittleEndian
	block := d.chunk[start:]
	d.entries = le.AppendUint64(d.entries, uint64(start)|uint64(width)<<48|uint64(low)<<56)
	d.entries = le.AppendUint32(d.entries, uint32(len(block)))
	d.entries = le.AppendUint32(d.entries, kernel.CRC32C(0, block))
}

// fit sets values to the packed values for the strings since the last block, and returns their
// width and the low of the entry.
func (w *ListWriter) fit() (width, low int) {
	least, most := 0, 0
	count, total := len(w.ends), len(w.strings)
	w.values = w.values[:0]
	for i := 1; i < count; i++ {
		v := int(w.ends[i-1]) - i*total/count
		least, most = min(least, v), max(most, v)
		w.values = append(w.values, uint64(v))
	}
	for width = bits.Len(uint(most - least)); ; width++ {
		// the smallest low that makes -least fit, rounded up if low has a unit greater than 1
		low = (-least<<8 + 1<<width - 1) >> width
		if low < 1<<8 && most+low<<width>>8 < 1<<width {
			break
		}
	}
	for i := range w.values {
		w.values[i] += uint64(low << width >> 8)
	}
	return width, low
}

// Flush returns the chunk, which is about to be written at offset of the area, and starts a new
// one. The returned slice is valid until the next Add.
func (w *ListWriter) Flush(offset int64) []byte { return w.blocks.flush(offset) }

// Directory returns the entries of all blocks, which are final once everything has been flushed. It
// is empty if all strings are empty.
func (w *ListWriter) Directory() []byte { return w.blocks.entries }

// NumBlocks returns the number of finished blocks in the directory.
func (w *ListWriter) NumBlocks() int { return len(w.blocks.entries) / ListEntry }
