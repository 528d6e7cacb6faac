package sieve

import (
	"encoding/binary"
	"io"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// Sizes of a page: it can be checked by itself, and what is read from storage is whole pages.
const (
	pageSize    = 4096
	sumSize     = 4
	slotsOfPage = 8 * (pageSize - sumSize)

	// DirSize is the size of a directory.
	DirSize = 16
)

// A Builder makes a sieve. It keeps all of it in memory.
type Builder struct {
	n     int
	shape Shape
	words []uint64
}

// NewBuilder returns a builder of a sieve of n fingerprints, at most Most.
func NewBuilder(n int) *Builder {
	s := ShapeFor(n)
	b := &Builder{n: n, shape: s, words: make([]uint64, (s.numSlots()+63)/64)}
	vfs.HugePages(b.words) // each fingerprint is somewhere else
	return b
}

// Len returns the number of fingerprints that the sieve is made for.
func (b *Builder) Len() int { return b.n }

// Add adds fingerprints, in any order.
func (b *Builder) Add(fps []uint64) {
	var slots [addedTogether]uint32
	for len(fps) > 0 {
		n := min(len(fps), len(slots))
		b.Set(b.Slots(slots[:0], fps[:n]))
		fps = fps[n:]
	}
}

// addedTogether is how many slots are prefetched before they are set: they are in as many places.
const addedTogether = 64

// Slots appends the slots of fingerprints, for Set. Any number of goroutines may call it.
func (b *Builder) Slots(dst []uint32, fps []uint64) []uint32 {
	for _, fp := range fps {
		dst = append(dst, uint32(b.shape.group(fp)+b.shape.slot(fp)))
	}
	return dst
}

// Set adds the fingerprints that have some slots.
func (b *Builder) Set(slots []uint32) {
	for len(slots) > 0 {
		some := slots[:min(len(slots), addedTogether)]
		kernel.PrefetchEach(unsafe.Pointer(&b.words[0]), unsafe.Pointer(&some[0]), len(some), 4, 6, 3)
		for _, slot := range some {
			b.words[slot>>6] |= 1 << (slot & 63)
		}
		slots = slots[len(some):]
	}
}

// WriteTo writes the body, which starts at an offset of the file, and returns the directory.
func (b *Builder) WriteTo(w io.Writer, offset int64) (dir []byte, err error) {
	le := binary.LittleEndian
	var page [pageSize]byte
	if _, err := w.Write(page[:padding(offset)]); err != nil {
		return nil, err
	}
	for p := range b.shape.pages() {
		for at := 0; at < pageSize-sumSize; at += 4 {
			half, word := (p*slotsOfPage/8+at)/4, uint32(0)
			if half/2 < len(b.words) {
				word = uint32(b.words[half/2] >> (32 * (half & 1)))
			}
			le.PutUint32(page[at:], word)
		}
		le.PutUint32(page[pageSize-sumSize:], crc.Sum(page[:pageSize-sumSize]))
		if _, err := w.Write(page[:]); err != nil {
			return nil, err
		}
	}
	for _, low := range b.shape.Low {
		dir = append(dir, byte(low))
	}
	dir = le.AppendUint32(append(dir, 0), b.shape.Slots)
	dir = le.AppendUint32(dir, 0)
	return le.AppendUint32(dir, crc.Sum(dir)), nil
}

// padding returns the number of bytes before the pages of a sieve whose body starts at an offset.
func padding(offset int64) int { return int(-offset & (pageSize - 1)) }
