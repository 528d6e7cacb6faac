package sstable

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// Names are the IDs of documents, verbatim, because every hit of a query needs one: two loads by document number,
// and nothing to decompress. They are kept in blocks of 128 documents, the last may have fewer:
//
//	+-------------------------+---------------------------+
//	| end of each ID  2 or 4  | IDs, one after the other  |
//	+-------------------------+---------------------------+
//
// Ends count from the first ID; they take 4 bytes each if the IDs of the block have more than 65535 bytes together,
// which its length tells. The blocks lie among those of documents in KindBlocks, because a table is written in one
// pass; the writer puts about 256 KiB of them side by side, so that names share few pages with texts. KindNames
// says where they are:
//
//	+----------------------+ ... +----------------------+
//	| entry of block 0  16 |     | entry of block B  16 |
//	+----------------------+ ... +----------------------+
//	entry   +-----------------------------+--------+---------------------+
//	        | offset in KindBlocks      8 | length | CRC32C of the block |
//	        |                             |   4    |          4          |
//	        +-----------------------------+--------+---------------------+
const (
	namesShift = 7
	namesBlock = 1 << namesShift // names in every block but the last
	namesEntry = 16
	namesChunk = 256 << 10 // bytes of blocks that are written side by side
)

// namesWriter collects blocks of names.
type namesWriter struct {
	ends  []uint32 // of the block being filled
	ids   []byte   // of the block being filled
	chunk []byte   // full blocks that are not written
	dir   []byte   // entries; those of the chunk count from its start
	moved int      // entries whose offset is final
}

// add appends an ID and reports whether the chunk should be flushed.
func (w *namesWriter) add(id []byte) (full bool) {
	w.ids = append(w.ids, id...)
	w.ends = append(w.ends, uint32(len(w.ids)))
	if len(w.ends) == namesBlock {
		w.endBlock()
	}
	return len(w.chunk) >= namesChunk
}

// endBlock moves the names since the last block to the chunk.
func (w *namesWriter) endBlock() {
	if len(w.ends) == 0 {
		return
	}
	start := len(w.chunk)
	for _, end := range w.ends {
		if namesWide(len(w.ids)) {
			w.chunk = binary.LittleEndian.AppendUint32(w.chunk, end)
		} else {
			w.chunk = binary.LittleEndian.AppendUint16(w.chunk, uint16(end))
		}
	}
	w.chunk = append(w.chunk, w.ids...)
	block := w.chunk[start:]
	w.dir = binary.LittleEndian.AppendUint64(w.dir, uint64(start))
	w.dir = binary.LittleEndian.AppendUint32(w.dir, uint32(len(block)))
	w.dir = binary.LittleEndian.AppendUint32(w.dir, crc.Sum(block))
	w.ends, w.ids = w.ends[:0], w.ids[:0]
}

// flush returns the chunk, which is about to be written at offset of KindBlocks, and starts another. The returned
// slice is valid until the next add.
func (w *namesWriter) flush(offset int64) []byte {
	for ; w.moved < len(w.dir); w.moved += namesEntry {
		at := w.dir[w.moved:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(offset))
	}
	chunk := w.chunk
	w.chunk = w.chunk[:0]
	return chunk
}

// namesWide reports whether ends of IDs with n bytes take 4 bytes.
func namesWide(n int) bool { return n > 1<<16-1 }

// names reads IDs by document number.
type names struct {
	file    string
	docs    uint32
	dir     []byte          // KindNames
	dirOff  int64           // its offset in the file
	blocks  []byte          // KindBlocks
	blkOff  int64           // its offset in the file
	checked []atomic.Uint32 // a bit a block whose checksum and ends are right
}

// openNames checks that the directory has the right size. Its entries are checked with their blocks.
func openNames(file string, docs uint32, dir []byte, dirOff int64, blocks []byte, blkOff int64) (*names, error) {
	n := (int64(docs) + namesBlock - 1) / namesBlock
	if int64(len(dir)) != n*namesEntry {
		return nil, base.Corruptf(file, KindNames.String(), dirOff, "%d bytes for %d blocks", len(dir), n)
	}
	return &names{
		file: file, docs: docs, dir: dir, dirOff: dirOff, blocks: blocks, blkOff: blkOff,
		checked: make([]atomic.Uint32, (n+31)/32),
	}, nil
}

// numBlocks returns the number of blocks.
func (n *names) numBlocks() int { return len(n.dir) / namesEntry }

// extent returns what the directory says of block b, unchecked.
func (n *names) extent(b int) (off, length uint64, sum uint32) {
	e := n.dir[b*namesEntry:][:namesEntry]
	return binary.LittleEndian.Uint64(e), uint64(binary.LittleEndian.Uint32(e[8:])), binary.LittleEndian.Uint32(e[12:])
}

// count returns the number of names in block b.
func (n *names) count(b int) int { return int(min(namesBlock, n.docs-uint32(b)<<namesShift)) }

// get returns the ID of a document, which must exist. It aliases the table.
func (n *names) get(doc uint32) ([]byte, error) {
	b := int(doc >> namesShift)
	if n.checked[b>>5].Load()>>(b&31)&1 == 0 {
		if err := n.check(b); err != nil {
			return nil, err
		}
	}
	off, length, _ := n.extent(b)
	block := n.blocks[off : off+length]
	count, i := n.count(b), int(doc&(namesBlock-1))
	var from, to uint32
	if !namesWide(len(block) - 2*count) {
		if i > 0 {
			from = uint32(binary.LittleEndian.Uint16(block[2*i-2:]))
		}
		to = uint32(binary.LittleEndian.Uint16(block[2*i:]))
		block = block[2*count:]
	} else {
		if i > 0 {
			from = binary.LittleEndian.Uint32(block[4*i-4:])
		}
		to = binary.LittleEndian.Uint32(block[4*i:])
		block = block[4*count:]
	}
	return block[from:to:to], nil
}

// touch asks for the directory's entry of a document. It may be called on nil.
func (n *names) touch(doc uint32) {
	if n != nil {
		kernel.Prefetch(n.dir[doc>>namesShift*namesEntry:][:1])
	}
}

// prefetch asks for the end and the bytes of the ID of a document, which must exist, if they are where they would be were all IDs
// of a block of one length. It may be called on nil.
func (n *names) prefetch(doc uint32) {
	if n == nil {
		return
	}
	b := int(doc >> namesShift)
	if n.checked[b>>5].Load()>>(b&31)&1 == 0 {
		return
	}
	off, length, _ := n.extent(b)
	block := n.blocks[off : off+length]
	count, i := n.count(b), int(doc&(namesBlock-1))
	ends := 2 * count
	if namesWide(len(block) - ends) {
		ends = 4 * count
	}
	kernel.Prefetch(block[ends*i/count:][:1])
	kernel.Prefetch(block[ends+(len(block)-ends)*i/count:][:1])
}

// check verifies block b and remembers if it is good.
func (n *names) check(b int) error {
	off, length, sum := n.extent(b)
	count := n.count(b)
	if off > uint64(len(n.blocks)) || length > uint64(len(n.blocks))-off || length < uint64(3*count) {
		return base.Corruptf(n.file, KindNames.String(), n.dirOff+int64(b*namesEntry),
			"block of %d bytes at %d of %d", length, off, len(n.blocks))
	}
	if b > 0 { // overlapping blocks could make a small file take for ever
		if prev, size, _ := n.extent(b - 1); prev > off || size > off-prev {
			return base.Corruptf(n.file, KindNames.String(), n.dirOff+int64(b*namesEntry),
				"block at %d overlaps the one before it, %d bytes at %d", off, size, prev)
		}
	}
	block := n.blocks[off : off+length]
	bad := func(format string, args ...any) error {
		return base.Corruptf(n.file, KindNames.String(), n.blkOff+int64(off), format, args...)
	}
	if crc.Sum(block) != sum {
		return bad("wrong checksum of block %d", b)
	}
	size := 2
	if namesWide(len(block) - 2*count) {
		size = 4
	}
	ids := len(block) - size*count
	prev := 0
	for i := range count {
		end := 0
		if size == 2 {
			end = int(binary.LittleEndian.Uint16(block[2*i:]))
		} else {
			end = int(binary.LittleEndian.Uint32(block[4*i:]))
		}
		if end <= prev || end-prev > MaxIDBytes || end > ids {
			return bad("ID %d of block %d ends at %d, after one that ends at %d of %d", i, b, end, prev, ids)
		}
		prev = end
	}
	if prev != ids {
		return bad("IDs of block %d end at %d of %d", b, prev, ids)
	}
	n.checked[b>>5].Or(1 << (b & 31))
	return nil
}
