package sketchidx

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/minhash"
)

// KindBitmaps has the bitmap of each document of a segment, stored so that they can be scanned in
// place, and a checksum for each block of 64 bitmaps; the last block may
// have fewer:
//
//	+-------------+ ... +-------------+---------------------+ ... +---------------------+
//	| bitmap   32 |     | bitmap   32 | CRC32C of block 0 4 |     | CRC32C of block B 4 |
//	+-------------+ ... +-------------+---------------------+ ... +---------------------+
//
// Bit i of a bitmap is bit i%64 of its 64-bit word i/64. The bitmap is that of the sketch
// (minhash.Bitmap), or with Params.Odd the odd sketch of the document's set of features
// (oddsketch.Sketch). If no document of the segment has a
// sketch, for example because there are fingerprints and no texts, all bitmaps are zero, and the
// section is empty.
const (
	bitmapSize   = 32
	bitmapsShift = 6
	bitmapsBlock = 1 << bitmapsShift // bitmaps per checksum
)

func appendBitmap(dst []byte, b *minhash.Bitmap) []byte {
	for _, w := range b {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

func appendBitmapSums(dst, stored []byte) []byte {
	for len(stored) > 0 {
		n := min(len(stored), bitmapsBlock*bitmapSize)
		dst = binary.LittleEndian.AppendUint32(dst, kernel.CRC32C(0, stored[:n]))
		stored = stored[n:]
	}
	return dst
}

// bitmaps reads the bitmaps of one segment, which are numbered from 0.
type bitmaps struct {
	file, section string
	off           int64 // of the section in the file
	all           blobs.Bytes
	n             int
	zero          bool // all bitmaps are zero and not stored
	data          []byte
	sums          []byte
	direct        []minhash.Bitmap // data, if the processor can read it in place; else nil
	checked       []atomic.Uint64  // bit set of the verified blocks
}

// openBitmaps checks that the section has the right size for n documents.
func openBitmaps(all blobs.Bytes, n uint32, file, section string) (*bitmaps, error) {
	data, off := all.Data, all.Offset
	if n > 0 && len(data) == 0 {
		return &bitmaps{file: file, section: section, off: off, n: int(n), zero: true}, nil
	}
	blocks := (int64(n) + bitmapsBlock - 1) / bitmapsBlock
	if int64(len(data)) != int64(n)*bitmapSize+4*blocks {
		return nil, base.Corruptf(file, section, off, "%d bytes for %d bitmaps", len(data), n)
	}
	b := &bitmaps{file: file, section: section, off: off, all: all, n: int(n), checked: make([]atomic.Uint64, (blocks+63)/64)}
	b.data, b.sums = data[:int64(n)*bitmapSize], data[int64(n)*bitmapSize:]
	p := unsafe.Pointer(unsafe.SliceData(b.data))
	if littleEndian && n > 0 && uintptr(p)%unsafe.Alignof(uint64(0)) == 0 {
		b.direct = unsafe.Slice((*minhash.Bitmap)(p), n)
	}
	return b, nil
}

// littleEndian says whether integers have the same byte order in memory and in files.
var littleEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()

func (b *bitmaps) len() int { return b.n }

// numBlocks returns the number of stored blocks.
func (b *bitmaps) numBlocks() int { return len(b.sums) / 4 }

// block verifies block i and returns its bitmaps. It copies them to buf if they cannot be read in
// place.
func (b *bitmaps) block(i int, buf *[bitmapsBlock]minhash.Bitmap) ([]minhash.Bitmap, error) {
	from := i << bitmapsShift
	n := min(bitmapsBlock, b.len()-from)
	if b.zero {
		clear(buf[:n])
		return buf[:n], nil
	}
	if b.checked[i>>6].Load()>>(i&63)&1 == 0 {
		if err := b.check(i); err != nil {
			return nil, err
		}
	}
	if b.direct != nil {
		return b.direct[from : from+n], nil
	}
	for j := range n {
		for w := range buf[j] {
			buf[j][w] = binary.LittleEndian.Uint64(b.data[(from+j)*bitmapSize+8*w:])
		}
	}
	return buf[:n], nil
}

// get sets to to bitmap i.
func (b *bitmaps) get(i int, to *minhash.Bitmap) error {
	if block := i >> bitmapsShift; b.checked[block>>6].Load()>>(block&63)&1 == 0 {
		if err := b.check(block); err != nil {
			return err
		}
	}
	stored := (*[bitmapSize]byte)(b.data[i*bitmapSize:])
	for w := range to {
		to[w] = binary.LittleEndian.Uint64(stored[8*w:])
	}
	return nil
}

// at returns bitmap i as a slice to prefetch. Its block may be unverified.
func (b *bitmaps) at(i int) []byte { return b.data[i*bitmapSize:][:bitmapSize] }

// corrupt returns the error for bitmap i.
func (b *bitmaps) corrupt(i int, format string, args ...any) error {
	return base.Corruptf(b.file, b.section, b.off+int64(i)*bitmapSize, format, args...)
}

// fetch starts reading the bitmaps of documents that have not been verified, of a file on a server.
func (b *bitmaps) fetch(docs []uint32) {
	if !b.all.Pages.IsRemote() {
		return
	}
	for _, doc := range docs {
		if block := int(doc >> bitmapsShift); b.checked[block>>6].Load()>>(block&63)&1 == 0 {
			b.all.Fetch(len(b.data)+4*block, len(b.data)+4*block+4)
			b.all.Fetch(block*bitmapsBlock*bitmapSize, min((block+1)*bitmapsBlock*bitmapSize, len(b.data)))
		}
	}
}

// check verifies block i and records success.
func (b *bitmaps) check(i int) error {
	from := i * bitmapsBlock * bitmapSize
	block := b.data[from:min(from+bitmapsBlock*bitmapSize, len(b.data))]
	b.all.Need(len(b.data)+4*i, len(b.data)+4*i+4)
	b.all.Need(from, from+len(block))
	if kernel.CRC32C(0, block) != binary.LittleEndian.Uint32(b.sums[4*i:]) {
		return base.Corruptf(b.file, b.section, b.off+int64(from), "wrong checksum of block %d", i)
	}
	b.checked[i>>6].Or(1 << (i & 63))
	return nil
}
