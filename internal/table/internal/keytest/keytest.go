// Package keytest generates keys for tests of the table format and of its searches.
package keytest

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// Shape is a kind of keys.
type Shape struct {
	Name string
	Make func(r *rand.Rand, n int) []uint64 // n keys, unsorted
}

// Shapes are the kinds of keys that tests of runs and of searches use.
var Shapes = []Shape{
	{"uniform", func(r *rand.Rand, n int) []uint64 {
		return Fill(n, func(int) uint64 { return r.Uint64() })
	}},
	{"clustered", func(r *rand.Rand, n int) []uint64 {
		centres := Fill(1+n/50, func(int) uint64 { return r.Uint64() })
		return Fill(n, func(int) uint64 {
			return FlipBits(r, centres[r.IntN(len(centres))], r.IntN(12))
		})
	}},
	{"duplicates", func(r *rand.Rand, n int) []uint64 {
		few := Fill(1+n/700, func(int) uint64 { return r.Uint64() })
		return Fill(n, func(int) uint64 { return few[r.IntN(len(few))] })
	}},
	{"equal", func(r *rand.Rand, n int) []uint64 {
		v := r.Uint64()
		return Fill(n, func(int) uint64 { return v })
	}},
	{"hot prefixes", func(r *rand.Rand, n int) []uint64 {
		hot := Fill(4, func(int) uint64 { return r.Uint64() >> 48 << (16 * r.IntN(4)) })
		return Fill(n, func(i int) uint64 {
			if i%3 == 0 {
				return r.Uint64()
			}
			return hot[r.IntN(4)] | r.Uint64()&(1<<20-1)<<r.IntN(40)
		})
	}},
	{"extremes", func(r *rand.Rand, n int) []uint64 {
		return Fill(n, func(int) uint64 { return -uint64(r.IntN(2)) ^ 1<<r.IntN(64)&-uint64(r.IntN(2)) })
	}},
	{"dense", func(r *rand.Rand, n int) []uint64 {
		return Fill(n, func(i int) uint64 { return 1<<63 + uint64(i) })
	}},
	{"one outlier", func(r *rand.Rand, n int) []uint64 {
		keys := Fill(n, func(i int) uint64 { return 7 })
		keys[n-1] = ^uint64(0)
		return keys
	}},
}

// Fill returns n keys; key i is f(i).
func Fill(n int, f func(i int) uint64) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = f(i)
	}
	return keys
}

// FlipBits flips k random bits of v; it may flip the same bit twice.
func FlipBits(r *rand.Rand, v uint64, k int) uint64 {
	for range k {
		v ^= 1 << r.IntN(64)
	}
	return v
}

// Rand returns a generator seeded by a name and a number.
func Rand(name string, n int) *rand.Rand {
	seed := uint64(n)
	for _, c := range name {
		seed = seed*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, 1))
}

// Sizes of the trailer and of a block's entry in the directory of a key run or a column, and of the
// checksums at the start of a block of a run in parts; see package keyrun.
const trailer, entry, sums = 64, 20, 16

// Reseal corrects the checksums in dir, the directory of a key run or a column. Anything in dir and
// body may have been changed; good is the original directory.
func Reseal(body, dir, good []byte) {
	le := binary.LittleEndian
	end := len(good) - trailer
	blocks := end / entry
	offset := func(b int) int {
		if b == blocks {
			return int(le.Uint64(good[end+16:]))
		}
		return int(infoOf(good, b) >> 16 << 3)
	}
	for b := range blocks {
		block := body[offset(b):offset(b+1)]
		if size := sumsOf(good); size > 0 {
			info := infoOf(good, b)
			head := size + int(8*(info>>8&0xff))
			for p, packed := 0, block[head:]; p < size/4; p++ {
				n := min(len(packed), 16*int(info&0xff))
				le.PutUint32(block[4*p:], kernel.CRC32C(0, packed[:n]))
				packed = packed[n:]
			}
			block = block[:head]
		}
		le.PutUint32(dir[entry*b+16:], kernel.CRC32C(0, block))
	}
	t := dir[end:]
	le.PutUint32(t[48:], kernel.CRC32C(0, dir[:end]))
	le.PutUint32(t[60:], kernel.CRC32C(0, t[:60]))
}

// sumsOf returns how many bytes of checksums a block starts with.
func sumsOf(dir []byte) int {
	if string(dir[len(dir)-trailer:][:4]) == "KRPT" {
		return sums
	}
	return 0
}

// infoOf returns the info word of block b.
func infoOf(dir []byte, b int) uint64 {
	return binary.LittleEndian.Uint64(dir[entry*b+8:])
}

// Edited returns a sketch with about part of the hashes of s, and with the other differences that
// occur between sketches of similar texts.
func Edited(rng *rand.Rand, s []uint32, part float64, n int) []uint32 {
	out := slices.Clone(s)
	out = slices.DeleteFunc(out, func(uint32) bool { return rng.Float64() > part })
	last := uint32(1)
	if len(s) > 0 {
		last = s[len(s)-1] | 1
	}
	for range rng.IntN(int(float64(n)*(1-part))*2 + 1) {
		if h := rng.Uint32N(last); rng.IntN(2) == 0 {
			out = append(out, h) // as for a text of about the same size
		} else {
			out = append(out, rng.Uint32()) // as for a sketch that is not full
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), n)]
}

// FirstKey returns the offset in the body of the first packed key, or number, of a key run or a
// column with the directory dir.
func FirstKey(dir []byte) int64 { return int64(sumsOf(dir)) + int64(8*(infoOf(dir, 0)>>8&0xff)) }

// FirstValue returns the offset in the body of the first value of a key run with values and at
// least one block.
func FirstValue(dir []byte) int64 {
	info, count := infoOf(dir, 0), binary.LittleEndian.Uint64(dir[len(dir)-trailer+8:])
	return FirstKey(dir) + int64((min(count, 512)*(info&0x7f)+63)/64*8)
}

// ResealBlocks corrects the checksums of a directory of package blobs with entries of size bytes,
// after the entries, or their blocks in the area, have been changed. Entries of blocks beyond the
// area stay unchanged.
func ResealBlocks(dir []byte, size int, area []byte) {
	le := binary.LittleEndian
	for ; len(dir) >= size; dir = dir[size:] {
		off, length := le.Uint64(dir)&(1<<48-1), uint64(le.Uint32(dir[8:]))
		if off <= uint64(len(area)) && length <= uint64(len(area))-off {
			le.PutUint32(dir[size-4:], kernel.CRC32C(kernel.CRC32C(0, area[off:][:length]), dir[:size-4]))
		}
	}
}
