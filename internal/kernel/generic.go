package kernel

import "math/bits"

// scanPackedGo scans groups of eight values. The offsets of values in the bytes of a group are the
// same for all groups.
func scanPackedGo(dst []uint32, packed []byte, w, from, to int, q uint64, k int) []uint32 {
	var at, shift [8]uint8
	for lane := range at {
		at[lane], shift[lane] = uint8(lane*w>>3), uint8(lane*w&7)
	}
	mask := Mask(w)
	q &= mask
	for first := from &^ 7; first < to; first += 8 {
		group := packed[first>>3*w:][:64:64]
		for lane := range at {
			low := load64(group[at[lane]:]) >> (shift[lane] & 7) & mask
			if bits.OnesCount64(low^q) <= k {
				if i := first + lane; i >= from && i < to {
					dst = append(dst, uint32(i))
				}
			}
		}
	}
	return dst
}

// scanFlatGo is ScanFlat in pure Go; first is the position of the first key.
func scanFlatGo(dst []uint32, keys []uint64, first int, q uint64, k int) []uint32 {
	for i, key := range keys {
		if bits.OnesCount64(key^q) <= k {
			dst = append(dst, uint32(first+i))
		}
	}
	return dst
}

func rankZerosGo(unary []byte, from, to uint64, n int) (lo, hi int) {
	lo, hi = n, n
	if from == 0 {
		lo = 0
	}
	if to == 0 {
		return 0, 0
	}
	zeros := uint64(0) // number of zeros before the current word
	for at := 0; at+8 <= len(unary); at += 8 {
		w := ^load64(unary[at:])
		after := zeros + uint64(bits.OnesCount64(w))
		if from > zeros && from <= after {
			lo = 8*at + selectGo(w, int(from-zeros-1)) - int(from-1)
		}
		if to > zeros && to <= after {
			return lo, 8*at + selectGo(w, int(to-zeros-1)) - int(to-1)
		}
		zeros = after
	}
	return lo, hi
}

// selectGo finds the byte from the number of 1-bits in the previous bytes, summed in parallel
// (Vigna, Broadword Implementation of Rank/Select Queries, WEA 2008), and the bit in a table.
func selectGo(w uint64, i int) int {
	s := w - w>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	s = (s + s>>4) & 0x0f0f0f0f0f0f0f0f * ones // byte j: number of ones in bytes 0..j
	// Bytes whose sum is <= i are before the wanted byte. In these, bit 7 stays set.
	reached := (uint64(i)*ones | highs) - s
	at := bits.OnesCount64(reached&highs) << 3 & 63
	return at + int(selectByte[(uint64(i)-s<<8>>at)&7][byte(w>>at)])
}

// selectByte has the position of 1-bit number i of a byte at [i][byte].
var selectByte = func() (all [8][256]uint8) {
	for b := range 256 {
		i := 0
		for at := range 8 {
			if b>>at&1 == 1 {
				all[i][b] = uint8(at)
				i++
			}
		}
	}
	return all
}()

func scanManyGo(dst, queries, keys []uint64, k int) []uint64 {
	for q := 0; q < len(queries); q += tileQueries {
		row := queries[q:min(q+tileQueries, len(queries))]
		for j := 0; j < len(keys); j += tileKeys {
			dst = scanTileGo(dst, row, q, keys[j:min(j+tileKeys, len(keys))], j, k)
		}
	}
	return dst
}

// scanTileGo compares one tile: queries starting at number q with keys starting at number j.
func scanTileGo(dst, queries []uint64, q int, keys []uint64, j, k int) []uint64 {
	for _, query := range queries {
		for i, key := range keys {
			if bits.OnesCount64(query^key) <= k {
				dst = append(dst, uint64(q)<<32|uint64(j+i))
			}
		}
		q++
	}
	return dst
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
		prefix := at<<3 - i // prefix of the key at bit 0 of the word, minus that key's bit number
		for ; word != 0 && i < hi; i++ {
			low := load64(packed[bit>>3:]) >> (bit & 7) & mask
			k.keys[i] = base + uint64(prefix+bits.TrailingZeros64(word))<<uint(w) + low
			prefix--
			bit += w
			word &= word - 1
		}
	}
}

// ascendingGo has no branch per key, and two chains of borrows.
func ascendingGo(keys []uint64) bool {
	var one, two uint64
	for rest := keys; len(rest) > 2; rest = rest[2:] {
		_, b := bits.Sub64(rest[1], rest[0], 0)
		_, c := bits.Sub64(rest[2], rest[1], 0)
		one, two = one|b, two|c
	}
	n := len(keys)
	return one|two == 0 && (n < 2 || keys[n-1] >= keys[n-2])
}
