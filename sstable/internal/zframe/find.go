package zframe

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// A sequence is some literals and the match behind them.
type sequence struct {
	literals uint32 // how many
	match    uint32 // bytes beyond leastMatch
	// offset is distance + 3, or 1 for a repetition: the distance of the sequence before, or, where
	// there are no literals, the other one of the last two that differed.
	offset uint32
}

const (
	leastMatch = 3 // of the format; those that are found have 4 bytes or more

	// margin is how far before the end the last match begins: words of 8 bytes are read 4 bytes
	// behind the beginning of a match, and literals are copied 16 bytes at a time.
	margin = 16

	tableBits = 13
	hashed    = 6 // bytes that the place in the table depends on

	// Where nothing matches the search goes on in steps, which become one byte longer after every
	// 1<<patience literals.
	step     = 2
	patience = 5
)

// A table has, for hashes of what begins there, the last position. 0 is also no position: what is
// found is compared.
type table [1 << tableBits]uint16

// place returns the place in a table for what v begins with.
func place(v uint64) uint64 {
	const odd = 0xcf1bbcdcb7a56463
	return v << (64 - 8*hashed) * odd >> (64 - tableBits)
}

// find cuts src into sequences, and literals behind the last one. All literals are put together.
//
// It compares what begins at two positions with the positions of the same hashes, and before that
// with what lies where a repetition of the last distance would have it, which costs a sequence
// fewer bits. The pointers are within src, by margin, and within the room that reserve makes.
func (e *encoder) find(src []byte) {
	e.reserve(len(src))
	clear(e.table[:])
	t := &e.table
	p, literals, n := unsafe.Pointer(&src[0]), unsafe.Pointer(unsafe.SliceData(e.literals)), len(src)
	sequences, found, copied := e.sequences[:cap(e.sequences)], 0, 0
	last, other := 1, 4 // distances, at first those of the format
	from := 0           // where the literals of the next sequence begin
	for i := 1; i < n-margin; {
		v := load64(p, i)
		h1, h2 := place(v), place(v>>8)
		j, j2 := int(t[h1]), int(t[h2])
		t[h1], t[h2] = uint16(i), uint16(i+1)
		least, offset := from, uint32(0)
		if k := i + 2 - last; k >= 0 && load32(p, k) == uint32(v>>16) {
			i, j = i+2, k
			least, offset = from+1, 1 // without literals it would be that of the other distance
		} else if load32(p, j) != uint32(v) {
			if load32(p, j2) != uint32(v>>8) {
				i += step + (i-from)>>patience
				continue
			}
			i, j = i+1, j2
		}
		m := 4
		if x := load64(p, i+4) ^ load64(p, j+4); x != 0 {
			m += bits.TrailingZeros64(x) >> 3
		} else {
			m += 8 + matchLen(p, i+12, j+12, n)
		}
		for i > least && j > 0 && byteAt(p, i-1) == byteAt(p, j-1) {
			i, j, m = i-1, j-1, m+1
		}
		if offset == 0 {
			offset = uint32(i-j) + 3
			last, other = i-j, last
		}
		copyLiterals(unsafe.Add(literals, copied), p, from, i-from)
		copied += i - from
		sequences[found] = sequence{uint32(i - from), uint32(m - leastMatch), offset}
		found++
		i += m
		if i < n-margin { // of a match two positions are enough
			t[place(load64(p, i-m+2))] = uint16(i - m + 2)
			t[place(load64(p, i-2))] = uint16(i - 2)
		}
		for i < n-margin && load32(p, i) == load32(p, i-other) {
			m := 4 + matchLen(p, i+4, i-other+4, n)
			t[place(load64(p, i))] = uint16(i)
			sequences[found] = sequence{0, uint32(m - leastMatch), 1}
			found++
			last, other = other, last
			i += m
		}
		from = i
	}
	e.literals = append(e.literals[:copied], src[from:]...)
	e.sequences = sequences[:found]
}

// reserve makes room for what find makes of n bytes.
func (e *encoder) reserve(n int) {
	if cap(e.literals) < n+margin {
		e.literals = make([]byte, 0, n+n/4+margin)
	}
	if cap(e.sequences) < n/4+1 {
		e.sequences = make([]sequence, 0, n/4+n/16+1)
	}
}

// matchLen returns how many bytes from i and from j < i on agree, up to n.
func matchLen(p unsafe.Pointer, i, j, n int) int {
	before := i
	for ; i+8 <= n; i, j = i+8, j+8 {
		if x := load64(p, i) ^ load64(p, j); x != 0 {
			return i - before + bits.TrailingZeros64(x)>>3
		}
	}
	for i < n && byteAt(p, i) == byteAt(p, j) {
		i, j = i+1, j+1
	}
	return i - before
}

// copyLiterals copies n bytes from i on to dst. It may copy up to 16.
func copyLiterals(dst, p unsafe.Pointer, i, n int) {
	if n <= 16 {
		*(*[16]byte)(dst) = *(*[16]byte)(unsafe.Add(p, i))
		return
	}
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(unsafe.Add(p, i)), n))
}

func load64(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}

func load32(p unsafe.Pointer, i int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, i))[:])
}

func byteAt(p unsafe.Pointer, i int) byte { return *(*byte)(unsafe.Add(p, i)) }
