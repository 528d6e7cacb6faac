package blobs

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/pages"
)

// A Kind defines how lists of one kind are split into blocks, and which strings they may have. It
// is part of the format.
type Kind struct {
	Section string // the section of the directory, for errors
	Name    string // what a string represents, for errors
	Shift   uint8  // a block has 1<<Shift strings, at most 128; the last one has the rest
	Least   int    // minimum length of a string
	Most    int    // maximum length of a string, at most 1<<20
}

// The kinds of lists.
var (
	IDs      = &Kind{Section: "names", Name: "ID", Shift: 7, Least: 1, Most: 1<<16 - 1}
	Sketches = &Kind{Section: "sketches", Name: "sketch", Shift: 4, Most: 1 << 18}
	Values   = &Kind{Section: "values", Name: "value", Shift: 6, Most: jsonfield.MostKey}
)

// A block of a list with c strings:
//
//	+-----------------------------------+------------------------------+
//	| ends of strings, all but the last | strings, one after the other |
//	|      ceil((c-1) * width / 8)      |                              |
//	+-----------------------------------+------------------------------+
//
// The end of string i is close to where it would be if all strings had the same length. Only the
// difference is stored, so that ends cost 3 bits per ID of up to 7 digits, and nothing if all
// strings have the same length. total is the size of all strings. String i of 0..c-1 ends where
// string i+1 starts:
//
//	start of 0 = 0;  start of c = total
//	start of i = floor(i*total/c) - floor(low * 2^width / 256) + v[i]
//
// v[1] to v[c-1] are packed with width bits each, from the lowest bit of the first byte on. Starts
// are relative to the first string and must not descend. The directory has an entry for each block:
//
//	+------------------------+-------+-----+--------+----------------------------------+
//	| offset in the area   6 | width | low | length | CRC32C of the block and of these |
//	|                        |   1   |  1  |   4    |                4                 |
//	+------------------------+-------+-----+--------+----------------------------------+
//
// A block whose strings are all empty has length 0. A list whose strings are all empty has neither
// blocks nor directory.
const (
	// ListEntry is the size in bytes of a directory entry of a list.
	ListEntry = 16

	maxListStrings = 1 << 7 // maximum number of strings in a block

	maxWidth = 28 // so that two packed values fit in 64 bits from the first one's first byte
	// maxListBlock bounds the size of a block, so that the sum of any two positions fits in 32
	// bits.
	maxListBlock = 1 << 30
)

func packedBytes(n, width int) int { return (n*width + 7) >> 3 }

// List reads strings by number.
type List struct {
	kind    *Kind
	file    string
	n       uint32 // number of strings
	dir     Bytes  // empty if all strings are empty
	area    Bytes
	shift   uint8           // Kind.Shift, at most 31
	full    int             // number of blocks with 1<<shift strings
	checked []atomic.Uint32 // bit set of the verified blocks
	pages   *pages.Table    // how the file's pages are brought into memory, or nil
}

// SetPages sets how the pages of the file are brought into memory. It must be called first.
func (l *List) SetPages(p *pages.Table) { l.pages = p }

// OpenList opens a list of n strings. It checks the size of the directory; entries are verified
// with their blocks. An empty directory means that all strings are empty.
func OpenList(k *Kind, file string, n uint32, dir, area Bytes) (*List, error) {
	blocks := (int64(n) + 1<<k.Shift - 1) >> k.Shift
	if len(dir.Data) == 0 && k.Least == 0 {
		blocks = 0
	}
	if int64(len(dir.Data)) != blocks*ListEntry {
		return nil, base.Corruptf(file, k.Section, dir.Offset, "%d bytes for %d blocks", len(dir.Data), blocks)
	}
	l := &List{kind: k, file: file, n: n, dir: dir, area: area, shift: k.Shift & 31, full: int(n >> k.Shift)}
	if blocks > 0 {
		l.checked = make([]atomic.Uint32, (blocks+31)/32)
	}
	return l, nil
}

// NumBlocks returns the number of blocks, 0 if all strings are empty.
func (l *List) NumBlocks() int { return len(l.dir.Data) / ListEntry }

// Extent returns the position of block b in the area, from the directory, unverified.
func (l *List) Extent(b int) (off, length uint64) {
	l.dir.Need(b*ListEntry, (b+1)*ListEntry)
	e := l.dir.Data[b*ListEntry:][:12]
	return binary.LittleEndian.Uint64(e) & maxOffset, uint64(binary.LittleEndian.Uint32(e[8:]))
}

// Size returns the size of all blocks, from the directory, unverified.
func (l *List) Size() (n int64) {
	for b := range l.NumBlocks() {
		_, length := l.Extent(b)
		n += int64(length)
	}
	return n
}

// blockOf returns the block of string i, and the index of the string in it.
func (l *List) blockOf(i uint32) (b, at int) {
	return int(i >> (l.shift & 31)), int(i & (1<<(l.shift&31) - 1))
}

// First reports whether string i is the first of its block, and returns the block.
func (l *List) First(i uint32) (b int, first bool) {
	b, at := l.blockOf(i)
	return b, at == 0
}

// BlockOf returns the block of string i, and the strings [first, end) of that block.
func (l *List) BlockOf(i uint32) (b int, first, end uint32) {
	b, at := l.blockOf(i)
	first = i - uint32(at)
	return b, first, first + uint32(l.count(b))
}

// count returns the number of strings in block b.
func (l *List) count(b int) int {
	return int(min(1<<(l.shift&31), l.n-uint32(b)<<(l.shift&31)))
}

// Get returns string i, which must exist. It aliases the table.
func (l *List) Get(i uint32) ([]byte, error) {
	b, at := l.blockOf(i)
	if b>>5 >= len(l.checked) {
		return nil, nil // all strings are empty
	}
	if l.checked[b>>5].Load()>>(b&31)&1 == 0 {
		if err := l.Check(b); err != nil {
			return nil, err
		}
	}
	e := l.dir.Data[b*ListEntry:][:ListEntry]
	head, length := binary.LittleEndian.Uint64(e), uint64(binary.LittleEndian.Uint32(e[8:]))
	off, width := head&maxOffset, head>>48&31
	low := head >> 56 << width >> 8
	if b >= l.full {
		return l.getLast(i, off, length, width, low), nil
	}
	shift := l.shift & 31
	last := uint64(1)<<shift - 1
	first := off + (last*width+7)>>3
	total := off + length - first
	bit := max(uint64(at), 1)*width - width // v[0] is not stored, v[1] is at bit 0
	v, mask := l.load(off+bit>>3)>>(bit&7), uint64(1)<<width-1
	line := uint64(at) * total
	from, to := first, off+length
	if at > 0 {
		from += line>>shift - low + v&mask
		v >>= width
	}
	if uint64(at) < last {
		to = first + (line+total)>>shift - low + v&mask
	}
	return l.area.Data[from:to:to], nil
}

// getLast is the rest of Get for the last block, if it has fewer strings than the others.
func (l *List) getLast(i uint32, off, length, width, low uint64) []byte {
	count := uint64(l.n & (1<<(l.shift&31) - 1))
	at := uint64(i & (1<<(l.shift&31) - 1))
	first := off + ((count-1)*width+7)>>3
	total := off + length - first
	start := func(i uint64) uint64 {
		switch i {
		case 0:
			return first
		case count:
			return first + total
		}
		bit := (i - 1) * width
		return first + i*total/count - low + l.load(off+bit>>3)>>(bit&7)&(1<<width-1)
	}
	from, to := start(at), start(at+1)
	return l.area.Data[from:to:to]
}

// load returns the 8 bytes of the area from pos on, pos <= len, with zeros for bytes beyond its
// end.
func (l *List) load(pos uint64) uint64 {
	b := l.area.Data[pos:]
	if len(b) < 8 {
		return loadEnd(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// loadEnd is load of the rest of an area, b, which is shorter than 8 bytes.
func loadEnd(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

// PrefetchEntry prefetches the directory entry of string i. l may be nil.
func (l *List) PrefetchEntry(i uint32) {
	if l == nil {
		return
	}
	if b := i >> (l.shift & 31); b < uint32(l.NumBlocks()) {
		kernel.Prefetch(l.dir.Data[b*ListEntry:][:1])
	}
}

// Prefetch prefetches the end and the bytes of string i, which must exist. It assumes the position
// that they would have if all strings of the block had the same length. l may be nil.
func (l *List) Prefetch(i uint32) {
	if l == nil || len(l.dir.Data) == 0 || l.pages.IsRemote() {
		return
	}
	b, at := l.blockOf(i)
	e := l.dir.Data[b*ListEntry:][:ListEntry]
	head, length := binary.LittleEndian.Uint64(e), uint64(binary.LittleEndian.Uint32(e[8:]))
	off, width := head&maxOffset, head>>48&31
	shift := l.shift & 31
	packed := (uint64(l.count(b)-1)*width + 7) >> 3
	if size := uint64(len(l.area.Data)); off > size || length > size-off || length <= packed {
		return // empty, or damaged, which Get will report
	}
	block := l.area.Data[off : off+length]
	kernel.Prefetch(block[uint64(at)*packed>>shift:][:1])
	// in the last block this position is too low, which is rare enough
	total := length - packed
	block = block[packed+uint64(at)*total>>shift:]
	kernel.Prefetch(block[:min(total>>shift, uint64(len(block)))])
}

// HasToFetch reports whether strings should be passed to Fetch before they are read. l may be nil.
func (l *List) HasToFetch() bool { return l != nil && l.pages.Random() != nil }

// Fetch starts reading the blocks of strings, which must exist, from storage. It assumes that
// verified blocks are still in memory. l may be nil.
func (l *List) Fetch(strings []uint32) {
	if !l.HasToFetch() || len(l.dir.Data) == 0 || len(strings) < 2 && !l.pages.IsRemote() {
		return
	}
	if l.pages.IsRemote() { // entries tell where blocks are
		for _, i := range strings {
			if b, _ := l.blockOf(i); !l.isChecked(b) {
				l.pages.Fetch(l.dir.Offset+int64(max(b-1, 0))*ListEntry, l.dir.Offset+int64(b+1)*ListEntry)
			}
		}
	}
	last := -1
	for _, i := range strings {
		b, _ := l.blockOf(i)
		if b == last || l.isChecked(b) {
			continue
		}
		last = b
		if off, length := l.Extent(b); off <= uint64(len(l.area.Data)) && length <= uint64(len(l.area.Data))-off {
			l.pages.Fetch(l.area.Offset+int64(off), l.area.Offset+int64(off+length))
		}
	}
}

// Load brings the block of string i, which must exist, into memory by p, unless it has been
// verified.
func (l *List) Load(i uint32, p *pages.Table) {
	b, _ := l.blockOf(i)
	if b>>5 >= len(l.checked) || l.isChecked(b) {
		return
	}
	if off, length := l.Extent(b); off <= uint64(len(l.area.Data)) && length <= uint64(len(l.area.Data))-off {
		p.Load(l.area.Offset+int64(off), l.area.Offset+int64(off+length))
	}
}

// Check verifies block b, and records success: the block must be in the area after the previous
// block, its checksum must be right, and its ends must ascend to its last byte.
func (l *List) Check(b int) error {
	var ends [maxListStrings]uint32
	return l.check(b, &ends)
}

// check is Check, and sets ends to the ends of the block's strings.
func (l *List) check(b int, ends *[maxListStrings]uint32) error {
	block, err := l.checkExtent(b)
	if err == nil {
		err = l.checkBlock(b, block, ends)
	}
	if err == nil {
		l.setChecked(b)
	}
	return err
}

// checkExtent verifies that block b is in the area after the previous block, and returns its bytes.
func (l *List) checkExtent(b int) ([]byte, error) {
	l.dir.Need(max(b-1, 0)*ListEntry, (b+1)*ListEntry)
	off, length := l.Extent(b)
	inDir := func(format string, args ...any) error {
		return base.Corruptf(l.file, l.kind.Section, l.dir.Offset+int64(b*ListEntry), format, args...)
	}
	width, packed := l.packed(b)
	if off > uint64(len(l.area.Data)) || length > uint64(len(l.area.Data))-off || length > maxListBlock || width > maxWidth ||
		length < uint64(packed+l.kind.Least*l.count(b)) {
		return nil, inDir("block of %d bytes at %d of %d, ends of %d bits", length, off, len(l.area.Data), width)
	}
	if b > 0 { // overlapping blocks could cause unlimited work for a small file
		if prev, size := l.Extent(b - 1); prev > off || size > off-prev {
			return nil, inDir("block at %d overlaps the one before it, %d bytes at %d", off, size, prev)
		}
	}
	if l.pages != nil {
		l.readAhead(b)
	}
	l.area.Need(int(off), int(off+length))
	return l.area.Data[off : off+length], nil
}

func (l *List) setChecked(b int) { l.checked[b>>5].Or(1 << (b & 31)) }

// isChecked reports whether block b has been verified.
func (l *List) isChecked(b int) bool { return l.checked[b>>5].Load()>>(b&31)&1 != 0 }

// After aheadAfter blocks have been verified in order, the next 2*aheadBlocks blocks are fetched,
// with their entries, and again after every aheadBlocks.
const aheadAfter, aheadBlocks = 8, 128

// readAhead fetches the blocks after block b if those before it have been verified.
func (l *List) readAhead(b int) {
	if b%aheadBlocks != aheadAfter || !l.isChecked(b-1) || !l.isChecked(b-aheadAfter/2) || !l.isChecked(b-aheadAfter) {
		return
	}
	end := min(b+2*aheadBlocks, l.NumBlocks())
	l.pages.Fetch(l.dir.Offset+int64(b)*ListEntry, l.dir.Offset+int64(end)*ListEntry)
	from, _ := l.Extent(b)
	to, length := l.Extent(end - 1) // unchecked
	if size := uint64(len(l.area.Data)); from < to && to <= size && length <= size-to {
		l.pages.Fetch(l.area.Offset+int64(from), l.area.Offset+int64(to+length))
	}
}

// packed returns the width of the packed values of block b, and their total size, unverified.
func (l *List) packed(b int) (width, bytes int) {
	width = int(l.dir.Data[b*ListEntry+6])
	return width, packedBytes(l.count(b)-1, width)
}

// checkBlock verifies the checksum and the ends of block b, and sets ends.
func (l *List) checkBlock(b int, block []byte, ends *[maxListStrings]uint32) error {
	if err := l.checkSum(b, block); err != nil {
		return err
	}
	return l.checkEnds(b, ends)
}

// checkEnds verifies the ends of block b, and sets ends.
func (l *List) checkEnds(b int, ends *[maxListStrings]uint32) error {
	l.decode(b, ends)
	prev, least, span := uint32(0), uint32(l.kind.Least), uint32(l.kind.Most-l.kind.Least)
	for i, end := range ends[:l.count(b)] {
		// a size below the minimum, or below 0, wraps around; the last end is the end of the block
		if end-prev-least > span {
			return l.corrupt(b, "%s %d of block %d ends at %d, after one that ends at %d", l.kind.Name, i, b, int32(end), int32(prev))
		}
		prev = end
	}
	return nil
}

// checkSum verifies the checksum of block b.
func (l *List) checkSum(b int, block []byte) error {
	entry := l.dir.Data[b*ListEntry:][:ListEntry]
	if sumEntry(kernel.CRC32C(0, block), entry) != binary.LittleEndian.Uint32(entry[ListEntry-4:]) {
		return l.corrupt(b, "wrong checksum of block %d", b)
	}
	return nil
}

// decode sets ends to the ends of the strings of block b, whose extent and width have been checked.
func (l *List) decode(b int, ends *[maxListStrings]uint32) {
	off, length := l.Extent(b)
	width, packed := l.packed(b)
	count, total := l.count(b), length-uint64(packed)
	low := uint32(uint64(l.dir.Data[b*ListEntry+7]) << (width & 63) >> 8)
	src := l.area.Data[off:]
	if len(src) < packed+8 {
		var padded [(maxListStrings*maxWidth)/8 + 8]byte
		copy(padded[:], src)
		src = padded[:]
	}
	bit, mask := 0, uint64(1)<<(width&63)-1
	if count == 1<<(l.shift&31) {
		line, shift := total, l.shift&31
		for i := range ends[:count-1] {
			v := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask
			ends[i] = uint32(line>>shift) - low + uint32(v)
			bit, line = bit+width, line+total
		}
	} else {
		for i := range ends[:count-1] {
			v := binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask
			ends[i] = uint32(uint64(i+1)*total/uint64(count)) - low + uint32(v)
			bit += width
		}
	}
	ends[count-1] = uint32(total)
}

// corrupt returns the error for damage in block b.
func (l *List) corrupt(b int, format string, args ...any) error {
	off, _ := l.Extent(b)
	return base.Corruptf(l.file, l.kind.Section, l.area.Offset+int64(off), format, args...)
}

// Corrupt returns the error for string i if its content turns out to be invalid.
func (l *List) Corrupt(i uint32, format string, args ...any) error {
	b, _ := l.blockOf(i)
	return l.corrupt(b, format, args...)
}
