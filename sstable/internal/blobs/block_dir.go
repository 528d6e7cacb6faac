package blobs

import (
	"encoding/binary"

	"github.com/simdb/simdb/internal/kernel"
)

// Directories of lists and of records have entries of one frame, which fields of their own extend:
//
//	+-----------------------+------------+----------------------------------+
//	| offset in the area  6 | fields ... | CRC32C of the block and of these |
//	|                       |            |                4                 |
//	+-----------------------+------------+----------------------------------+
//
// The checksum is that of the block followed by what comes before it in the entry, so that a block
// that is copied is read once: its own checksum verifies it there, and is continued here.

// maxOffset is the greatest offset of a block in the area.
const maxOffset = 1<<48 - 1

// sumEntry returns the checksum of an entry whose block has the checksum block.
func sumEntry(block uint32, entry []byte) uint32 { return kernel.CRC32C(block, entry[:len(entry)-4]) }

// blockDir is a directory that is being written. Blocks that have ended wait in chunk to be
// written.
type blockDir struct {
	entry   int    // bytes of an entry
	entries []byte // those of the blocks in chunk count from its start, and have its checksum alone
	final   int    // bytes of entries that are final
	chunk   []byte
}

// flush returns the chunk, which is about to be written at offset of the area, and makes its
// entries final. The returned slice is valid until the next block ends.
func (d *blockDir) flush(offset int64) []byte {
	for ; d.final < len(d.entries); d.final += d.entry {
		e := d.entries[d.final:][:d.entry]
		binary.LittleEndian.PutUint64(e, binary.LittleEndian.Uint64(e)+uint64(offset)) // no carry: at most maxOffset
		sum := e[d.entry-4:]
		binary.LittleEndian.PutUint32(sum, sumEntry(binary.LittleEndian.Uint32(sum), e))
	}
	chunk := d.chunk
	d.chunk = d.chunk[:0]
	return chunk
}
