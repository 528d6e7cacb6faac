package token

import (
	"unicode/utf8"
)

// AppendWords appends to dst the hash of every word of text, in order, and returns how many bytes of text are not
// UTF-8; each of them counts as U+FFFD, which is not a word.
func (h Hasher) AppendWords(dst []uint64, text string) (words []uint64, invalid int) {
	var buf [64]byte
	word := buf[:0]
	solo := false
	flush := func() {
		if len(word) > 0 {
			dst = append(dst, h.Word(word))
			word = word[:0]
		}
		solo = false
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		if r == utf8.RuneError && size == 1 {
			invalid++
		}
		class, lower := property(r)
		switch class {
		case classOther:
			flush()
			continue
		case classWord:
			if solo {
				flush()
			}
		case classSolo:
			flush()
			solo = true
		}
		word = utf8.AppendRune(word, lower)
	}
	flush()
	return dst, invalid
}
