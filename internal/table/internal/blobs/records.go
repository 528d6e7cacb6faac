package blobs

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
)

// A record is a text with its fields. Records are numbered from 0 in the order of the file, which
// may differ from the order of documents: the record of each document is stored elsewhere, and a
// record may belong to no document. Records are stored in blocks; a block ends when it reaches the
// writer's block size or has MaxBlockRecords records. A block is stored as one zstd frame, or
// uncompressed if the frame would not be shorter. Uncompressed, it has its records one after the
// other:
//
//	+-----------------+-------------------+------+--------+
//	| length of text  | length of fields  | text | fields |
//	|   1..4 uvarint  |   1..4 uvarint    |      |        |
//	+-----------------+-------------------+------+--------+
//
// A block whose records have neither text nor fields is stored as no bytes at all. The directory
// has an entry for each block:
//
//	+-------------+---------+--------+--------+--------------+----------------------------------+
//	| offset in   | records | stored | raw    | first record | CRC32C of the block and of these |
//	| the area  6 |    2    | size 4 | size 4 |      4       |                4                 |
//	+-------------+---------+--------+--------+--------------+----------------------------------+
//
// The first record of a block follows the last one of the previous block. If all records are empty,
// there are neither blocks nor a directory.
//
// Nothing in a block depends on its position or on the numbers of its records, so a merge can copy
// it unchanged (RecordsWriter.AddBlock).
const (
	// RecordsEntry is the size in bytes of a directory entry of records.
	RecordsEntry = 24
	// MaxBlockRecords is the maximum number of records in a block.
	MaxBlockRecords = 512

	section     = "records" // the section of the directory, for errors
	areaSection = "blocks"  // the section of the area, for errors
)

// extent is a decoded entry of the directory.
type extent struct {
	offset      uint64
	count       uint32 // number of records
	stored, raw uint32 // sizes in bytes
	first       uint32 // number of the first record
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
	file string
	n    uint32 // number of records
	dir  Bytes  // empty if all records are empty
	area Bytes

	cache  *Cache
	cached []atomic.Pointer[cachedBlock] // by block; empty without a cache
}

// OpenRecords opens n records. It checks that the directory has whole entries, which are verified
// with their blocks. An empty directory means that all records are empty.
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

// firstOf returns the number of the first record in block b, or the number of records if b is
// NumBlocks. It is unverified.
func (d *Records) firstOf(b int) uint32 {
	if b == d.NumBlocks() {
		return d.n
	}
	d.dir.Need(b*RecordsEntry, (b+1)*RecordsEntry)
	return binary.LittleEndian.Uint32(d.dir.Data[b*RecordsEntry+16:])
}

// BlockOf returns the block that should have a record; there must be blocks. The directory may be
// damaged, so only BlockRecords, or the block itself, can tell whether it does.
func (d *Records) BlockOf(record uint32) int {
	// Invariant: if the directory is right, block lo starts at or before record, block hi after it.
	lo, hi := 0, d.NumBlocks()
	if d.dir.Pages.IsRemote() {
		s := d.seek(record)
		for !s.found {
			d.narrow(&s)
		}
		lo, hi = s.lo, s.hi
	}
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
// MaxBlockRecords. It reads only the directory. If it is called for all blocks, it has verified
// that their records follow each other from 0 to Len.
func (d *Records) BlockRecords(b int) (first, count uint32, err error) {
	e := d.entry(b)
	if e.count-1 >= MaxBlockRecords || uint64(e.first)+uint64(e.count) != uint64(d.firstOf(b+1)) || b == 0 && e.first != 0 {
		return 0, 0, d.corruptDir(b, "block of %d records from %d, the next from %d", e.count, e.first, d.firstOf(b+1))
	}
	return e.first, e.count, nil
}

// entry returns the directory entry of block b, unverified.
func (d *Records) entry(b int) extent {
	d.dir.Need(b*RecordsEntry, (b+1)*RecordsEntry)
	e := d.dir.Data[b*RecordsEntry:][:RecordsEntry]
	le := binary.LittleEndian
	head := le.Uint64(e)
	return extent{
		offset: head & maxOffset, count: uint32(head >> 48), stored: le.Uint32(e[8:]), raw: le.Uint32(e[12:]),
		first: le.Uint32(e[16:]), sum: le.Uint32(e[20:]),
	}
}

// extent verifies the entry of block b and its block. It returns the entry, the stored block, and
// the checksum of this block only.
func (d *Records) extent(b int) (e extent, stored []byte, sum uint32, err error) {
	e = d.entry(b)
	if e.offset > uint64(len(d.area.Data)) || uint64(e.stored) > uint64(len(d.area.Data))-e.offset {
		return e, nil, 0, d.corruptDir(b, "block of %d bytes at %d of %d", e.stored, e.offset, len(d.area.Data))
	}
	if b > 0 { // overlapping blocks could cause unlimited work for a small file
		if prev := d.entry(b - 1); prev.offset > e.offset || uint64(prev.stored) > e.offset-prev.offset {
			return e, nil, 0, d.corruptDir(b, "block at %d overlaps the one before it, %d bytes at %d", e.offset, prev.stored, prev.offset)
		}
	}
	d.area.Need(int(e.offset), int(e.offset)+int(e.stored))
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

// corruptDir returns the error for damage in the entry of block b.
func (d *Records) corruptDir(b int, format string, args ...any) error {
	return base.Corruptf(d.file, section, d.dir.Offset+int64(b*RecordsEntry), format, args...)
}

// Decode verifies and decodes block b into blk, whose buffer is reused if it is large enough.
func (d *Records) Decode(b int, blk *Block) error {
	e, stored, _, err := d.extent(b)
	if err != nil {
		return err
	}
	if blk.shared {
		blk.data, blk.shared = nil, false
	}
	blk.records, blk.number, blk.extent = d, b, e
	blk.data, err = decompress(blk.data[:0], stored, int(e.raw))
	blk.rest = blk.data
	if err != nil {
		return base.Corruptf(d.file, section, d.area.Offset+int64(e.offset), "block %d: %w", b, err)
	}
	return nil
}

// misplaced returns the error for a record that is not in the block where it should be, or for a
// block that does not follow the previous one.
func (d *Records) misplaced(record uint32, blk *Block) error {
	return d.corruptDir(blk.number, "record %d is not in block %d, which has %d records from %d, %d bytes from %d",
		record, blk.number, blk.count, blk.first, blk.stored, blk.offset)
}

// Sizes returns the total size of all blocks, as stored and before compression, from the directory,
// unverified.
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

// Block is a decoded block of records. The zero value may be passed to Records.Decode.
type Block struct {
	extent
	records *Records
	number  int
	data    []byte
	rest    []byte // records that Next has not returned yet
	shared  bool   // data belongs to another block, too, and must not be overwritten
}

// share makes b a copy of another block with the same data.
func (b *Block) share(of *Block) {
	b.extent, b.records, b.number, b.data, b.rest, b.shared = of.extent, of.records, of.number, of.data, of.data, true
}

// First returns the number of the first record of the block.
func (b *Block) First() uint32 { return b.first }

// Count returns the number of records in the block.
func (b *Block) Count() uint32 { return b.count }

// Extent returns the position of the block in the area.
func (b *Block) Extent() (off, length uint64) { return b.offset, uint64(b.stored) }

// Next returns the records of the block in order. It may be called Count times after
// Records.Decode. The results are parts of the block, valid until the next Decode.
func (b *Block) Next() (text, fields []byte, err error) {
	if b.raw == 0 {
		return nil, nil, nil
	}
	if text, fields, b.rest, err = nextRecord(b.rest); err != nil {
		return nil, nil, b.corrupt(err)
	}
	return text, fields, nil
}

// corrupt returns the error for a block whose records have invalid lengths.
func (b *Block) corrupt(err error) error {
	d := b.records
	return base.Corruptf(d.file, section, d.area.Offset+int64(b.offset), "block %d: %w", b.number, err)
}

// nextRecord splits the first record off b.
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
