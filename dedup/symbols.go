package dedup

import (
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/records"
)

// watchEqual looks at documents of score 1, if the features are of texts and anyone will read of
// it. With Within such a document is a part of another one.
func (d *job) watchEqual() {
	if !d.c.Figures || d.ofTexts() || d.Within != nil || d.out.score == nil || d.features.Unit == engine.UnitSet {
		return
	}
	for n, k := range d.out.keeper {
		if d.out.score[n] == 1 && int64(n) >= d.known && int64(k) >= d.known && k != uint32(n) {
			if d.equal == nil {
				d.equal = &equal{ready: d.params.Features.Normalizer(), shingler: token.NewShingler(1, 0), sums: make([][2]uint32, len(d.out.keeper))}
			}
			d.equal.sums[n][0], d.equal.sums[k][0] = 1, 1
		}
	}
}

// add takes a document of the second pass.
func (e *equal) add(n int64, rec *records.Record) {
	if e == nil || e.sums[n][0] == 0 {
		return
	}
	text := rec.Doc.Text
	if e.ready != nil {
		text = string(e.ready([]byte(text)))
	}
	e.words = 0
	e.shingler.Text(text, e)
	e.sums[n] = [2]uint32{sumOf(text), uint32(e.words >> 32)}
}

// Shingles implements token.Sink.
func (e *equal) Shingles(words []uint64) {
	for _, w := range words {
		e.words = bits.RotateLeft64(e.words^w, 23) * multiplier
	}
}

// count returns how many of the dropped differ from their keepers in symbols, and in words.
func (e *equal) count(out *outcome) (n [2]int64) {
	for d, k := range out.keeper {
		for i, sum := range e.sums[d] {
			if e.sums[d][0] != 0 && sum != e.sums[k][i] && out.score[d] == 1 {
				n[i]++
			}
		}
	}
	return n
}

const multiplier = 0x9e3779b97f4a7c15

// sumOf is a checksum of the symbols of a text, each run with the letter or digit that follows it,
// at least 1: signs that are operators in programs and formulas, such as * / & % @ # and \, and a
// negation (!), but no ordinary punctuation. It is the same for upper and lower case, and for any
// white space.
func sumOf(text string) uint32 {
	var sum uint64
	after := false // a symbol is the last that was seen, except for spaces and punctuation
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b < utf8.RuneSelf && !after && plain[b] {
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size - 1
		switch {
		case isSymbol(r, text[i:]):
			after = true
		case after && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			after, r = false, unicode.ToLower(r)
		default:
			continue
		}
		sum = bits.RotateLeft64(sum^uint64(r), 23) * multiplier
	}
	return max(uint32(sum>>32), 1)
}

// isSymbol reports whether r, which begins text if it is ASCII, is a symbol.
func isSymbol(r rune, text string) bool {
	switch {
	case r >= utf8.RuneSelf:
		return unicode.IsSymbol(r) && !unicode.Is(unicode.Sk, r)
	case r == '!':
		return negates(text)
	}
	return !plain[r]
}

// ordinary is the punctuation of ASCII that is no operator, or only where negates says so.
var ordinary = func() (t [utf8.RuneSelf]bool) {
	for _, r := range ".,:;?!'\"()[]{}-_`" {
		t[r] = true
	}
	return t
}()

// negates reports whether text begins with ! as an operator.
func negates(text string) bool {
	return len(text) > 1 && text[0] == '!' && (text[1] == '=' || text[1] == '(' || text[1]|0x20 >= 'a' && text[1]|0x20 <= 'z')
}

// plain are the bytes that are no symbols: letters, digits, white space, ordinary punctuation.
var plain = func() (t [utf8.RuneSelf]bool) {
	for b := range rune(utf8.RuneSelf) {
		t[b] = ordinary[b] && b != '!' || unicode.In(b, unicode.L, unicode.N) || unicode.IsSpace(b)
	}
	return t
}()
