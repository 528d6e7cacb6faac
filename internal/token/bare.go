package token

import (
	"unicode"
	"unicode/utf8"
)

// bare searches a text for a letter or number. A text without any is a single word: the text
// itself, without leading and trailing white space. Text may come in pieces of any size.
type bare struct {
	props      *props
	wordy      bool     // a letter or a number was found, so the rest is irrelevant
	unread     bool     // U+FFFD was found: the original text is unknown, so it is not equal to any other text
	read       int      // bytes read so far
	start, end int      // of the word
	symbols    bool     // the word does not consist of only marks
	word       openWord // the word up to the last rune read
	upToEnd    openWord // the word up to end
}

// take reads text up to the first letter or number. If text is not final, it stops before a rune
// that may be cut off at the end. It returns the number of bytes read.
func (b *bare) take(h Hasher, text []byte, final bool) (read int) {
	if len(text) > 0 && text[0] < utf8.RuneSelf && asciiLower[text[0]] != 0 {
		b.wordy = true
	}
	for read < len(text) && !b.wordy && (final || utf8.FullRune(text[read:])) {
		r, _, size := decode(text[read:])
		read += size
		class, _ := b.props.of(r)
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
		var buf [3 * utf8.UTFMax]byte
		b.word.addText(h, string(b.props.append(buf[:0], r)))
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

// hasWord reports whether a text without letters and numbers is a word.
func (b *bare) hasWord() bool { return b.word.kind != openNone && !b.unread }
