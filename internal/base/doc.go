// Package base has what every layer of simdb shares: the one error about damaged data, and the
// representation of fingerprints, as words and as text.
//
// It has the only parser of fingerprints: files, JSON strings and statements follow the same rule.
//
//	0x and 1 to 16 hexadecimal digits    hexadecimal
//	exactly 16 hexadecimal digits        hexadecimal, also when all of them are decimal digits
//	any other 1 to 20 decimal digits     decimal, at most 2^64-1
//	- and decimal digits                 decimal, from -2^63: the bits of the two's complement
//
// Databases and languages without unsigned integers write signed numbers. In a column of
// fingerprints fewer hexadecimal digits may stand without 0x, as programs write that drop leading
// zeros; see ParseCell and Evidence. Base64 is read only where it is declared: 11 of its letters
// are 8 bytes, but words, too.
//
// A fingerprint of several words has all of its digits: 16 hexadecimal ones a word, 64 binary ones,
// or 8 bytes in base64, the first word first; see ParseWords and WidthOf.
//
// One text alone does not say whether 1234567890123456 was meant as hexadecimal. A whole file does,
// since its lines are written alike; see Ambiguous.
package base
