package features

import (
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/simdb/simdb/internal/token"
)

// normalizer prepares texts for being split into words: it applies a normal form and masks, and
// removes stop words.
type normalizer struct {
	form    form
	masks   []mask
	stop    map[string]bool // nil if no words are removed
	symbols bool            // runs of symbols are words
	trace   *trace          // of the current text; nil if none is recorded
	buffer  [6][]byte
	word    []byte
}

// form is a normal form. ASCII text is in all normal forms.
type form struct {
	any   bool
	end   norm.Form // form of the result
	open  norm.Form // decomposed form for removing diacritics
	nfkc  bool
	strip bool
}

func newForm(s Spec) form {
	f := form{any: s.Normalize != "" || s.StripDiacritics, end: norm.NFC, open: norm.NFD, nfkc: s.Normalize == NFKC, strip: s.StripDiacritics}
	if f.nfkc {
		f.end, f.open = norm.NFKC, norm.NFKD
	}
	return f
}

func (s Spec) inForm(words []string) (normal []string) {
	n := normalizer{form: newForm(s)}
	for _, w := range words {
		normal = append(normal, string(n.inForm([]byte(w))))
	}
	return normal
}

func newNormalizer(s Spec) normalizer {
	n := normalizer{form: newForm(s), symbols: s.Symbols}
	n.masks, _ = compileMasks(s.Mask) // canonical masks cannot fail
	if s.StopWords != nil {
		n.stop = map[string]bool{}
		for _, w := range s.inForm(s.StopWords) {
			n.stop[token.Lower(w)] = true
		}
	}
	return n
}

// active reports whether the normalizer changes any texts.
func (n *normalizer) active() bool { return n.form.any || n.masks != nil || n.stop != nil }

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
	text = n.inForm(text)
	for i, m := range n.masks {
		b := &n.buffer[2+i%2]
		*b = m.appendMasked((*b)[:0], text, n.trace)
		text = *b
	}
	if n.stop != nil {
		text = n.withoutStopWords(text)
	}
	return text
}

func (n *normalizer) inForm(text []byte) []byte {
	f := &n.form
	if !f.any || isASCII(text) {
		return text
	}
	if n.trace != nil {
		return n.inFormByStretch(text)
	}
	if f.nfkc {
		n.buffer[0] = f.appendWithout(n.buffer[0][:0], text, isInvisible)
		text = n.buffer[0]
	}
	if f.strip {
		n.buffer[1] = f.open.Append(n.buffer[1][:0], text...)
		n.buffer[0] = f.appendWithout(n.buffer[0][:0], n.buffer[1], isDiacritic)
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
	for start, end := range token.Bounds(text, n.symbols) {
		n.word = token.AppendLower(n.word[:0], text[start:end])
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

// appendWithout appends text without the runes for which drop returns true. If diacritics are
// removed, it also folds letters that have no decomposition.
func (f *form) appendWithout(dst, text []byte, drop func(rune) bool) []byte {
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			dst = append(dst, text[0])
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		letters := ""
		if f.strip {
			letters = folded(r)
		}
		switch {
		case letters != "":
			dst = append(dst, letters...)
		case size == 1 || !drop(r):
			dst = append(dst, text[:size]...)
		}
		text = text[size:]
	}
	return dst
}

// isInvisible reports whether a rune only shows where a word may be broken or joined, so that texts
// with and without it look the same: the soft hyphen, zero-width characters, and the byte order
// mark.
func isInvisible(r rune) bool {
	switch r {
	case 0x00ad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff:
		return true
	}
	return false
}

// isDiacritic reports whether a rune is in the blocks of combining diacritical marks, which Latin,
// Greek, Cyrillic and other letters have. Marks that are vowels, as in Indic scripts, are in the
// blocks of their scripts.
func isDiacritic(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff
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
