package token

import (
	"iter"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// openKind is the kind of the open word on the Unicode path.
type openKind uint8

const (
	openNone    openKind = iota
	openRun              // a run of letters, marks and numbers
	openSolo             // a rune of a script without spaces, and its marks
	openSymbols          // a run of symbols
)

// openKinds[class] is the kind of a word that begins with a rune of this class.
var openKinds = [...]openKind{classWord: openRun, classMark: openRun, classSolo: openSolo, classSymbol: openSymbols}

// ends reports whether a rune of a class ends the open word. This is the rule for splitting text
// into words.
func (k openKind) ends(class int) bool {
	switch k {
	case openNone:
		return false
	case openSymbols:
		return class != classSymbol
	}
	return class != classMark && (class != classWord || k != openRun)
}

// symbolEnd is hashed after the bytes of a word that contains other characters than letters, marks
// and numbers. It occurs in no other word, and makes sure that such a word does not end in a zero
// byte, which the hash would ignore.
const symbolEnd = 0xff

// Bounds yields the bounds of the words of text in order, as they are used for shingles. symbols
// says whether runs of symbols are words.
func Bounds(text []byte, symbols bool) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		if !symbols {
			var b bare
			if b.take(Hasher{}, text, true); !b.wordy {
				if b.hasWord() {
					yield(b.start, b.end)
				}
				return
			}
		}
		start, open := 0, openNone
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRune(text[i:])
			class, _ := property(r)
			if class == classOther && symbols && !unicode.IsSpace(r) {
				class = classSymbol
			}
			if open.ends(class) {
				if !yield(start, i) {
					return
				}
				open = openNone
			}
			if class != classOther && open == openNone {
				start, open = i, openKinds[class]
			}
			i += size
		}
		if open != openNone {
			yield(start, len(text))
		}
	}
}

// Wordy reports whether a text has a letter or a number. A text without any has no real words,
// unless symbols are words; Bounds yields the text itself.
func Wordy(text []byte) bool {
	var b bare
	b.take(Hasher{}, text, true)
	return b.wordy
}

// Split yields the words of text in lower case and in order, as they are used for shingles.
func Split(text string, symbols bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range Bounds(unsafe.Slice(unsafe.StringData(text), len(text)), symbols) { // the bytes are only read
			if !yield(Lower(text[start:end])) {
				return
			}
		}
	}
}

// Count returns the number of words in text, but at most most.
func Count(text []byte, symbols bool, most int) (n int) {
	for range Bounds(text, symbols) {
		if n++; n >= most {
			break
		}
	}
	return n
}

// Lower returns a word in lower case.
func Lower(word string) string { return string(AppendLower(nil, []byte(word))) }

// AppendLower appends a word in lower case. Bytes that are not UTF-8 become U+FFFD.
func AppendLower(dst, word []byte) []byte {
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		_, lower := property(r)
		dst = utf8.AppendRune(dst, lower)
		i += size
	}
	return dst
}

// Of returns the hash of a word from Split.
func (h Hasher) Of(word string) uint64 {
	for _, r := range word {
		if class, _ := property(r); class != classWord && class != classSolo && class != classMark {
			return h.Word(append([]byte(word), symbolEnd))
		}
	}
	return h.Word([]byte(word))
}
