package features

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/token"
)

// normalizer prepares texts for being split into words: it folds them, applies masks, and removes
// stop words.
type normalizer struct {
	folder
	rules  token.Rules
	masks  []mask
	stop   map[string]bool // nil if no words are removed
	trace  *trace          // of the current text; nil if none is recorded
	buffer [7][]byte
	word   []byte
}

// inForm returns words in their folded form.
func (s Spec) inForm(words []string) (normal []string) {
	n := normalizer{folder: newFolder(s)}
	for _, w := range words {
		normal = append(normal, string(n.folded([]byte(w))))
	}
	return normal
}

func newNormalizer(s Spec) normalizer {
	n := normalizer{folder: newFolder(s), rules: s.Rules()}
	n.masks, _ = compileMasks(s.Mask) // canonical masks cannot fail
	if s.StopWords != nil {
		n.stop = map[string]bool{}
		for _, w := range s.inForm(s.StopWords) {
			n.stop[n.rules.Fold(w)] = true
		}
	}
	return n
}

// active reports whether the normalizer changes any texts.
func (n *normalizer) active() bool { return n.on != 0 || n.masks != nil || n.stop != nil }

// Normalizer returns a function that prepares texts as s requires, or nil if texts stay unchanged.
// Only one goroutine may use it. Its results are valid until the next call.
func (s Spec) Normalizer() func(text []byte) []byte {
	n := newNormalizer(s)
	if !n.active() {
		return nil
	}
	return n.text
}

// text returns the prepared form of text, from which words are cut. The result is text itself, or
// is valid until the next call. Bytes that are not UTF-8 are unchanged.
func (n *normalizer) text(text []byte) []byte {
	text = n.folded(text)
	for i, m := range n.masks {
		b := &n.buffer[2+i%2]
		*b = m.appendMasked((*b)[:0], text, placeholder, n.trace)
		text = *b
	}
	if n.stop != nil {
		text = n.withoutStopWords(text)
	}
	return text
}

// folded returns the folded form of text.
func (n *normalizer) folded(text []byte) []byte {
	if n.on&foldHyphens != 0 {
		if start, _ := nextBreak(text, 0); start >= 0 {
			n.changed |= foldHyphens
			n.buffer[6] = mask(nextBreak).appendMasked(n.buffer[6][:0], text, "", n.trace)
			text = n.buffer[6]
		}
	}
	switch {
	case n.on == 0 || isASCII(text):
		return text
	case n.trace != nil:
		return n.inFormByStretch(text)
	}
	return n.inForm(text)
}

func (n *normalizer) inForm(text []byte) []byte {
	f := &n.folder
	if f.early {
		n.buffer[0] = f.appendReplaced(n.buffer[0][:0], text)
		text = n.buffer[0]
	}
	if by := n.on & (foldWidth | foldNFC) &^ n.changed; by != 0 && !f.end.IsNormal(text) {
		n.changed |= by
	}
	if f.late {
		n.buffer[1] = f.open.Append(n.buffer[1][:0], text...)
		n.buffer[0] = f.appendReplaced(n.buffer[0][:0], n.buffer[1])
		text = n.buffer[0]
	}
	if f.end.IsNormal(text) {
		return text
	}
	n.buffer[1] = f.end.Append(n.buffer[1][:0], text...)
	return n.buffer[1]
}

// withoutStopWords replaces each stop word in text by a space. If a text has only stop words, they
// are not removed, because the text would otherwise have no features.
func (n *normalizer) withoutStopWords(text []byte) []byte {
	dst, from, others := n.buffer[4][:0], 0, false
	n.trace.begin()
	for start, end := range n.rules.Bounds(text) {
		n.word = n.rules.AppendFolded(n.word[:0], text[start:end])
		if !n.stop[string(n.word)] {
			others = true
			continue
		}
		n.trace.note(len(dst), from, true)
		dst = append(dst, text[from:start]...)
		n.trace.note(len(dst), start, false)
		dst = append(dst, ' ')
		from = end
	}
	n.trace.note(len(dst), from, true)
	n.buffer[4] = append(dst, text[from:]...)
	n.trace.note(len(n.buffer[4]), len(text), false)
	if !others {
		n.trace.undo()
		return text
	}
	return n.buffer[4]
}

// isASCII reports whether text has only bytes of ASCII.
func isASCII(text []byte) bool {
	const highs = 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		if binary.LittleEndian.Uint64(text)&highs != 0 {
			return false
		}
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
