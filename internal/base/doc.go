// Package base has definitions that every layer of simdb shares: the error for damaged data, and
// the representation of fingerprints, as words and as text.
//
// It has the only parser of fingerprints, so files, JSON strings and statements follow the same
// rule:
//
//	0x and 1 to 16 hexadecimal digits    hexadecimal
//	exactly 16 hexadecimal digits        hexadecimal, even if all are decimal digits
//	any other 1 to 20 decimal digits     decimal, at most 2^64-1
//	- and decimal digits                 decimal, from -2^63: the bits of the two's complement
//
// Signed numbers are written by databases and languages without unsigned integers. Some programs
// drop leading zeros; therefore, in a column of fingerprints, fewer than 16 hexadecimal digits may
// be written without 0x: see ParseCell and Evidence. Base64 is read only where it is declared: 11
// of its letters encode 8 bytes, but could also be a word.
//
// A fingerprint of several words is written with all of its digits: per word 16 hexadecimal digits,
// 64 binary digits, or 8 bytes in base64, first word first; see ParseWords and WidthOf.
//
// A single text does not show whether 1234567890123456 is meant as hexadecimal. A whole file does,
// because all its lines have the same notation; see Ambiguous.
package base
