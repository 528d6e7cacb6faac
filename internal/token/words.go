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

// Rules say which words a text has.
type Rules struct {
	Symbols bool // runs of symbols are words
	Version int  // of the tokenizer: 0 for the current one
}

// props returns the properties of runes by these rules.
func (r Rules) props() *props {
	if r.Version != 0 && r.Version < 3 {
		return version2
	}
	return version3
}

// Bounds yields the bounds of the words of text in order, as they are used for shingles.
func (rules Rules) Bounds(text []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		symbols, props := rules.Symbols, rules.props()
		if !symbols {
			b := bare{props: props}
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
			class, _ := props.of(r)
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
func (rules Rules) Wordy(text []byte) bool {
	b := bare{props: rules.props()}
	b.take(Hasher{}, text, true)
	return b.wordy
}

// Split yields the folded words of text in order, as they are used for shingles.
func (rules Rules) Split(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, end := range rules.Bounds(unsafe.Slice(unsafe.StringData(text), len(text))) { // the bytes are only read
			if !yield(rules.Fold(text[start:end])) {
				return
			}
		}
	}
}

// Count returns the number of words in text, but at most most.
func (rules Rules) Count(text []byte, most int) (n int) {
	for range rules.Bounds(text) {
		if n++; n >= most {
			break
		}
	}
	return n
}

// Fold returns the folded form of a word.
func (rules Rules) Fold(word string) string { return string(rules.AppendFolded(nil, []byte(word))) }

// AppendFolded appends the folded form of a word: by full case folding, or in version 2 in lower
// case. Bytes that are not UTF-8 become U+FFFD.
func (rules Rules) AppendFolded(dst, word []byte) []byte {
	props := rules.props()
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRune(word[i:])
		dst = props.append(dst, r)
		i += size
	}
	return dst
}

// Of returns the hash of a word from Split.
func (h Hasher) Of(word string) uint64 {
	for _, r := range word {
		if class, _ := version3.of(r); class != classWord && class != classSolo && class != classMark {
			return h.Word(append([]byte(word), symbolEnd))
		}
	}
	return h.Word([]byte(word))
}
