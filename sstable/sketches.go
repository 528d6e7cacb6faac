package sstable

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// Sketches are kept as package minhash encodes them, in blocks of 16 documents, the last may have fewer:
//
//	+-----------------------------+-----------------------------------------+
//	| end of each sketch  2 or 4  | encoded sketches, one after the other   |
//	+-----------------------------+-----------------------------------------+
//
// Ends count from the first sketch; they take 4 bytes each if the sketches of the block have more than 65535 bytes
// together, which its length tells. A document without words has no bytes. As names do, the blocks lie in KindBlocks,
// about 256 KiB side by side, and KindSketches says where:
//
//	+----------------------+ ... +----------------------+
//	| entry of block 0  16 |     | entry of block B  16 |
//	+----------------------+ ... +----------------------+
//	entry   +-----------------------------+--------+---------------------+
//	        | offset in KindBlocks      8 | length | CRC32C of the block |
//	        |                             |   4    |          4          |
//	        +-----------------------------+--------+---------------------+
const (
	sketchShift = 4
	sketchBlock = 1 << sketchShift // sketches in every block but the last
	sketchEntry = 16
	sketchChunk = 256 << 10 // bytes of blocks that are written side by side
)

// sketchWriter collects blocks of sketches.
type sketchWriter struct {
	ends    []uint32 // of the block being filled
	encoded []byte   // of the block being filled
	chunk   []byte   // full blocks that are not written
	dir     []byte   // entries; those of the chunk count from its start
	moved   int      // bytes of entries whose offset is final

	last minhash.Sketch // the last one that was not empty, and its code: equal documents follow each other
	code []byte
}

// isLast reports whether s is equal to the last sketch that was added, of those that were not empty.
func (w *sketchWriter) isLast(s minhash.Sketch) bool { return slices.Equal(s, w.last) }

// add appends a sketch and reports whether the chunk should be flushed.
func (w *sketchWriter) add(s minhash.Sketch) (full bool) {
	if len(s) > 0 {
		if !w.isLast(s) {
			w.last, w.code = append(w.last[:0], s...), s.AppendEncoded(w.code[:0])
		}
		w.encoded = append(w.encoded, w.code...)
	}
	w.ends = append(w.ends, uint32(len(w.encoded)))
	if len(w.ends) == sketchBlock {
		w.endBlock()
	}
	return len(w.chunk) >= sketchChunk
}

// endBlock moves the sketches since the last block to the chunk.
func (w *sketchWriter) endBlock() {
	if len(w.ends) == 0 {
		return
	}
	start := len(w.chunk)
	for _, end := range w.ends {
		if namesWide(len(w.encoded)) {
			w.chunk = binary.LittleEndian.AppendUint32(w.chunk, end)
		} else {
			w.chunk = binary.LittleEndian.AppendUint16(w.chunk, uint16(end))
		}
	}
	w.chunk = append(w.chunk, w.encoded...)
	block := w.chunk[start:]
	w.dir = binary.LittleEndian.AppendUint64(w.dir, uint64(start))
	w.dir = binary.LittleEndian.AppendUint32(w.dir, uint32(len(block)))
	w.dir = binary.LittleEndian.AppendUint32(w.dir, crc.Sum(block))
	w.ends, w.encoded = w.ends[:0], w.encoded[:0]
}

// flush returns the chunk, which is about to be written at offset of KindBlocks, and starts another. The returned
// slice is valid until the next add.
func (w *sketchWriter) flush(offset int64) []byte {
	for ; w.moved < len(w.dir); w.moved += sketchEntry {
		at := w.dir[w.moved:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(offset))
	}
	chunk := w.chunk
	w.chunk = w.chunk[:0]
	return chunk
}

// sketches reads sketches by document number.
type sketches struct {
	file    string
	docs    uint32
	size    int             // N: the most hashes a sketch may have
	dir     []byte          // KindSketches
	dirOff  int64           // its offset in the file
	blocks  []byte          // KindBlocks
	blkOff  int64           // its offset in the file
	checked []atomic.Uint32 // a bit a block whose checksum and ends are right
}

// openSketches checks that the directory has the right size. Its entries are checked with their blocks.
func openSketches(file string, docs uint32, size int, dir []byte, dirOff int64, blocks []byte, blkOff int64) (*sketches, error) {
	n := (int64(docs) + sketchBlock - 1) / sketchBlock
	if int64(len(dir)) != n*sketchEntry {
		return nil, base.Corruptf(file, KindSketches.String(), dirOff, "%d bytes for %d blocks", len(dir), n)
	}
	return &sketches{
		file: file, docs: docs, size: size, dir: dir, dirOff: dirOff, blocks: blocks, blkOff: blkOff,
		checked: make([]atomic.Uint32, (n+31)/32),
	}, nil
}

// numBlocks returns the number of blocks.
func (s *sketches) numBlocks() int { return len(s.dir) / sketchEntry }

// extent returns what the directory says of block b, unchecked.
func (s *sketches) extent(b int) (off, length uint64, sum uint32) {
	e := s.dir[b*sketchEntry:][:sketchEntry]
	return binary.LittleEndian.Uint64(e), uint64(binary.LittleEndian.Uint32(e[8:])), binary.LittleEndian.Uint32(e[12:])
}

// count returns the number of sketches in block b.
func (s *sketches) count(b int) int { return int(min(sketchBlock, s.docs-uint32(b)<<sketchShift)) }

// locate returns the encoded sketch of a document, which must exist; no bytes if it has none.
func (s *sketches) locate(doc uint32) ([]byte, error) {
	b := int(doc >> sketchShift)
	if s.checked[b>>5].Load()>>(b&31)&1 == 0 {
		if err := s.check(b); err != nil {
			return nil, err
		}
	}
	off, length, _ := s.extent(b)
	block := s.blocks[off : off+length]
	count, i := s.count(b), int(doc&(sketchBlock-1))
	from, to := 0, 0
	if namesWide(len(block) - 2*count) {
		if i > 0 {
			from = int(binary.LittleEndian.Uint32(block[4*i-4:]))
		}
		to = int(binary.LittleEndian.Uint32(block[4*i:]))
		return block[4*count:][from:to], nil
	}
	if i > 0 {
		from = int(binary.LittleEndian.Uint16(block[2*i-2:]))
	}
	to = int(binary.LittleEndian.Uint16(block[2*i:]))
	return block[2*count:][from:to], nil
}

// get appends the sketch of a document, which must exist, to dst.
func (s *sketches) get(doc uint32, dst minhash.Sketch) (minhash.Sketch, error) {
	encoded, err := s.locate(doc)
	if err != nil || len(encoded) == 0 {
		return dst, err
	}
	return s.decode(doc, encoded, dst)
}

// decode appends a document's sketch that is encoded as given.
func (s *sketches) decode(doc uint32, encoded []byte, dst minhash.Sketch) (minhash.Sketch, error) {
	before := len(dst)
	dst, rest, err := minhash.Decode(dst, encoded)
	if err == nil && (len(rest) > 0 || len(dst)-before > s.size || len(dst) == before) {
		err = fmt.Errorf("%d hashes, at most %d, and %d bytes after them", len(dst)-before, s.size, len(rest))
	}
	if err != nil {
		off, _, _ := s.extent(int(doc >> sketchShift))
		return dst[:before], base.Corruptf(s.file, KindSketches.String(), s.blkOff+int64(off), "document %d: %w", doc, err)
	}
	return dst, nil
}

// prefetchEntry asks for the entry of a document's block.
func (s *sketches) prefetchEntry(doc uint32) {
	kernel.Prefetch(s.dir[int(doc>>sketchShift)*sketchEntry:][:sketchEntry])
}

// prefetch asks for about where the sketch of a document is, supposing that all of its block have one size.
func (s *sketches) prefetch(doc uint32) {
	off, length, _ := s.extent(int(doc >> sketchShift))
	if off > uint64(len(s.blocks)) || length > uint64(len(s.blocks))-off {
		return // a look at it will say so
	}
	block := s.blocks[off : off+length]
	kernel.Prefetch(block[:min(len(block), 2*sketchBlock)])
	size := len(block) / sketchBlock
	kernel.Prefetch(block[size*int(doc&(sketchBlock-1)):][:size])
}

// check verifies block b and remembers if it is good.
func (s *sketches) check(b int) error {
	off, length, sum := s.extent(b)
	count := s.count(b)
	inDir := func(format string, args ...any) error {
		return base.Corruptf(s.file, KindSketches.String(), s.dirOff+int64(b*sketchEntry), format, args...)
	}
	if off > uint64(len(s.blocks)) || length > uint64(len(s.blocks))-off || length < uint64(2*count) {
		return inDir("block of %d bytes at %d of %d", length, off, len(s.blocks))
	}
	if b > 0 { // overlapping blocks could make a small file take for ever
		if prev, size, _ := s.extent(b - 1); prev > off || size > off-prev {
			return inDir("block at %d overlaps the one before it, %d bytes at %d", off, size, prev)
		}
	}
	block := s.blocks[off : off+length]
	bad := func(format string, args ...any) error {
		return base.Corruptf(s.file, KindSketches.String(), s.blkOff+int64(off), format, args...)
	}
	if crc.Sum(block) != sum {
		return bad("wrong checksum of block %d", b)
	}
	wide := namesWide(len(block) - 2*count)
	size := len(block) - 2*count
	if wide {
		size -= 2 * count
	}
	prev := 0
	for i := range count {
		end := 0
		if wide {
			end = int(binary.LittleEndian.Uint32(block[4*i:]))
		} else {
			end = int(binary.LittleEndian.Uint16(block[2*i:]))
		}
		if end < prev || end > size {
			return bad("sketch %d of block %d ends at %d, after one that ends at %d of %d", i, b, end, prev, size)
		}
		prev = end
	}
	if prev != size {
		return bad("sketches of block %d end at %d of %d", b, prev, size)
	}
	s.checked[b>>5].Or(1 << (b & 31))
	return nil
}
