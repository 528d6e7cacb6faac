package token

import (
	_ "embed" // for the character table
	"strings"
	"unicode"
	"unicode/utf8"
)

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
//	    0   256 x 8 bytes   properties: for version 2 and for version 3, an int32, little-endian:
//	                        delta of the lower-case or folded form << 2 | class
//	 2048  8704 x 1 byte    rune / 128 -> block
//	10752  n x 128 bytes    blocks: rune % 128 -> property
//
// It is frozen: runes that later versions of Unicode assign do not change, so that stored
// fingerprints remain comparable with those of any later release of Go.
//
//go:embed unicode15.bin
var charTable string

// longerTable has a line for each rune whose folded form has several runes: the rune and its form.
//
//go:embed unicode15.txt
var longerTable string

const (
	charIndex  = 256 * 8
	charBlocks = charIndex + 0x110000/128
)

// props are the properties of runes by the rules of one version.
type props [256]int32

var version2, version3 = propsAt(0), propsAt(4) // in charTable

func propsAt(at int) *props {
	var p props
	for i := range p {
		b := charTable[8*i+at:]
		p[i] = int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	}
	return &p
}

// longer has the forms of longerTable.
var longer = func() map[rune]string {
	m := map[rune]string{}
	for line := range strings.Lines(longerTable) {
		r, size := utf8.DecodeRuneInString(line)
		m[r] = strings.TrimSpace(line[size:])
	}
	return m
}()

// of returns the class of r, which must be in 0..unicode.MaxRune, and its folded form. A folded form
// above unicode.MaxRune stands for that in longer.
func (p *props) of(r rune) (class int, folded rune) {
	block := int(charTable[charIndex+int(r)>>7])
	v := p[charTable[charBlocks+block<<7+int(r)&127]]
	return int(v & 3), r + v>>2
}

// append appends the folded form of r.
func (p *props) append(dst []byte, r rune) []byte {
	_, folded := p.of(r)
	if folded > unicode.MaxRune {
		return append(dst, longer[r]...)
	}
	return utf8.AppendRune(dst, folded)
}
