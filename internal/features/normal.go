package features

import (
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/simdb/simdb/internal/token"
)

// normalizer makes texts ready to be cut into words: it brings them into a normal form, masks what
// is to be alike, and leaves stop words out.
type normalizer struct {
	form    form
	masks   []mask
	stop    map[string]bool // nil: no words are left out
	symbols bool            // words may be symbols
	trace   *trace          // of the text that is made ready; nil: none is made
	buffer  [6][]byte
	word    []byte
}

// form is a normal form. Text that is ASCII is in all of them.
type form struct {
	any   bool
	end   norm.Form // of the result
	open  norm.Form // decomposed, where diacritics are removed
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
	n.masks, _ = compileMasks(s.Mask) // canonical, so there is no error
	if s.StopWords != nil {
		n.stop = map[string]bool{}
		for _, w := range s.inForm(s.StopWords) {
			n.stop[token.Lower(w)] = true
		}
	}
	return n
}

// active reports whether texts do not stay as they are.
func (n *normalizer) active() bool { return n.form.any || n.masks != nil || n.stop != nil }

// Normalizer returns a function for one goroutine that makes texts ready for s, or nil if they stay
// as they are. What it returns is valid until the next call.
func (s Spec) Normalizer() func(text []byte) []byte {
	n := newNormalizer(s)
	if !n.active() {
		return nil
	}
	return n.text
}

// text returns text as it is cut into words, which is text itself or valid until the next call.
// Bytes that are not UTF-8 stay as they are.
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

// withoutStopWords returns text with a space for each stop word. A text that has no other words
// keeps them: else it would be equal to nothing.
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

// appendWithout appends text without the runes that drop reports. Where diacritics are removed,
// letters that have no decomposition are folded.
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

// isInvisible reports the characters that show where a word may be broken or joined, and that
// texts of equal appearance differ by: the soft hyphen, those of no width, and the byte order mark.
func isInvisible(r rune) bool {
	switch r {
	case 0x00ad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff:
		return true
	}
	return false
}

// isDiacritic reports the marks of the blocks of combining diacritical marks, which letters of
// Latin, Greek, Cyrillic and other alphabets have. Marks that are vowels, as in the scripts of
// India, are in the blocks of their scripts.
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
