package blobs

import (
	"encoding/binary"

	"github.com/simdb/simdb/internal/kernel"
)

// Directory entries of lists and of records have the same frame, with additional fields in the
// middle:
//
//	+-----------------------+------------+----------------------------------+
//	| offset in the area  6 | fields ... | CRC32C of the block and of these |
//	|                       |            |                4                 |
//	+-----------------------+------------+----------------------------------+
//
// The checksum covers the block and then the entry up to the checksum. So a merge reads a copied
// block only once: the checksum of this one block verifies the old entry, and is continued for the
// new one.

// maxOffset is the greatest offset of a block in the area.
const maxOffset = 1<<48 - 1

// sumEntry returns the checksum of an entry whose block has the checksum block.
func sumEntry(block uint32, entry []byte) uint32 { return kernel.CRC32C(block, entry[:len(entry)-4]) }

// blockDir is a directory that is being written. Finished blocks wait in chunk until they are
// written.
type blockDir struct {
	entry   int    // size of an entry in bytes
	entries []byte // for blocks in chunk: offsets from its start, checksums of single blocks
	final   int    // size of the final entries in bytes
	chunk   []byte
}

// flush returns the chunk, which is about to be written at offset of the area, and finalizes its
// entries. The returned slice is valid until the next block ends.
func (d *blockDir) flush(offset int64) []byte {
	for ; d.final < len(d.entries); d.final += d.entry {
		e := d.entries[d.final:][:d.entry]
		binary.LittleEndian.PutUint64(e, binary.LittleEndian.Uint64(e)+uint64(offset)) // at most maxOffset
		sum := e[d.entry-4:]
		binary.LittleEndian.PutUint32(sum, sumEntry(binary.LittleEndian.Uint32(sum), e))
	}
	chunk := d.chunk
	d.chunk = d.chunk[:0]
	return chunk
}
