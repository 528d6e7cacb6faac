package dedup

import (
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/records"
)

// watchEqual selects the documents of score 1 for equal, if the features come from texts and the
// caller wants figures. It ignores Within, where such a document is a part of its keeper.
func (d *job) watchEqual() {
	if !d.c.Figures || d.c.Seen != 0 || d.ofTexts() || d.Within != nil || d.rule != nil || d.out.score == nil || features.IsGiven(d.features.Unit) || d.features.Unit == features.Own {
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

// add adds a document of the second pass.
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

// count returns how many dropped documents differ from their keepers in symbols, and in words.
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

// sumOf returns a checksum, at least 1, of the symbols of a text; each run of symbols is combined
// with the letter or digit that follows. Symbols are operators of programs and formulas, such as
// * / & % @ # and \, and a negation (!), but not ordinary punctuation. Case and white space do
// not matter.
func sumOf(text string) uint32 {
	var sum uint64
	after := false // a symbol was the last character, apart from spaces and punctuation
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

// isSymbol reports whether r is a symbol. If r is ASCII, text begins with it.
func isSymbol(r rune, text string) bool {
	switch {
	case r >= utf8.RuneSelf:
		return unicode.IsSymbol(r) && !unicode.Is(unicode.Sk, r)
	case r == '!':
		return negates(text)
	}
	return !plain[r]
}

// ordinary is the ASCII punctuation that is not an operator, except where negates says so.
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

// plain holds the bytes that are not symbols: letters, digits, white space, ordinary punctuation.
var plain = func() (t [utf8.RuneSelf]bool) {
	for b := range rune(utf8.RuneSelf) {
		t[b] = ordinary[b] && b != '!' || unicode.In(b, unicode.L, unicode.N) || unicode.IsSpace(b)
	}
	return t
}()
