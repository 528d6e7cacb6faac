package token

import (
	"iter"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// openKind is the kind of the word that the Unicode path has begun and not ended.
type openKind uint8

const (
	openNone    openKind = iota
	openRun              // a run of letters, marks and numbers
	openSolo             // a rune of a script without spaces, with its marks
	openSymbols          // a run of symbols
)

// openKinds[class] is the kind of the word that a rune of the class begins.
var openKinds = [...]openKind{classWord: openRun, classMark: openRun, classSolo: openSolo, classSymbol: openSymbols}

// ends reports whether a rune of a class, which follows an open word, ends it: the rule by which
// text is cut into words.
func (k openKind) ends(class int) bool {
	switch k {
	case openNone:
		return false
	case openSymbols:
		return class != classSymbol
	}
	return class != classMark && (class != classWord || k != openRun)
}

// symbolEnd is hashed after the bytes of a word that is not made of letters, marks and numbers: no
// other word has it, and no such word ends in a zero byte, which the hash takes no notice of.
const symbolEnd = 0xff

// Bounds yields where the words of text start and end, in order: those whose hashes make shingles.
// symbols says whether runs of symbols are words.
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

// Wordy reports whether a text has a letter or a number. One that has none has no word of its own,
// without symbols; what Bounds yields of it is the text.
func Wordy(text []byte) bool {
	var b bare
	b.take(Hasher{}, text, true)
	return b.wordy
}

// Split yields the words of text in lower case: those whose hashes make shingles, in order.
func Split(text string, symbols bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range Bounds(unsafe.Slice(unsafe.StringData(text), len(text)), symbols) { // only read
			if !yield(Lower(text[start:end])) {
				return
			}
		}
	}
}

// Count returns how many words text has, at most that many.
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

// Of returns the hash of a word that Split yields.
func (h Hasher) Of(word string) uint64 {
	for _, r := range word {
		if class, _ := property(r); class != classWord && class != classSolo && class != classMark {
			return h.Word(append([]byte(word), symbolEnd))
		}
	}
	return h.Word([]byte(word))
}
