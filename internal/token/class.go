package token

import _ "embed" // for the character table

//go:generate go run gen_unicode.go

// The class of a rune says how it affects the word before it.
const (
	classOther = iota // ends a word
	classWord         // a letter or number: continues a word, or starts one
	classMark         // a mark: continues a word of either kind, or starts one
	classSolo         // a letter or number of a script without spaces: starts a word that only marks continue

	classSymbol // any other character except white space, if symbols make words; not in the table
)

// charTable is the character table of the tokenizer, generated from Unicode 15.0 by gen_unicode.go:
//
//	  0   256 x 4 bytes   properties: int32, little-endian: lower-case delta << 2 | class
//	1024  8704 x 1 byte   rune / 128 -> block
//	9728  n x 128 bytes   blocks: rune % 128 -> property
//
// It is frozen: runes that later versions of Unicode assign do not change, so that stored
// fingerprints remain comparable with those of any later release of Go.
//
//go:embed unicode15.bin
var charTable string

const (
	charIndex  = 256 * 4
	charBlocks = charIndex + 0x110000/128
)

// charProps are the properties in charTable.
var charProps = func() (p [256]int32) {
	for i := range p {
		b := charTable[4*i:]
		p[i] = int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	}
	return p
}()

// property returns the class of r, which must be in 0..unicode.MaxRune, and its lower-case form.
func property(r rune) (class int, lower rune) {
	block := int(charTable[charIndex+int(r)>>7])
	v := charProps[charTable[charBlocks+block<<7+int(r)&127]]
	return int(v & 3), r + v>>2
}
