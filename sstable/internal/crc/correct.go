package crc

import "hash/crc32"

// table is that of the polynomial.
var table = crc32.MakeTable(crc32.Castagnoli)

// Correct returns data with the one byte changed that gives it the checksum want. It returns data
// itself if its checksum is right, or differs from want in one byte of want itself: then that one
// is damaged. ok is false if no single byte explains the difference.
//
// What is damaged in another way looks correctable with a probability of 255 * len(data) / 2^32. So
// data should be short, and what it says be checked by other means, too.
func Correct(data []byte, want uint32) (fixed []byte, ok bool) {
	diff := Sum(data) ^ want
	for shift := 0; shift < 32; shift += 8 {
		if diff&^(0xff<<shift) == 0 {
			return data, true
		}
	}
	// The difference that a change of the last byte by e makes is table[e]; that of one before it,
	// followed by n bytes, is that difference after n steps over zero bytes. The steps can be taken
	// back: the upper byte of a checksum says which entry of the table was used last.
	var entries [256]byte // of the table, by their upper bytes
	for i, v := range table {
		entries[v>>24] = byte(i)
	}
	for i := len(data) - 1; i >= 0; i-- {
		e := entries[diff>>24]
		if table[e] == diff {
			fixed = append([]byte{}, data...)
			fixed[i] ^= e
			return fixed, true
		}
		diff = (diff^table[e])<<8 | uint32(e)
	}
	return nil, false
}
