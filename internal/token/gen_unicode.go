//go:build ignore

// This program writes unicode15.bin and unicode15.txt, the character tables of the tokenizer, from the tables of the
// unicode package. Run it with a Go release whose unicode.Version is 15.0.0: the table is part of
// the format of stored fingerprints and must not follow later versions of Unicode.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// The classes of class.go.
const (
	other = iota
	word
	mark
	solo
)

const (
	block   = 128 // runes per block
	maxRune = unicode.MaxRune + 1
)

// expands in place of a delta says that the folded form has several runes.
const expands = 1 << 25

type prop struct {
	class       byte
	lower, fold int32 // deltas
}

// folded returns the full case folding of a rune, as in CaseFolding.txt. Package cases folds
// Cherokee to small letters.
func folded(r rune) []rune {
	if unicode.Is(unicode.Cherokee, r) {
		return []rune{unicode.ToUpper(r)}
	}
	return []rune(cases.Fold().String(string(r)))
}

func classify(r rune) byte {
	switch {
	case unicode.IsMark(r):
		return mark
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return other
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return solo
	}
	return word
}

func main() {
	if unicode.Version != "15.0.0" || cases.UnicodeVersion != "15.0.0" {
		log.Fatalf("unicode.Version is %s, cases.UnicodeVersion %s, want 15.0.0", unicode.Version, cases.UnicodeVersion)
	}
	props := []prop{{}}
	propIndex := map[prop]byte{{}: 0}
	var index, blocks, longer []byte
	blockIndex := map[[block]byte]byte{}
	for first := rune(0); first < maxRune; first += block {
		var b [block]byte
		for i := range b {
			r := first + rune(i)
			p := prop{class: classify(r)}
			if p.class != other {
				p.lower = unicode.ToLower(r) - r
			}
			if f := folded(r); len(f) > 1 {
				p.fold = expands
				longer = fmt.Appendf(longer, "%c%s\n", r, string(f))
			} else if utf8.ValidRune(r) {
				p.fold = f[0] - r
			}
			n, ok := propIndex[p]
			if !ok {
				n = byte(len(props))
				propIndex[p] = n
				props = append(props, p)
			}
			b[i] = n
		}
		n, ok := blockIndex[b]
		if !ok {
			n = byte(len(blockIndex))
			blockIndex[b] = n
			blocks = append(blocks, b[:]...)
		}
		index = append(index, n)
	}
	if len(props) > 256 || len(blockIndex) > 256 {
		log.Fatalf("%d properties, %d blocks: an index does not fit a byte", len(props), len(blockIndex))
	}
	var out []byte
	for i := range 256 {
		var p prop
		if i < len(props) {
			p = props[i]
		}
		class := p.class
		out = binary.LittleEndian.AppendUint32(out, uint32(p.lower)<<2|uint32(class))
		if class == mark && p.fold != 0 {
			class = word // U+0345 becomes a letter
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(p.fold)<<2|uint32(class))
	}
	out = append(append(out, index...), blocks...)
	if err := errors.Join(os.WriteFile("unicode15.bin", out, 0o644), os.WriteFile("unicode15.txt", longer, 0o644)); err != nil {
		log.Fatal(err)
	}
}
