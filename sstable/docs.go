package sstable

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// Texts and fields are records, kept in blocks of consecutive documents: as many as make 32 KiB (WriterOptions), 512
// at the most. A block is stored as one zstd frame, or as it is where the frame would not be shorter. Before that it
// is its records, one after the other:
//
//	+-----------------+-------------------+------+--------+
//	| length of text  | length of fields  | text | fields |
//	|   1..4 uvarint  |   1..4 uvarint    |      |        |
//	+-----------------+-------------------+------+--------+
//
// A block whose documents have neither text nor fields is stored as no bytes at all. KindDocs says where the blocks are, which lie among those of names in KindBlocks:
//
//	+----------------------+ ... +----------------------+
//	| entry of block 0  28 |     | entry of block B  28 |
//	+----------------------+ ... +----------------------+
//	entry   +-----------------------+--------+--------+----------------+-----------+-----------+
//	        | offset in KindBlocks  | stored | raw    | first document | documents | CRC32C of |
//	        |           8           | size 4 | size 4 |       4        |     4     | these and |
//	        |                       |        |        |                |           | the block |
//	        +-----------------------+--------+--------+----------------+-----------+-----------+
const (
	docsEntry    = 28
	maxBlockDocs = 512
	cachedBlocks = 4       // decoded blocks a reader keeps
	maxCached    = 1 << 20 // bytes of a block that is kept
)

// docsWriter collects blocks of records.
type docsWriter struct {
	enc    *zstd.Encoder
	size   int    // bytes that end a block
	raw    []byte // records of the block being filled
	first  uint32 // document
	count  uint32 // documents
	empty  bool   // all records of the block are empty
	stored []byte // the compressed block
	dir    []byte
	total  int64 // bytes of blocks
}

// add appends the record of the next document and reports whether the block should be flushed.
func (w *docsWriter) add(text, fields []byte) (full bool) {
	if w.count == 0 {
		w.empty = true
	}
	w.empty = w.empty && len(text) == 0 && len(fields) == 0
	w.raw = binary.AppendUvarint(w.raw, uint64(len(text)))
	w.raw = binary.AppendUvarint(w.raw, uint64(len(fields)))
	w.raw = append(w.raw, text...)
	w.raw = append(w.raw, fields...)
	w.count++
	return len(w.raw) >= w.size || w.count == maxBlockDocs
}

// flush ends the block and returns the bytes to be written at offset of KindBlocks, valid until the next flush.
func (w *docsWriter) flush(offset int64) []byte {
	if w.count == 0 {
		return nil
	}
	w.stored = w.stored[:0]
	if w.empty {
		w.raw = w.raw[:0]
	} else {
		w.stored = compress(w.enc, w.stored, w.raw)
	}
	entry := docsExtent{
		offset: uint64(offset), stored: uint32(len(w.stored)), raw: uint32(len(w.raw)), first: w.first, count: w.count,
	}
	w.dir = entry.append(w.dir, w.stored)
	w.first, w.count, w.raw = w.first+w.count, 0, w.raw[:0]
	w.total += int64(len(w.stored))
	return w.stored
}

// docsExtent is an entry of KindDocs.
type docsExtent struct {
	offset       uint64
	stored, raw  uint32
	first, count uint32
	sum          uint32
}

// append appends the entry of a block that is stored as given.
func (e docsExtent) append(b, stored []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, e.offset)
	for _, n := range []uint32{e.stored, e.raw, e.first, e.count} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	sum := crc.Update(crc.Sum(b[start:]), stored)
	return binary.LittleEndian.AppendUint32(b, sum)
}

// docs reads records by document number.
type docs struct {
	file   string
	n      uint32 // documents
	dir    []byte // KindDocs
	dirOff int64  // its offset in the file
	blocks []byte // KindBlocks
	blkOff int64  // its offset in the file
	cache  [cachedBlocks]atomic.Pointer[docsBlock]
}

// docsBlock is a decoded block.
type docsBlock struct {
	docsExtent
	number int
	data   []byte
}

// openDocs checks that the directory has whole entries. They are checked with their blocks.
func openDocs(file string, n uint32, dir []byte, dirOff int64, blocks []byte, blkOff int64) (*docs, error) {
	if len(dir)%docsEntry != 0 || (len(dir) == 0) != (n == 0) {
		return nil, base.Corruptf(file, KindDocs.String(), dirOff, "a directory of %d bytes for %d documents", len(dir), n)
	}
	return &docs{file: file, n: n, dir: dir, dirOff: dirOff, blocks: blocks, blkOff: blkOff}, nil
}

// numBlocks returns the number of blocks.
func (d *docs) numBlocks() int { return len(d.dir) / docsEntry }

// firstOf returns the number of the first document in block b, unchecked.
func (d *docs) firstOf(b int) uint32 { return binary.LittleEndian.Uint32(d.dir[b*docsEntry+16:]) }

// blockOf returns the block that should hold a document. The directory may be damaged, so only the block can tell.
func (d *docs) blockOf(doc uint32) int {
	// Invariant: block lo starts at or before doc if the directory is right, block hi after it.
	lo, hi := 0, d.numBlocks()
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); d.firstOf(mid) <= doc {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// entry returns what the directory says of block b, unchecked.
func (d *docs) entry(b int) docsExtent {
	e := d.dir[b*docsEntry:][:docsEntry]
	le := binary.LittleEndian
	return docsExtent{
		offset: le.Uint64(e), stored: le.Uint32(e[8:]), raw: le.Uint32(e[12:]),
		first: le.Uint32(e[16:]), count: le.Uint32(e[20:]), sum: le.Uint32(e[24:]),
	}
}

// extent returns the entry of block b and the block as it is stored, after checking both.
func (d *docs) extent(b int) (docsExtent, []byte, error) {
	e := d.entry(b)
	bad := func(format string, args ...any) (docsExtent, []byte, error) {
		return e, nil, base.Corruptf(d.file, KindDocs.String(), d.dirOff+int64(b*docsEntry), format, args...)
	}
	if e.offset > uint64(len(d.blocks)) || uint64(e.stored) > uint64(len(d.blocks))-e.offset {
		return bad("block of %d bytes at %d of %d", e.stored, e.offset, len(d.blocks))
	}
	stored := d.blocks[e.offset:][:e.stored]
	if crc.Update(crc.Sum(d.dir[b*docsEntry:][:docsEntry-4]), stored) != e.sum {
		return e, nil, base.Corruptf(d.file, KindDocs.String(), d.blkOff+int64(e.offset), "wrong checksum of block %d", b)
	}
	if e.count == 0 || e.first >= d.n || e.count > d.n-e.first {
		return bad("block of %d documents from %d of %d", e.count, e.first, d.n)
	}
	if err := checkRawSize(int64(e.stored), int64(e.raw)); err != nil {
		return bad("%w", err)
	}
	return e, stored, nil
}

// decode decodes block b into blk, whose buffer is reused if it is long enough.
func (d *docs) decode(b int, blk *docsBlock) error {
	e, stored, err := d.extent(b)
	if err != nil {
		return err
	}
	blk.number, blk.docsExtent = b, e
	blk.data, err = decompress(blk.data[:0], stored, int(e.raw))
	if err != nil {
		return base.Corruptf(d.file, KindDocs.String(), d.blkOff+int64(e.offset), "block %d: %w", b, err)
	}
	return nil
}

// block returns the decoded block of a document, from the cache if it is there.
func (d *docs) block(doc uint32) (*docsBlock, error) {
	b := d.blockOf(doc)
	slot := &d.cache[b%cachedBlocks]
	blk := slot.Load()
	if blk == nil || blk.number != b {
		blk = new(docsBlock)
		if err := d.decode(b, blk); err != nil {
			return nil, err
		}
		if len(blk.data) <= maxCached {
			slot.Store(blk)
		}
	}
	if doc-blk.first >= blk.count { // also if doc is less
		return nil, d.misplaced(b, doc, blk)
	}
	return blk, nil
}

// misplaced is the error for a document that is not in block b, where it should be, or a block that is not after the
// one before it.
func (d *docs) misplaced(b int, doc uint32, blk *docsBlock) error {
	return base.Corruptf(d.file, KindDocs.String(), d.dirOff+int64(b*docsEntry),
		"document %d is not in block %d, which has %d documents from %d, %d bytes from %d",
		doc, b, blk.count, blk.first, blk.stored, blk.offset)
}

// get returns text and fields of a document, which must exist. They are parts of a decoded block and must not be
// changed.
func (d *docs) get(doc uint32) (text, fields []byte, err error) {
	blk, err := d.block(doc)
	if err != nil || blk.raw == 0 {
		return nil, nil, err
	}
	rest := blk.data
	for range doc - blk.first + 1 {
		if text, fields, rest, err = nextRecord(rest); err != nil {
			return nil, nil, d.badRecord(blk, err)
		}
	}
	return text, fields, nil
}

// badRecord is the error for a block whose records can't be told apart.
func (d *docs) badRecord(blk *docsBlock, err error) error {
	return base.Corruptf(d.file, KindDocs.String(), d.blkOff+int64(blk.offset), "block %d: %w", blk.number, err)
}

// nextRecord cuts the first record off b.
func nextRecord(b []byte) (text, fields, rest []byte, err error) {
	textLen, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, nil, nil, fmt.Errorf("length of a text: %w", io.ErrUnexpectedEOF)
	}
	b = b[n:]
	fieldsLen, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, nil, nil, fmt.Errorf("length of fields: %w", io.ErrUnexpectedEOF)
	}
	b = b[n:]
	if textLen > uint64(len(b)) || fieldsLen > uint64(len(b))-textLen {
		return nil, nil, nil, fmt.Errorf("record of %d+%d bytes in %d: %w", textLen, fieldsLen, len(b), io.ErrUnexpectedEOF)
	}
	end := textLen + fieldsLen
	return b[:textLen:textLen], b[textLen:end:end], b[end:], nil
}
