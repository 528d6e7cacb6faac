package blobs

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
)

// A record is a text with its fields. Records are numbered from 0 in the order in which they lie in
// the file, which need not be that of documents: which record a document has is kept elsewhere, and
// a record may have none. They are kept in blocks of as many as make the block size of the writer,
// MaxBlockRecords at the most. A block is stored as one zstd frame, or as it is where the frame
// would not be shorter. Before that it is its records, one after the other:
//
//	+-----------------+-------------------+------+--------+
//	| length of text  | length of fields  | text | fields |
//	|   1..4 uvarint  |   1..4 uvarint    |      |        |
//	+-----------------+-------------------+------+--------+
//
// A block whose records have neither text nor fields is stored as no bytes at all. The directory
// has an entry a block:
//
//	+-------------+---------+--------+--------+--------------+----------------------------------+
//	| offset in   | records | stored | raw    | first record | CRC32C of the block and of these |
//	| the area  6 |    2    | size 4 | size 4 |      4       |                4                 |
//	+-------------+---------+--------+--------+--------------+----------------------------------+
//
// The first record of a block follows the last one of the block before it. Records without any
// bytes at all have neither blocks nor directory.
//
// Nothing in a block depends on its place or on the numbers of its records, so that a merge copies
// it whole (RecordsWriter.AddBlock).
const (
	// RecordsEntry is the size in bytes of a directory entry of records.
	RecordsEntry = 24
	// MaxBlockRecords is the most records of a block.
	MaxBlockRecords = 512

	section      = "records" // the section of the directory, for errors
	areaSection  = "blocks"  // the section of the area, for errors
	cachedBlocks = 16        // decoded blocks a reader keeps
	maxCached    = 256 << 10 // bytes of a block that is kept
)

// extent is an entry of the directory.
type extent struct {
	offset      uint64
	count       uint32 // records
	stored, raw uint32 // bytes
	first       uint32 // record
	sum         uint32
}

func (e extent) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, e.offset|uint64(e.count)<<48)
	for _, n := range [...]uint32{e.stored, e.raw, e.first, e.sum} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// Records reads records by number.
type Records struct {
	file  string
	n     uint32 // records
	dir   Bytes  // empty if no record has bytes
	area  Bytes
	cache [cachedBlocks]atomic.Pointer[Block]
}

// OpenRecords opens n records. It checks that the directory has whole entries. They are checked
// with their blocks. An empty directory says that no record has any bytes.
func OpenRecords(file string, n uint32, dir, area Bytes) (*Records, error) {
	if len(dir.Data)%RecordsEntry != 0 || int64(len(dir.Data)/RecordsEntry) > int64(n) {
		return nil, base.Corruptf(file, section, dir.Offset, "a directory of %d bytes for %d records", len(dir.Data), n)
	}
	return &Records{file: file, n: n, dir: dir, area: area}, nil
}

// Len returns the number of records.
func (d *Records) Len() uint32 { return d.n }

// NumBlocks returns the number of blocks, 0 if no record has bytes.
func (d *Records) NumBlocks() int { return len(d.dir.Data) / RecordsEntry }

// firstOf returns the number of the first record in block b, or of the one after the last if b is
// NumBlocks. It is unchecked.
func (d *Records) firstOf(b int) uint32 {
	if b == d.NumBlocks() {
		return d.n
	}
	return binary.LittleEndian.Uint32(d.dir.Data[b*RecordsEntry+16:])
}

// BlockOf returns the block that should hold a record; there must be blocks. The directory may be
// damaged, so only BlockRecords, or the block, can tell whether it does.
func (d *Records) BlockOf(record uint32) int {
	// Invariant: block lo starts at or before record if the directory is right, block hi after it.
	lo, hi := 0, d.NumBlocks()
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); d.firstOf(mid) <= record {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// BlockRecords returns the first record of block b, and the number of its records, 1 to
// MaxBlockRecords. It reads the directory alone, and verifies that the records of all blocks for
// which it is called follow each other from 0 to Len.
func (d *Records) BlockRecords(b int) (first, count uint32, err error) {
	e := d.entry(b)
	if e.count-1 >= MaxBlockRecords || uint64(e.first)+uint64(e.count) != uint64(d.firstOf(b+1)) || b == 0 && e.first != 0 {
		return 0, 0, d.corruptDir(b, "block of %d records from %d, the next from %d", e.count, e.first, d.firstOf(b+1))
	}
	return e.first, e.count, nil
}

// entry returns what the directory says of block b, unchecked.
func (d *Records) entry(b int) extent {
	e := d.dir.Data[b*RecordsEntry:][:RecordsEntry]
	le := binary.LittleEndian
	head := le.Uint64(e)
	return extent{
		offset: head & maxOffset, count: uint32(head >> 48), stored: le.Uint32(e[8:]), raw: le.Uint32(e[12:]),
		first: le.Uint32(e[16:]), sum: le.Uint32(e[20:]),
	}
}

// extent returns the entry of block b, the block as it is stored, and the checksum of that alone,
// after checking both.
func (d *Records) extent(b int) (e extent, stored []byte, sum uint32, err error) {
	e = d.entry(b)
	if e.offset > uint64(len(d.area.Data)) || uint64(e.stored) > uint64(len(d.area.Data))-e.offset {
		return e, nil, 0, d.corruptDir(b, "block of %d bytes at %d of %d", e.stored, e.offset, len(d.area.Data))
	}
	if b > 0 { // overlapping blocks could make the work for a small file unlimited
		if prev := d.entry(b - 1); prev.offset > e.offset || uint64(prev.stored) > e.offset-prev.offset {
			return e, nil, 0, d.corruptDir(b, "block at %d overlaps the one before it, %d bytes at %d", e.offset, prev.stored, prev.offset)
		}
	}
	stored = d.area.Data[e.offset:][:e.stored]
	sum = kernel.CRC32C(0, stored)
	if sumEntry(sum, d.dir.Data[b*RecordsEntry:][:RecordsEntry]) != e.sum {
		return e, nil, 0, base.Corruptf(d.file, section, d.area.Offset+int64(e.offset), "wrong checksum of block %d", b)
	}
	if e.count-1 >= MaxBlockRecords || e.first >= d.n || e.count > d.n-e.first {
		return e, nil, 0, d.corruptDir(b, "block of %d records from %d of %d", e.count, e.first, d.n)
	}
	if err := checkRawSize(int64(e.stored), int64(e.raw)); err != nil {
		return e, nil, 0, d.corruptDir(b, "%w", err)
	}
	return e, stored, sum, nil
}

// corruptDir is the error for damage in the entry of block b.
func (d *Records) corruptDir(b int, format string, args ...any) error {
	return base.Corruptf(d.file, section, d.dir.Offset+int64(b*RecordsEntry), format, args...)
}

// Decode verifies and decodes block b into blk, whose buffer is reused if it is long enough.
func (d *Records) Decode(b int, blk *Block) error {
	e, stored, _, err := d.extent(b)
	if err != nil {
		return err
	}
	blk.records, blk.number, blk.extent = d, b, e
	blk.data, err = decompress(blk.data[:0], stored, int(e.raw))
	blk.rest = blk.data
	if err != nil {
		return base.Corruptf(d.file, section, d.area.Offset+int64(e.offset), "block %d: %w", b, err)
	}
	return nil
}

// block returns the decoded block of a record, from the cache if it is there.
func (d *Records) block(record uint32) (*Block, error) {
	b := d.BlockOf(record)
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
	if record-blk.first >= blk.count { // also if record is less
		return nil, d.misplaced(record, blk)
	}
	return blk, nil
}

// misplaced is the error for a record that is not in the block where it should be, or a block that
// is not after the one before it.
func (d *Records) misplaced(record uint32, blk *Block) error {
	return d.corruptDir(blk.number, "record %d is not in block %d, which has %d records from %d, %d bytes from %d",
		record, blk.number, blk.count, blk.first, blk.stored, blk.offset)
}

// Get returns text and fields of a record, which must exist. They are parts of a decoded block and
// must not be changed.
func (d *Records) Get(record uint32) (text, fields []byte, err error) {
	if len(d.dir.Data) == 0 {
		return nil, nil, nil
	}
	blk, err := d.block(record)
	if err != nil || blk.raw == 0 {
		return nil, nil, err
	}
	rest := blk.data
	for range record - blk.first + 1 {
		if text, fields, rest, err = nextRecord(rest); err != nil {
			return nil, nil, blk.corrupt(err)
		}
	}
	return text, fields, nil
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

// Check verifies the records of a decoded block that should start with record first.
func (d *Records) Check(blk *Block, first uint32) error {
	if blk.first != first {
		return d.misplaced(first, blk)
	}
	if blk.raw == 0 {
		return nil
	}
	rest, err := blk.data, error(nil)
	for range blk.count {
		if _, _, rest, err = nextRecord(rest); err != nil {
			return blk.corrupt(err)
		}
	}
	if len(rest) > 0 {
		return base.Corruptf(d.file, areaSection, d.area.Offset+int64(blk.offset),
			"%d bytes after the last record of block %d", len(rest), blk.number)
	}
	return nil
}

// Block is a decoded block of records. A new one is ready for Records.Decode.
type Block struct {
	extent
	records *Records
	number  int
	data    []byte
	rest    []byte // records that Next has not returned
}

// First returns the number of the first record of the block.
func (b *Block) First() uint32 { return b.first }

// Count returns the number of records in the block.
func (b *Block) Count() uint32 { return b.count }

// Extent returns where the block is in the area.
func (b *Block) Extent() (off, length uint64) { return b.offset, uint64(b.stored) }

// Next returns the records of the block in order: it may be called Count times after
// Records.Decode. They are parts of the block, valid until it is decoded into again.
func (b *Block) Next() (text, fields []byte, err error) {
	if b.raw == 0 {
		return nil, nil, nil
	}
	if text, fields, b.rest, err = nextRecord(b.rest); err != nil {
		return nil, nil, b.corrupt(err)
	}
	return text, fields, nil
}

// corrupt is the error for a block whose records have lengths that do not fit.
func (b *Block) corrupt(err error) error {
	d := b.records
	return base.Corruptf(d.file, section, d.area.Offset+int64(b.offset), "block %d: %w", b.number, err)
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
