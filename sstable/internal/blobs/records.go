package blobs

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// Texts and fields are records, kept in blocks of consecutive documents: as many as make the block
// size of the writer, 512 at the most. A block is stored as one zstd frame, or as it is where the
// frame would not be shorter. Before that it is its records, one after the other:
//
//	+-----------------+-------------------+------+--------+
//	| length of text  | length of fields  | text | fields |
//	|   1..4 uvarint  |   1..4 uvarint    |      |        |
//	+-----------------+-------------------+------+--------+
//
// A block whose documents have neither text nor fields is stored as no bytes at all. The directory
// has an entry a block:
//
//	+------------------------+--------+--------+----------------+-----------+-----------+
//	| offset in the area     | stored | raw    | first document | documents | CRC32C of |
//	|           8            | size 4 | size 4 |       4        |     4     | these and |
//	|                        |        |        |                |           | the block |
//	+------------------------+--------+--------+----------------+-----------+-----------+
const (
	// RecordsEntry is the size in bytes of a directory entry of records.
	RecordsEntry = 28

	section      = "docs"   // the section of the directory, for errors
	areaSection  = "blocks" // the section of the area, for errors
	maxBlockDocs = 512
	cachedBlocks = 4       // decoded blocks a reader keeps
	maxCached    = 1 << 20 // bytes of a block that is kept
)

// RecordsWriter collects blocks of records.
type RecordsWriter struct {
	enc    *zstd.Encoder
	size   int    // bytes that end a block
	raw    []byte // records of the block being filled
	first  uint32 // document
	count  uint32 // documents
	empty  bool   // all records of the block are empty
	stored []byte // the compressed block
	dir    []byte
}

// NewRecordsWriter returns a writer that compresses at a level, which is one of those that
// ValidLevel accepts, blocks of about size bytes.
func NewRecordsWriter(level, size int) *RecordsWriter {
	return &RecordsWriter{enc: encoders[level](), size: size}
}

// Directory returns the entries of all blocks that have been flushed.
func (w *RecordsWriter) Directory() []byte { return w.dir }

// NumBlocks returns the number of blocks that have been flushed.
func (w *RecordsWriter) NumBlocks() int { return len(w.dir) / RecordsEntry }

// Add appends the record of the next document and reports whether the block should be flushed.
func (w *RecordsWriter) Add(text, fields []byte) (full bool) {
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

// Flush ends the block and returns the bytes to be written at offset of the area, valid until the
// next Flush.
func (w *RecordsWriter) Flush(offset int64) []byte {
	if w.count == 0 {
		return nil
	}
	w.stored = w.stored[:0]
	if w.empty {
		w.raw = w.raw[:0]
	} else {
		w.stored = compress(w.enc, w.stored, w.raw)
	}
	entry := extent{
		offset: uint64(offset), stored: uint32(len(w.stored)), raw: uint32(len(w.raw)), first: w.first, count: w.count,
	}
	w.dir = entry.append(w.dir, w.stored)
	w.first, w.count, w.raw = w.first+w.count, 0, w.raw[:0]
	return w.stored
}

// extent is an entry of the directory.
type extent struct {
	offset       uint64
	stored, raw  uint32
	first, count uint32
	sum          uint32
}

// append appends the entry of a block that is stored as given.
func (e extent) append(b, stored []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, e.offset)
	for _, n := range []uint32{e.stored, e.raw, e.first, e.count} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	sum := crc.Update(crc.Sum(b[start:]), stored)
	return binary.LittleEndian.AppendUint32(b, sum)
}

// Records reads records by document number.
type Records struct {
	file  string
	n     uint32 // documents
	dir   Bytes
	area  Bytes
	cache [cachedBlocks]atomic.Pointer[Block]
}

// Block is a decoded block of records.
type Block struct {
	extent
	number int
	data   []byte
}

// Count returns the number of documents in the block.
func (b *Block) Count() uint32 { return b.count }

// Extent returns where the block is in the area.
func (b *Block) Extent() (off, length uint64) { return b.offset, uint64(b.stored) }

// OpenRecords opens the records of n documents. It checks that the directory has whole entries.
// They are checked with their blocks.
func OpenRecords(file string, n uint32, dir, area Bytes) (*Records, error) {
	if len(dir.Data)%RecordsEntry != 0 || (len(dir.Data) == 0) != (n == 0) {
		return nil, base.Corruptf(file, section, dir.Offset, "a directory of %d bytes for %d documents", len(dir.Data), n)
	}
	return &Records{file: file, n: n, dir: dir, area: area}, nil
}

// NumBlocks returns the number of blocks.
func (d *Records) NumBlocks() int { return len(d.dir.Data) / RecordsEntry }

// firstOf returns the number of the first document in block b, unchecked.
func (d *Records) firstOf(b int) uint32 {
	return binary.LittleEndian.Uint32(d.dir.Data[b*RecordsEntry+16:])
}

// blockOf returns the block that should hold a document. The directory may be damaged, so only the
// block can tell.
func (d *Records) blockOf(doc uint32) int {
	// Invariant: block lo starts at or before doc if the directory is right, block hi after it.
	lo, hi := 0, d.NumBlocks()
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
func (d *Records) entry(b int) extent {
	e := d.dir.Data[b*RecordsEntry:][:RecordsEntry]
	le := binary.LittleEndian
	return extent{
		offset: le.Uint64(e), stored: le.Uint32(e[8:]), raw: le.Uint32(e[12:]),
		first: le.Uint32(e[16:]), count: le.Uint32(e[20:]), sum: le.Uint32(e[24:]),
	}
}

// extent returns the entry of block b and the block as it is stored, after checking both.
func (d *Records) extent(b int) (extent, []byte, error) {
	e := d.entry(b)
	bad := func(format string, args ...any) (extent, []byte, error) {
		return e, nil, base.Corruptf(d.file, section, d.dir.Offset+int64(b*RecordsEntry), format, args...)
	}
	if e.offset > uint64(len(d.area.Data)) || uint64(e.stored) > uint64(len(d.area.Data))-e.offset {
		return bad("block of %d bytes at %d of %d", e.stored, e.offset, len(d.area.Data))
	}
	stored := d.area.Data[e.offset:][:e.stored]
	if crc.Update(crc.Sum(d.dir.Data[b*RecordsEntry:][:RecordsEntry-4]), stored) != e.sum {
		return e, nil, base.Corruptf(d.file, section, d.area.Offset+int64(e.offset), "wrong checksum of block %d", b)
	}
	if e.count == 0 || e.first >= d.n || e.count > d.n-e.first {
		return bad("block of %d documents from %d of %d", e.count, e.first, d.n)
	}
	if err := checkRawSize(int64(e.stored), int64(e.raw)); err != nil {
		return bad("%w", err)
	}
	return e, stored, nil
}

// Decode decodes block b into blk, whose buffer is reused if it is long enough.
func (d *Records) Decode(b int, blk *Block) error {
	e, stored, err := d.extent(b)
	if err != nil {
		return err
	}
	blk.number, blk.extent = b, e
	blk.data, err = decompress(blk.data[:0], stored, int(e.raw))
	if err != nil {
		return base.Corruptf(d.file, section, d.area.Offset+int64(e.offset), "block %d: %w", b, err)
	}
	return nil
}

// block returns the decoded block of a document, from the cache if it is there.
func (d *Records) block(doc uint32) (*Block, error) {
	b := d.blockOf(doc)
	slot := &d.cache[b%cachedBlocks]
	blk := slot.Load()
	if blk == nil || blk.number != b {
		blk = new(Block)
		if err := d.Decode(b, blk); err != nil {
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

// misplaced is the error for a document that is not in block b, where it should be, or a block that
// is not after the one before it.
func (d *Records) misplaced(b int, doc uint32, blk *Block) error {
	return base.Corruptf(d.file, section, d.dir.Offset+int64(b*RecordsEntry),
		"document %d is not in block %d, which has %d documents from %d, %d bytes from %d",
		doc, b, blk.count, blk.first, blk.stored, blk.offset)
}

// Get returns text and fields of a document, which must exist. They are parts of a decoded block
// and must not be changed.
func (d *Records) Get(doc uint32) (text, fields []byte, err error) {
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

// badRecord is the error for a block whose records have lengths that do not fit.
func (d *Records) badRecord(blk *Block, err error) error {
	return base.Corruptf(d.file, section, d.area.Offset+int64(blk.offset), "block %d: %w", blk.number, err)
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

// Sizes returns the bytes of all blocks as they are stored and before compression, as the directory
// says, unchecked.
func (d *Records) Sizes() (stored, raw int64) {
	for b := range d.NumBlocks() {
		e := d.entry(b)
		stored, raw = stored+int64(e.stored), raw+int64(e.raw)
	}
	return stored, raw
}

// Check verifies the records of a decoded block that should start with document doc.
func (d *Records) Check(blk *Block, doc uint32) error {
	if blk.first != doc {
		return d.misplaced(blk.number, doc, blk)
	}
	if blk.raw == 0 {
		return nil
	}
	rest, err := blk.data, error(nil)
	for range blk.count {
		if _, _, rest, err = nextRecord(rest); err != nil {
			return d.badRecord(blk, err)
		}
	}
	if len(rest) > 0 {
		return base.Corruptf(d.file, areaSection, d.area.Offset+int64(blk.offset),
			"%d bytes after the last record of block %d", len(rest), blk.number)
	}
	return nil
}

// RecordIter reads the records of all documents in order. Each block is decoded once.
type RecordIter struct {
	records *Records
	block   Block
	rest    []byte // records of the block that are to come
	next    uint32 // document
}

// Iter returns an iterator before the record of document 0.
func (d *Records) Iter() RecordIter { return RecordIter{records: d} }

// Next returns the record of the next document, which must exist. It is valid until the next call.
func (it *RecordIter) Next() (text, fields []byte, err error) {
	d, blk, doc := it.records, &it.block, it.next
	it.next++
	if doc == blk.first+blk.count {
		b := blk.number + 1
		if doc == 0 {
			b = 0
		}
		if b == d.NumBlocks() {
			return nil, nil, d.misplaced(b-1, doc, blk)
		}
		end := blk.offset + uint64(blk.stored)
		if err := d.Decode(b, blk); err != nil {
			return nil, nil, err
		}
		// overlapping blocks could make the work for a small file unlimited
		if blk.first != doc || blk.offset < end {
			return nil, nil, d.misplaced(b, doc, blk)
		}
		it.rest = blk.data
	}
	if blk.raw == 0 {
		return nil, nil, nil
	}
	text, fields, it.rest, err = nextRecord(it.rest)
	if err != nil {
		return nil, nil, d.badRecord(blk, err)
	}
	return text, fields, nil
}
