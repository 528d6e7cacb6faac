package keyrun

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/pages"
)

// Key runs and columns have the same frame: a body of blocks of 512 values, and a directory,
// elsewhere in the file, with an entry for each block and a trailer.
//
//	body (starts on a 64-byte boundary)      directory
//	+---------+ ... +---------+    +---------+---------+--------+ ... +-------------+
//	| block 0 |     | block B |    | base  8 | info  8 | crc  4 |     | trailer  64 |
//	+---------+ ... +---------+    +---------+---------+--------+ ... +-------------+
//
//	info, one 64-bit word per block
//	 63                    16 15      8 7     0
//	+------------------------+---------+-------+
//	| offset / 8          48 | high  8 | width |    high: 64-bit words of unary bits; 0 in a
//	                                              block of a column not encoded like keys
//	+------------------------+---------+-------+    width: bits of a packed value
//
//	block
//	+----------+------------------+----------------------------+-----------------------------+
//	| sums  16 | unary  8*high    | packed  8*ceil(n*width/64) | values  8*ceil(n*vwidth/64) |
//	+----------+------------------+----------------------------+-----------------------------+
//	n = 512, fewer in the last block; values: only in runs with a value for each key
//	sums: only in runs in parts (parts.go)
//
//	trailer
//	 0     4        8       16     24      32         40          48        52     60    64
//	+-----+--------+-------+------+-------+----------+-----------+---------+------+-----+
//	| tag | vwidth | count | size | last  | lowBytes | highBytes | dir crc | zero | crc |
//	+-----+--------+-------+------+-------+----------+-----------+---------+------+-----+
//	size: of the body
//
// base is the first key of a block of keys, or the least value of a block of a column; last is the
// greatest key or value of the section. crc is the CRC32C of a block; in a run in parts, it covers
// only the sums and the unary words of the block. The directory is checked when the section is
// opened, so that all positions and sizes of blocks are known to be valid; a block is verified when
// it is first read.

const (
	BlockShift = 9               // a value's block is its position >> BlockShift
	BlockLen   = 1 << BlockShift // values in every block except the last

	frameTrailerSize = 64
	dirEntry         = 20 // bytes of directory per block

	// maxHighWords bounds the unary part of a block. The encoder needs at most 25: it chooses a
	// width such that prefixes advance by less than two per key.
	maxHighWords = 64
)

// DirSize returns the size of the directory of a section with count values.
func DirSize(count uint64) int64 {
	return int64((count+BlockLen-1)/BlockLen)*dirEntry + frameTrailerSize
}

const (
	tagKeyRun uint32 = 'K' | 'R'<<8 | 'U'<<16 | 'N'<<24
	tagParts  uint32 = 'K' | 'R'<<8 | 'P'<<16 | 'T'<<24 // a key run in parts
	tagColumn uint32 = 'C' | 'O'<<8 | 'L'<<16 | 'M'<<24
)

// A Section is a key run or a column as stored in a file.
type Section struct {
	File, Name string // for errors

	// Body has the blocks. Its capacity must include kernel.Slack more bytes, which may be read;
	// their values do not matter.
	Body      []byte
	Offset    int64  // offset of the body in the file
	Dir       []byte // the directory
	DirOffset int64  // offset of the directory in the file
	// Top is a summary of the directory (AppendTop), which is then read page by page; or nil
	Top []byte

	Pages *pages.Table // how the file's pages are brought into memory, or nil
}

// Dir is an opened frame. The documentation says which methods read a block without verifying it.
type Dir struct {
	data []byte // the body and the readable bytes after it
	src  Section

	n       int
	blocks  int
	keys    bool // whether this is a run, not a column
	last    uint64
	size    int // size of the body
	entries []blockEntry
	lazy    *lazyDir // what has been read of the directory; nil if all of it has been
	vwidth  int      // bits per value, 0 if keys have none
	sums    int      // bytes of checksums of parts at the start of a block: sumsSize or 0

	lowBytes, highBytes int64
}

// blockEntry is the directory entry of a block, in memory. The fields are side by side, so that a
// search finds them in one or two cache lines.
type blockEntry struct {
	base uint64
	// info is the info word plus the known bits below; its offset is the offset of the unary words
	info atomic.Uint64
}

// Bits of an info word in memory that are not part of a valid width, number of unary words or
// offset. checkedBit is set once the checksums of the block and its unary part have been verified,
// orderedBit once the keys of a block are known to ascend. In a run in parts, headBit is set once
// the head of the block has been verified, and the bits from firstPartBit on, once the respective
// part has been.
const (
	checkedBit, orderedBit = 1 << 7, 1 << 15
	firstPartBit           = 1 << 56
	headBit                = firstPartBit << blockParts
	partBits               = headBit - firstPartBit
	wholeBits              = headBit | partBits
	knownBits              = checkedBit | orderedBit | 0xff<<56
)

// Info is a decoded info word.
type Info struct {
	Off   int // offset in the section of the block's unary words
	High  int // number of unary words
	Width int // bits per packed value
}

func packInfo(off int64, high, width int) uint64 {
	return uint64(off>>3)<<16 | uint64(high)<<8 | uint64(width)
}

// Info returns the info word of block b.
func (d *Dir) Info(b int) Info { return unpackInfo(d.infoWord(b)) }

func (d *Dir) infoWord(b int) uint64 { return d.entries[b].info.Load() }

func unpackInfo(w uint64) Info {
	return Info{Off: int(w >> 13 & (1<<43 - 8)), High: int(w >> 8 & 0x7f), Width: int(w & (checkedBit - 1))}
}

// Base returns the first key of block b of a run, or the least value of block b of a column.
func (d *Dir) Base(b int) uint64 { return d.entries[b].base }

// crc returns the checksum of block b in the directory.
func (d *Dir) crc(b int) uint32 { return binary.LittleEndian.Uint32(d.src.Dir[b*dirEntry+16:]) }

// Len returns the number of values.
func (d *Dir) Len() int { return d.n }

// NumBlocks returns the number of blocks.
func (d *Dir) NumBlocks() int { return d.blocks }

// Greatest returns the greatest value of the section, 0 if it is empty.
func (d *Dir) Greatest() uint64 { return d.last }

// Count returns the number of values in block b.
func (d *Dir) Count(b int) int { return min(BlockLen, d.n-b<<BlockShift) }

// packedSize returns the size in bytes of n packed values of the given width.
func packedSize(n, width int) int { return (n*width + 63) >> 6 << 3 }

// Corrupt returns the error for damage at offset at of the body.
func (d *Dir) Corrupt(at int, format string, args ...any) error {
	return base.Corruptf(d.src.File, d.src.Name, d.src.Offset+int64(at), format, args...)
}

// corruptDir returns the error for damage at offset at of the directory.
func (d *Dir) corruptDir(at int, format string, args ...any) error {
	return base.Corruptf(d.src.File, d.src.Name, d.src.DirOffset+int64(at), format, args...)
}

// openDir checks the directory of a section, which is not trusted and must have one of the tags.
func openDir(s Section, tags ...uint32) (*Dir, error) {
	d := &Dir{src: s, size: len(s.Body)}
	if cap(s.Body)-len(s.Body) < kernel.Slack {
		return nil, d.Corrupt(0, "the file ends %d bytes after the section, not %d", cap(s.Body)-len(s.Body), kernel.Slack)
	}
	d.data = s.Body[:len(s.Body)+kernel.Slack]
	if len(s.Dir) < frameTrailerSize || (len(s.Dir)-frameTrailerSize)%dirEntry != 0 {
		return nil, d.corruptDir(0, "%d bytes can't be a directory", len(s.Dir))
	}
	at := len(s.Dir) - frameTrailerSize
	t := s.Dir[at:]
	if s.Top != nil {
		t = s.Top[len(s.Top)-frameTrailerSize:]
	}
	le := binary.LittleEndian
	if got, want := kernel.CRC32C(0, t[:60]), le.Uint32(t[60:]); got != want {
		return nil, d.corruptDir(at, "trailer checksum is %08x, not %08x", got, want)
	}
	tag := le.Uint32(t)
	if !slices.Contains(tags, tag) || le.Uint64(t[52:]) != 0 {
		return nil, d.corruptDir(at, "trailer has tag %08x, not one of %08x, or reserved bits", tag, tags)
	}
	if tag == tagParts {
		d.sums = sumsSize
	}
	count, size, vwidth := le.Uint64(t[8:]), le.Uint64(t[16:]), le.Uint32(t[4:])
	d.last = le.Uint64(t[24:])
	d.lowBytes, d.highBytes = int64(le.Uint64(t[32:])), int64(le.Uint64(t[40:]))
	// The file's size bounds the number of blocks, and that bounds the count.
	d.blocks = at / dirEntry
	if count > uint64(d.blocks)<<BlockShift || d.blocks > 0 && count <= uint64(d.blocks-1)<<BlockShift {
		return nil, d.corruptDir(at, "%d values in %d blocks", count, d.blocks)
	}
	if size != uint64(d.size) || vwidth > 64 || int(vwidth) != kernel.RoundWidth(int(vwidth)) || vwidth > 0 && tag != tagKeyRun {
		return nil, d.corruptDir(at, "blocks of %d bytes, with values of %d bits, in %d bytes", size, vwidth, d.size)
	}
	d.n, d.vwidth, d.keys = int(count), int(vwidth), tag != tagColumn
	d.entries = make([]blockEntry, d.blocks)
	if s.Top != nil {
		return d, d.openPages()
	}
	if got, want := kernel.CRC32C(0, s.Dir[:at]), le.Uint32(t[48:]); got != want {
		return nil, d.corruptDir(0, "directory checksum is %08x, not %08x", got, want)
	}
	low, high, err := d.fill(0, d.blocks)
	if err == nil && (low != d.lowBytes || high != d.highBytes) {
		err = d.corruptDir(at, "%d bytes of packed and %d of unary parts, not %d and %d", low, high, d.lowBytes, d.highBytes)
	}
	return d, err
}

// corruptBase returns the error for damage in the directory's base of block b.
func (d *Dir) corruptBase(b int, format string, args ...any) error {
	return d.corruptDir(dirEntry*b, "block %d: %s", b, fmt.Sprintf(format, args...))
}

// corruptInfo returns the error for damage in the info word of block b.
func (d *Dir) corruptInfo(b int, format string, args ...any) error {
	return d.corruptDir(dirEntry*b+8, "block %d: %s", b, fmt.Sprintf(format, args...))
}

// fill reads the entries [from, end) of the directory, whose checksum has been verified. It verifies
// that their blocks follow each other and fill their part of the body, and that first keys ascend. It
// returns the sizes of their packed and of their unary parts.
func (d *Dir) fill(from, end int) (low, high int64, err error) {
	le, first, prev := binary.LittleEndian, 0, uint64(0)
	for b := from; b < end; b++ {
		e := d.src.Dir[b*dirEntry:][:16]
		base, info := le.Uint64(e), le.Uint64(e[8:])
		if b == from && from > 0 {
			first, prev = int(info>>16<<3), base // the page before, or the summary, says the same
		}
		if info&knownBits != 0 {
			return 0, 0, d.corruptInfo(b, "width %d, %d unary words", info&0xff, info>>8&0xff)
		}
		in, n := unpackInfo(info), d.Count(b)
		switch {
		case in.Off != first:
			return 0, 0, d.corruptInfo(b, "starts at %d, not %d", in.Off, first)
		case in.Width > 64 || in.Width != kernel.RoundWidth(in.Width) || in.High > maxHighWords:
			return 0, 0, d.corruptInfo(b, "width %d, %d unary words", in.Width, in.High)
		case (d.keys || in.High > 0) && 64*in.High < n:
			return 0, 0, d.corruptInfo(b, "%d unary words for %d values", in.High, n)
		case d.keys && base < prev:
			return 0, 0, d.corruptBase(b, "first key %016x is out of order", base)
		case base > d.last:
			return 0, 0, d.corruptBase(b, "%016x is beyond the greatest, %016x", base, d.last)
		}
		packed := packedSize(n, in.Width)
		low, high, prev = low+int64(packed), high+8*int64(in.High), base
		if first += d.sums + 8*in.High + packed + packedSize(n, d.vwidth); first > d.size {
			return 0, 0, d.corruptInfo(b, "reaches beyond the body of %d bytes", d.size)
		}
		if b > from || d.lazy == nil { // readPage sets the first base of a page
			d.entries[b].base = base
		}
		d.entries[b].info.Store(info + uint64(d.sums)>>3<<16)
	}
	if limit := d.pageEnd(end); first != limit {
		return 0, 0, d.corruptDir(max(end-1, 0)*dirEntry, "blocks up to %d end at %d, not %d", end, first, limit)
	}
	return low, high, nil
}

// BlockSize returns the size of block b in bytes.
func (d *Dir) BlockSize(b int) int {
	d.need(b, b+1)
	from, end := d.extent(b)
	return end - from
}

// extent returns the start and the end of block b in the body.
func (d *Dir) extent(b int) (from, end int) {
	in, n := d.Info(b), d.Count(b)
	return in.Off - d.sums, in.Off + 8*in.High + packedSize(n, in.Width) + packedSize(n, d.vwidth)
}

// checkCRC verifies the checksum of all of block b, which is read for the first time.
func (d *Dir) checkCRC(b int) error {
	from, end := d.extent(b)
	return d.checkSum(b, from, end)
}

// checkSum compares the bytes [from, end) of the body, which are read for the first time, with the
// directory's checksum of block b.
func (d *Dir) checkSum(b, from, end int) error {
	if d.src.Pages != nil {
		d.touch(b, end-from)
		// All of the block, since its keys may be compared before their checksums.
		start, last := d.extent(b)
		d.src.Pages.Need(d.src.Offset+int64(start), d.src.Offset+int64(last))
	}
	got, want := kernel.CRC32C(0, d.data[from:end]), d.crc(b)
	if got != want {
		return d.Corrupt(from, "block %d: checksum is %08x, not %08x", b, got, want)
	}
	return nil
}

// After aheadAfter blocks have been read in order, the next 2*aheadBlocks blocks are fetched, and
// again after every aheadBlocks.
const aheadAfter, aheadBlocks = 8, 64

// touch reports that size bytes of block b are about to be read for the first time. Blocks that are
// read in order do not suggest that the rest of the table will be read, too; instead, touch fetches
// the next ones.
func (d *Dir) touch(b, size int) {
	if b == 0 || !d.isSeen(b-1) {
		d.src.Pages.Touched(size)
		return
	}
	if b%aheadBlocks == aheadAfter && d.isSeen(b-aheadAfter/2) && d.isSeen(b-aheadAfter) {
		d.fetch(b, min(b+2*aheadBlocks, d.blocks))
	}
}

// Fetch starts reading the block of value i from storage, without waiting, unless the block has
// been verified. If the place of the block is not known yet, it starts reading that.
func (d *Dir) Fetch(i int) {
	if d.lazy != nil && d.wantPage(i>>(BlockShift+pageShift)) {
		return
	}
	if d.src.Pages != nil && !d.isSeen(i>>BlockShift) {
		d.fetch(i>>BlockShift, i>>BlockShift+1)
	}
}

// fetch starts reading the blocks [b, end) from storage, without waiting.
func (d *Dir) fetch(b, end int) {
	d.need(b, end)
	from, _ := d.extent(b)
	_, to := d.extent(end - 1)
	d.fetchBytes(from, to)
}

// fetchBytes starts reading the bytes [from, to) of the body from storage, without waiting.
func (d *Dir) fetchBytes(from, to int) {
	d.src.Pages.Fetch(d.src.Offset+int64(from), d.src.Offset+int64(to))
}

// isSeen reports whether block b has been verified.
func (d *Dir) isSeen(b int) bool { return d.infoWord(b)&checkedBit != 0 }

func (d *Dir) setSeen(b int) { d.entries[b].info.Or(checkedBit) }

// Unary returns the unary part of a block. It does not verify it.
func (d *Dir) Unary(in Info) []byte { return d.data[in.Off : in.Off+8*in.High] }

// From returns the body from the block's unary words on, with kernel.Slack bytes after it. It does
// not verify the block.
func (d *Dir) From(in Info) []byte { return d.data[in.Off:] }

// PrefetchBlock prefetches all of block b.
func (d *Dir) PrefetchBlock(b int) {
	from, end := d.extent(b)
	kernel.Prefetch(d.data[from:end])
}

// PrefetchUnary prefetches the given bit of a unary part.
func (d *Dir) PrefetchUnary(in Info, bit int) { kernel.Prefetch(d.data[in.Off+bit>>3:][:1]) }

// Packed returns the body from the block's packed values on, with kernel.Slack bytes after it. It
// does not verify the block.
func (d *Dir) Packed(in Info) []byte { return d.data[in.Off+8*in.High:] }

// values is Packed for the values of the keys of block b.
func (d *Dir) values(b int, in Info) []byte {
	return d.data[in.Off+8*in.High+packedSize(d.Count(b), in.Width):]
}

// Stats has the sizes of the parts of a key run or a column.
type Stats struct {
	Values    int   // number of keys or values
	Blocks    int   // number of blocks of up to 512 values
	Bytes     int64 // size of body and directory
	Low       int64 // bytes of packed keys, or of the values of a column
	High      int64 // bytes of unary prefixes
	Paired    int64 // bytes of the values of keys
	Directory int64 // bytes of first keys, info words and trailer
	Checksums int64 // bytes of the checksums of blocks and their parts
}

// BitsPerValue returns the total number of bits per value, 0 if there are no values.
func (s Stats) BitsPerValue() float64 {
	if s.Values == 0 {
		return 0
	}
	return float64(s.Bytes) * 8 / float64(s.Values)
}

// Stats returns the section's sizes.
func (d *Dir) Stats() Stats {
	s := Stats{
		Values: d.n, Blocks: d.blocks, Bytes: int64(len(d.src.Body) + len(d.src.Dir)), Low: d.lowBytes, High: d.highBytes,
		Directory: 16*int64(d.blocks) + frameTrailerSize, Checksums: int64(4+d.sums) * int64(d.blocks),
	}
	s.Paired = int64(len(d.src.Body)) - s.Low - s.High - int64(d.sums)*int64(d.blocks)
	return s
}

// frameWriter assembles the directory of a section while its blocks are encoded.
type frameWriter struct {
	tag    uint32
	vwidth int
	bases  []uint64
	infos  []uint64
	crcs   []uint32
	bytes  int64 // size of the blocks so far

	low, high int64
}

// addBlock adds the entry of an encoded block, with high words of unary code, low bytes of packed
// keys, and values. In a run in parts it fills in the checksums at the start of the block.
func (f *frameWriter) addBlock(block []byte, base uint64, high, low, width int) {
	summed := block
	if f.tag == tagParts {
		head := sumsSize + 8*high
		putSums(block[:sumsSize], block[head:], width)
		summed = block[:head]
	}
	f.bases = append(f.bases, base)
	f.infos = append(f.infos, packInfo(f.bytes, high, width))
	f.crcs = append(f.crcs, kernel.CRC32C(0, summed))
	f.bytes += int64(len(block))
	f.high += int64(8 * high)
	f.low += int64(low)
}

// directory returns the directory of count values. last is the greatest value.
func (f *frameWriter) directory(count, last uint64) []byte {
	le := binary.LittleEndian
	dst := make([]byte, 0, dirEntry*len(f.bases)+frameTrailerSize)
	for b, base := range f.bases {
		dst = le.AppendUint64(dst, base)
		dst = le.AppendUint64(dst, f.infos[b])
		dst = le.AppendUint32(dst, f.crcs[b])
	}
	dirCRC := kernel.CRC32C(0, dst)
	start := len(dst)
	dst = le.AppendUint32(dst, f.tag)
	dst = le.AppendUint32(dst, uint32(f.vwidth))
	for _, v := range []uint64{count, uint64(f.bytes), last, uint64(f.low), uint64(f.high)} {
		dst = le.AppendUint64(dst, v)
	}
	dst = le.AppendUint32(dst, dirCRC)
	dst = le.AppendUint64(dst, 0)
	return le.AppendUint32(dst, kernel.CRC32C(0, dst[start:]))
}

// appendPacked appends values in the packed form of a block.
func appendPacked(dst []byte, values []uint64, width int) []byte {
	return kernel.AppendPacked(dst, values, width)
}

// Shared returns how many leading bits all keys of the blocks [b, end) have in common, and in how
// many of these bits q differs.
func (d *Dir) Shared(b, end int, q uint64) (lead, off int) {
	first, limit := d.Base(b), d.last
	if end < d.blocks {
		limit = d.Base(end)
	}
	lead = bits.LeadingZeros64(first ^ limit)
	return lead, bits.OnesCount64((first ^ q) &^ (^uint64(0) >> uint(lead)))
}

// FarBlocks returns a number of blocks from b on, 256, 16 or 0, whose common leading bits differ
// from q in more than k bits.
func (d *Dir) FarBlocks(b int, q uint64, k int) int {
	for n := 256; n > 1 && b%16 == 0; n /= 16 {
		if b%n == 0 && b+n <= d.blocks {
			if _, off := d.Shared(b, b+n, q); off > k {
				return n
			}
		}
	}
	return 0
}
