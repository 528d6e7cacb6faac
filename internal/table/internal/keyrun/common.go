package keyrun

import (
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
)

// Most keys of two runs are in only one run. A merge that steps from key to key cannot predict its
// branches, which costs more than decoding the keys. So several blocks of the first run at a time
// are turned into a bitmap of the values between their least and greatest key, with 64 bits per
// key. The keys of the second run are looked up there without a branch, and only about one in 64 of
// the keys that are in only one run has to be searched for among the keys.
const (
	commonBlocks = 8 // blocks of the first run at a time
	commonBits   = 18
)

// A commonFinder finds the keys that two runs have in common.
type commonFinder struct {
	a, b *Run
	fn   func(posA, posB int) error

	// current blocks of a
	keys  []uint64
	first int // position of keys[0]
	buf   [commonBlocks * BlockLen]uint64
	shift int // bit (key - keys[0]) >> shift represents key
	bits  [1 << commonBits / 64]uint64

	// current block of b
	other []uint64
	block int // its number; -1 if there is none yet

	spaceA, spaceB kernel.Keys
	maybe          [BlockLen]uint16 // indexes in other of the keys whose bit is set
}

// EachCommon calls fn with the positions of every pair of equal keys of a and b, in no particular
// order. It stops at fn's first error and returns it. It reads all of a, and the blocks of b that
// are between keys of a.
func EachCommon(a, b *Run, fn func(posA, posB int) error) error {
	if a.n == 0 || b.n == 0 {
		return nil
	}
	f := &commonFinder{a: a, b: b, fn: fn, block: -1}
	for from := 0; from < a.blocks; from += commonBlocks {
		if err := f.take(from, min(from+commonBlocks, a.blocks)); err != nil {
			return err
		}
		least, greatest := f.keys[0], f.keys[len(f.keys)-1]
		before, end := b.Blocks(least, greatest)
		for block := max(before-1, 0); block < end; block++ {
			if err := f.inBlock(block); err != nil {
				return err
			}
		}
	}
	return nil
}

// take decodes the blocks [from, to) of a, and sets their bits.
func (f *commonFinder) take(from, to int) error {
	f.keys, f.first = f.buf[:0], from<<BlockShift
	for block := from; block < to; block++ {
		if err := f.a.Check(block); err != nil {
			return err
		}
		f.keys = append(f.keys, f.a.Decode(block, f.a.Info(block), 0, f.a.Count(block), &f.spaceA)...)
	}
	least := f.keys[0]
	f.shift = max(0, bits.Len64(f.keys[len(f.keys)-1]-least)-commonBits)
	clear(f.bits[:])
	for _, key := range f.keys {
		bit := (key - least) >> (f.shift & 63)
		f.bits[bit>>6&(1<<commonBits/64-1)] |= 1 << (bit & 63)
	}
	return nil
}

// inBlock finds the common keys of the current blocks of a and one block of b.
func (f *commonFinder) inBlock(block int) error {
	if block != f.block { // it may have keys of two groups of blocks of a
		if err := f.b.Check(block); err != nil {
			return err
		}
		f.block, f.other = block, f.b.Decode(block, f.b.Info(block), 0, f.b.Count(block), &f.spaceB)
	}
	least, span := f.keys[0], f.keys[len(f.keys)-1]-f.keys[0]
	set, maybe, shift := &f.bits, &f.maybe, f.shift&63
	n := 0
	for i, key := range f.other {
		key -= least
		maybe[n&(BlockLen-1)] = uint16(i)
		bit := key >> shift
		in := int(set[bit>>6&(1<<commonBits/64-1)] >> (bit & 63) & 1)
		if key > span { // also true if it is less than least
			in = 0
		}
		n += in
	}
	at := 0 // f.keys[:at] are less than the keys that follow
	for _, i := range f.maybe[:n] {
		key := f.other[i]
		at = gallop(f.keys, at, key)
		for j := at; j < len(f.keys) && f.keys[j] == key; j++ {
			if err := f.fn(f.first+j, block<<BlockShift+int(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// gallop returns the first position from at on whose key is not less than key. Its time grows with
// the logarithm of the distance.
func gallop(keys []uint64, at int, key uint64) int {
	step := 1
	for at+step <= len(keys) && keys[at+step-1] < key {
		at += step
		step *= 2
	}
	for step /= 2; step > 0; step /= 2 {
		if at+step <= len(keys) && keys[at+step-1] < key {
			at += step
		}
	}
	return at
}
