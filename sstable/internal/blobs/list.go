package blobs

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// A Kind says how the lists of one kind are cut into blocks, and what their strings may be. It is
// part of the format.
type Kind struct {
	Section string // the section of the directory, for errors
	Name    string // what a string is, for errors
	Shift   uint8  // a block has 1<<Shift strings, the last block those that remain
	Least   int    // bytes of a string
	Most    int    // bytes of a string
}

// The kinds of lists.
var (
	IDs      = &Kind{Section: "names", Name: "ID", Shift: 7, Least: 1, Most: 1<<16 - 1}
	Sketches = &Kind{Section: "sketches", Name: "sketch", Shift: 4, Most: math.MaxInt}
)

// A block of a list:
//
//	+----------------------------+----------------------------------+
//	| end of each string  2 or 4 | strings, one after the other     |
//	+----------------------------+----------------------------------+
//
// Ends count from the first string; they take 4 bytes each if the strings of the block have more
// than 65,535 bytes together, which its length tells. The directory has an entry a block:
//
//	+------------------------+--------+---------------------+
//	| offset in the area   8 | length | CRC32C of the block |
//	|                        |   4    |          4          |
//	+------------------------+--------+---------------------+
const (
	// ListEntry is the size in bytes of a directory entry of a list.
	ListEntry = 16
	// bytes of blocks that are written side by side, so that they share few pages with texts
	listChunk = 256 << 10
)

// isWide reports whether ends of strings with n bytes together take 4 bytes.
func isWide(n int) bool { return n > 1<<16-1 }

// ListWriter collects the blocks of a list.
type ListWriter struct {
	kind    *Kind
	ends    []uint32 // of the block being filled
	strings []byte   // of the block being filled
	chunk   []byte   // full blocks that are not written
	dir     []byte   // entries; those of the chunk count from its start
	moved   int      // bytes of entries whose offset is final
}

// NewListWriter returns a writer of a list.
func NewListWriter(k *Kind) *ListWriter { return &ListWriter{kind: k} }

// Add appends a string and reports whether the chunk should be flushed.
func (w *ListWriter) Add(b []byte) (full bool) {
	w.strings = append(w.strings, b...)
	w.ends = append(w.ends, uint32(len(w.strings)))
	if len(w.ends) == 1<<w.kind.Shift {
		w.EndBlock()
	}
	return len(w.chunk) >= listChunk
}

// EndBlock moves the strings since the last block to the chunk.
func (w *ListWriter) EndBlock() {
	if len(w.ends) == 0 {
		return
	}
	start := len(w.chunk)
	for _, end := range w.ends {
		if isWide(len(w.strings)) {
			w.chunk = binary.LittleEndian.AppendUint32(w.chunk, end)
		} else {
			w.chunk = binary.LittleEndian.AppendUint16(w.chunk, uint16(end))
		}
	}
	w.chunk = append(w.chunk, w.strings...)
	block := w.chunk[start:]
	w.dir = binary.LittleEndian.AppendUint64(w.dir, uint64(start))
	w.dir = binary.LittleEndian.AppendUint32(w.dir, uint32(len(block)))
	w.dir = binary.LittleEndian.AppendUint32(w.dir, crc.Sum(block))
	w.ends, w.strings = w.ends[:0], w.strings[:0]
}

// Flush returns the chunk, which is about to be written at offset of the area, and starts another.
// The returned slice is valid until the next Add.
func (w *ListWriter) Flush(offset int64) []byte {
	for ; w.moved < len(w.dir); w.moved += ListEntry {
		at := w.dir[w.moved:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(offset))
	}
	chunk := w.chunk
	w.chunk = w.chunk[:0]
	return chunk
}

// Directory returns the entries of all blocks, final once everything has been flushed.
func (w *ListWriter) Directory() []byte { return w.dir }

// NumBlocks returns the number of blocks that have ended.
func (w *ListWriter) NumBlocks() int { return len(w.dir) / ListEntry }

// List reads strings by document number.
type List struct {
	kind    *Kind
	file    string
	n       uint32 // strings
	dir     Bytes
	area    Bytes
	shift   uint8           // Kind.Shift, at most 31
	checked []atomic.Uint32 // a bit a block whose checksum and ends are right
}

// OpenList opens a list of n strings. It checks that the directory has the right size; its entries
// are checked with their blocks.
func OpenList(k *Kind, file string, n uint32, dir, area Bytes) (*List, error) {
	blocks := (int64(n) + 1<<k.Shift - 1) >> k.Shift
	if int64(len(dir.Data)) != blocks*ListEntry {
		return nil, base.Corruptf(file, k.Section, dir.Offset, "%d bytes for %d blocks", len(dir.Data), blocks)
	}
	return &List{
		kind: k, file: file, n: n, dir: dir, area: area, shift: k.Shift & 31, checked: make([]atomic.Uint32, (blocks+31)/32),
	}, nil
}

// NumBlocks returns the number of blocks.
func (l *List) NumBlocks() int { return len(l.dir.Data) / ListEntry }

// Extent returns where the directory says that block b is in the area, unchecked.
func (l *List) Extent(b int) (off, length uint64) {
	e := l.dir.Data[b*ListEntry:][:12]
	return binary.LittleEndian.Uint64(e), uint64(binary.LittleEndian.Uint32(e[8:]))
}

// Size returns the bytes of all blocks, as the directory says, unchecked.
func (l *List) Size() (n int64) {
	for b := range l.NumBlocks() {
		_, length := l.Extent(b)
		n += int64(length)
	}
	return n
}

// blockOf returns the block of string i, and which of its strings that is.
func (l *List) blockOf(i uint32) (b, at int) {
	return int(i >> (l.shift & 31)), int(i & (1<<(l.shift&31) - 1))
}

// First reports whether string i is the first of its block, and returns the block.
func (l *List) First(i uint32) (b int, first bool) {
	b, at := l.blockOf(i)
	return b, at == 0
}

// count returns the number of strings in block b.
func (l *List) count(b int) int {
	return int(min(1<<(l.shift&31), l.n-uint32(b)<<(l.shift&31)))
}

// Get returns string i, which must exist. It aliases the table.
func (l *List) Get(i uint32) ([]byte, error) {
	b, at := l.blockOf(i)
	if l.checked[b>>5].Load()>>(b&31)&1 == 0 {
		if err := l.Check(b); err != nil {
			return nil, err
		}
	}
	off, length := l.Extent(b)
	block := l.area.Data[off : off+length]
	count := l.count(b)
	var from, to uint32
	if !isWide(len(block) - 2*count) {
		if at > 0 {
			from = uint32(binary.LittleEndian.Uint16(block[2*at-2:]))
		}
		to = uint32(binary.LittleEndian.Uint16(block[2*at:]))
		block = block[2*count:]
	} else {
		if at > 0 {
			from = binary.LittleEndian.Uint32(block[4*at-4:])
		}
		to = binary.LittleEndian.Uint32(block[4*at:])
		block = block[4*count:]
	}
	return block[from:to:to], nil
}

// PrefetchEntry prefetches the directory entry of string i. It may be called on nil.
func (l *List) PrefetchEntry(i uint32) {
	if l != nil {
		kernel.Prefetch(l.dir.Data[i>>(l.shift&31)*ListEntry:][:1])
	}
}

// Prefetch prefetches the end and the bytes of string i, which must exist, where they would be if
// all strings of its block had one length. It may be called on nil.
func (l *List) Prefetch(i uint32) {
	if l == nil {
		return
	}
	b, at := l.blockOf(i)
	off, length := l.Extent(b)
	count := l.count(b)
	if off > uint64(len(l.area.Data)) || length > uint64(len(l.area.Data))-off || length < uint64(2*count) {
		return // Get will report it
	}
	block := l.area.Data[off : off+length]
	ends := 2 * count
	if isWide(len(block) - ends) {
		ends = 4 * count
	}
	size := (len(block) - ends) / count
	kernel.Prefetch(block[ends*at/count:][:1])
	kernel.Prefetch(block[ends+(len(block)-ends)*at/count:][:size])
}

// Check verifies block b, unless it has been verified before, and remembers if it is good: it lies
// in the area behind the block before it, its checksum is right, and its ends ascend to its last
// byte.
func (l *List) Check(b int) error {
	off, length := l.Extent(b)
	count := l.count(b)
	inDir := func(format string, args ...any) error {
		return base.Corruptf(l.file, l.kind.Section, l.dir.Offset+int64(b*ListEntry), format, args...)
	}
	if off > uint64(len(l.area.Data)) || length > uint64(len(l.area.Data))-off || length < uint64((2+l.kind.Least)*count) {
		return inDir("block of %d bytes at %d of %d", length, off, len(l.area.Data))
	}
	if b > 0 { // overlapping blocks could make the work for a small file unlimited
		if prev, size := l.Extent(b - 1); prev > off || size > off-prev {
			return inDir("block at %d overlaps the one before it, %d bytes at %d", off, size, prev)
		}
	}
	if err := l.checkBlock(b, l.area.Data[off:off+length], count); err != nil {
		return err
	}
	l.checked[b>>5].Or(1 << (b & 31))
	return nil
}

// checkBlock verifies checksum and ends of block b, which has count strings.
func (l *List) checkBlock(b int, block []byte, count int) error {
	if crc.Sum(block) != binary.LittleEndian.Uint32(l.dir.Data[b*ListEntry+12:]) {
		return l.corrupt(b, "wrong checksum of block %d", b)
	}
	wide := isWide(len(block) - 2*count)
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
		if end-prev < l.kind.Least || end-prev > l.kind.Most || end > size {
			return l.corrupt(b, "%s %d of block %d ends at %d, after one that ends at %d of %d", l.kind.Name, i, b, end, prev, size)
		}
		prev = end
	}
	if prev != size {
		return l.corrupt(b, "block %d ends at %d of %d", b, prev, size)
	}
	return nil
}

// corrupt is the error for damage in block b.
func (l *List) corrupt(b int, format string, args ...any) error {
	off, _ := l.Extent(b)
	return base.Corruptf(l.file, l.kind.Section, l.area.Offset+int64(off), format, args...)
}

// Corrupt is the error for string i, if its bytes turn out not to be what they should be.
func (l *List) Corrupt(i uint32, format string, args ...any) error {
	b, _ := l.blockOf(i)
	return l.corrupt(b, format, args...)
}
