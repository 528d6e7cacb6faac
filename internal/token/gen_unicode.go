//go:build ignore

// This program writes unicode15.bin, the character table of the tokenizer, from the tables of the
// unicode package. Run it with a Go release whose unicode.Version is 15.0.0: the table is part of
// the format of stored fingerprints and must not follow later versions of Unicode.
package main

import (
	"log"
	"os"
	"unicode"
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

type prop struct {
	class byte
	delta int32
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
	if unicode.Version != "15.0.0" {
		log.Fatalf("unicode.Version is %s, want 15.0.0", unicode.Version)
	}
	props := []prop{{}}
	propIndex := map[prop]byte{{}: 0}
	var index, blocks []byte
	blockIndex := map[[block]byte]byte{}
	for first := rune(0); first < maxRune; first += block {
		var b [block]byte
		for i := range b {
			r := first + rune(i)
			p := prop{class: classify(r)}
			if p.class != other {
				p.delta = unicode.ToLower(r) - r
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
	out := make([]byte, 0, 1024+len(index)+len(blocks))
	for i := range 256 {
		var p prop
		if i < len(props) {
			p = props[i]
		}
		v := uint32(p.delta)<<2 | uint32(p.class)
		out = append(out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	out = append(append(out, index...), blocks...)
	if err := os.WriteFile("unicode15.bin", out, 0o644); err != nil {
		log.Fatal(err)
	}
}
