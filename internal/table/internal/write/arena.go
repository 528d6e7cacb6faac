package write

import (
	"encoding/binary"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
)

const (
	arenaShift      = 20
	arenaBlock      = 1 << arenaShift
	firstArenaBlock = 4 << 10 // initial capacity of the first block, which doubles up to arenaBlock

	// maxString is the maximum length of a string.
	maxString = arenaBlock - binary.MaxVarintLen32
	// maxArenaBlocks is the number of blocks that numbers of 32 bits can address.
	maxArenaBlocks = 1 << (32 - arenaShift)
)

// An Arena stores many byte strings in a few large blocks and numbers them with 32 bits. In
// addition to its bytes a string needs one byte, or two from 128 bytes on, and costs the garbage
// collector nothing. The zero value is empty. Several goroutines may read it while nothing is
// added.
//
//	number = block << 20 | offset; a string does not cross the end of its block
//	string = length, a uvarint | bytes
type Arena struct {
	blocks [][]byte
}

// Full reports whether the arena may be unable to store the next string. As long as it is false,
// every string of up to maxString bytes fits.
func (a *Arena) Full() bool { return len(a.blocks) >= maxArenaBlocks-1 }

// Add stores a copy of s, which has at most maxString bytes, and returns its number.
func (a *Arena) Add(s []byte) uint32 {
	return a.AddString(unsafe.String(unsafe.SliceData(s), len(s)))
}

// AddString is Add.
func (a *Arena) AddString(s string) uint32 {
	need := len(s) + binary.MaxVarintLen32
	last := len(a.blocks) - 1
	if last < 0 || cap(a.blocks[last])-len(a.blocks[last]) < need {
		last = a.reserve(last, need)
	}
	b := a.blocks[last]
	at := uint32(last)<<arenaShift | uint32(len(b))
	a.blocks[last] = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	return at
}

// reserve ensures that a block has capacity for need more bytes: the last block if it can still
// grow, else a new one. It returns the block.
func (a *Arena) reserve(last, need int) int {
	if last == 0 && len(a.blocks[0])+need <= arenaBlock && cap(a.blocks[0]) < arenaBlock {
		grown := make([]byte, len(a.blocks[0]), min(max(2*cap(a.blocks[0]), len(a.blocks[0])+need), arenaBlock))
		copy(grown, a.blocks[0])
		a.blocks[0] = grown
		return 0
	}
	size := arenaBlock
	if last < 0 {
		size = max(firstArenaBlock, need)
	}
	if last+1 < cap(a.blocks) { // a block from before Reset
		a.blocks = a.blocks[:last+2]
		if b := a.blocks[last+1]; cap(b) >= need {
			a.blocks[last+1] = b[:0]
			return last + 1
		}
		a.blocks[last+1] = make([]byte, 0, size)
	} else {
		a.blocks = append(a.blocks, make([]byte, 0, size))
	}
	return last + 1
}

// Get returns the string with a number. The caller must not change it.
func (a *Arena) Get(at uint32) []byte {
	b := a.blocks[at>>arenaShift][at&(arenaBlock-1):]
	if n := int(b[0]); n < 0x80 {
		return b[1 : 1+n : 1+n]
	}
	n, skip := binary.Uvarint(b)
	return b[skip : skip+int(n) : skip+int(n)]
}

// Prefetch prefetches the start of a string, which Get will read.
func (a *Arena) Prefetch(at uint32) { a.PrefetchBytes(at, 1) }

// PrefetchBytes prefetches the length of a string and its first bytes, n bytes in all; n is at
// least 1.
func (a *Arena) PrefetchBytes(at uint32, n int) {
	b := a.blocks[at>>arenaShift]
	kernel.PrefetchAt(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), uintptr(at&(arenaBlock-1))), uintptr(n))
}

// Reset removes all strings but retains the memory.
func (a *Arena) Reset() { a.blocks = a.blocks[:0] }
