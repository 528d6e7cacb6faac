package kernel

import "math/bits"

// BlockKeys is the greatest number of keys in a block.
const BlockKeys = 512

// Keys is room for the keys of one block, and scratch of their decoding. Its zero value is ready.
type Keys struct {
	keys [BlockKeys]uint64
	ones [BlockKeys + 128]uint16 // bit numbers of the ones of the unary part; a word's are written 64 at a time
}

// Decode returns the keys [lo, hi) of an Elias-Fano block, hi <= BlockKeys, valid until the next call.
// Key i is base + p<<w + low, where 1-bit number i of the unary part is at bit p+i, and low is packed
// value i of width w. The unary part has at least hi 1-bits, in 64-bit words (keys past them are
// undefined). packed holds Slack readable bytes past value hi-1.
func (k *Keys) Decode(unary, packed []byte, w, lo, hi int, base uint64) []uint64 {
	if lo >= hi {
		return nil
	}
	if active == avx512 && len(unary) > 0 {
		k.decodeAsm(unary, packed, w, hi, base)
	} else {
		k.decodeGo(unary, packed, w, lo, hi, base)
	}
	return k.keys[lo:hi]
}

func (k *Keys) decodeGo(unary, packed []byte, w, lo, hi int, base uint64) {
	mask := Mask(w)
	i, bit := 0, lo*w
	for at := 0; at+8 <= len(unary) && i < hi; at += 8 {
		word := load64(unary[at:])
		if ones := bits.OnesCount64(word); i+ones <= lo {
			i += ones
			continue
		}
		for ; i < lo; i++ {
			word &= word - 1
		}
		prefix := at<<3 - i // of the key at bit 0 of the word, less that key's bit number
		for ; word != 0 && i < hi; i++ {
			low := load64(packed[bit>>3:]) >> (bit & 7) & mask
			k.keys[i] = base + uint64(prefix+bits.TrailingZeros64(word))<<uint(w) + low
			prefix--
			bit += w
			word &= word - 1
		}
	}
}
