package token

import (
	"unicode"
	"unicode/utf8"
)

// bare looks for the first letter or number of a text, and makes one word of a text that has none:
// the text itself, without the white space around it. Text may come in pieces of any size.
type bare struct {
	wordy      bool     // there is a letter or a number: the rest is of no interest
	unread     bool     // there is U+FFFD: what the text was is not known, so it is equal to no other
	read       int      // bytes so far
	start, end int      // of the word
	symbols    bool     // it is not of marks alone
	word       openWord // up to what was read last
	upToEnd    openWord // up to end
}

// take reads on, at most to the first letter or number, or, if text is not final, to a rune that
// may be cut off at its end. It returns how many bytes it read.
func (b *bare) take(h Hasher, text []byte, final bool) (read int) {
	if len(text) > 0 && text[0] < utf8.RuneSelf && asciiLower[text[0]] != 0 {
		b.wordy = true
	}
	for read < len(text) && !b.wordy && (final || utf8.FullRune(text[read:])) {
		r, raw, size := decode(text[read:])
		read += size
		class, _ := property(r)
		b.wordy = class == classWord || class == classSolo
		b.unread = b.unread || r == utf8.RuneError
		space := unicode.IsSpace(r)
		if b.word.kind == openNone {
			if space {
				continue
			}
			b.word.begin(h, openSymbols)
			b.start = b.read + read - size
			b.end = b.start
		}
		_, bytes := encode(r)
		b.word.add(h, uint64(raw), bytes)
		if !space {
			b.symbols = b.symbols || class != classMark || b.end < b.read+read-size
			b.end, b.upToEnd = b.read+read, b.word
		}
	}
	b.read += read
	return read
}

func (b *bare) hash(h Hasher) uint64 {
	if b.symbols {
		b.upToEnd.add(h, symbolEnd, 1)
	}
	return b.upToEnd.end(h)
}

// hasWord reports whether the text, if it has no letter or number, is a word.
func (b *bare) hasWord() bool { return b.word.kind != openNone && !b.unread }
