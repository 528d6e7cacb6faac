package token

import (
	"iter"
	"unicode/utf8"
)

// openKind is the kind of the word that the Unicode path has begun and not ended.
type openKind uint8

const (
	openNone openKind = iota
	openRun           // a run of letters, marks and numbers
	openSolo          // a rune of a script without spaces, with its marks
)

// openKinds[class] is the kind of the word that a rune of the class begins.
var openKinds = [...]openKind{classWord: openRun, classMark: openRun, classSolo: openSolo}

// ends reports whether a rune of a class, which follows an open word, ends it: the rule by which
// text is cut into words.
func (k openKind) ends(class int) bool {
	return k != openNone && class != classMark && (class != classWord || k != openRun)
}

// SplitWords yields the words of text in lower case: those whose hashes Hasher.Words gives, in the
// same order.
func SplitWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var word []byte
		open := openNone
		for _, r := range text {
			class, lower := property(r)
			if open.ends(class) {
				if !yield(string(word)) {
					return
				}
				open = openNone
			}
			if class == classOther {
				continue
			}
			if open == openNone {
				open, word = openKinds[class], word[:0]
			}
			word = utf8.AppendRune(word, lower)
		}
		if open != openNone {
			yield(string(word))
		}
	}
}
