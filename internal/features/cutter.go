package features

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/token"
)

// A Cutter cuts texts into the words that shingles of words are made of, and knows where they are
// in the texts as they were given, before normal forms and masks. It serves one goroutine.
type Cutter struct {
	spec   Spec
	normal normalizer
	steps  [][]piece // from the text as it is to what is cut into words
	word   []byte
}

// A piece of a text is what a piece of the text before a step of the normalizer has become: the
// bytes from to on, up to the next piece, were those from from on, and are the same ones or others.
type piece struct {
	to, from int
	same     bool
}

// NewCutter returns the Cutter for a canonical spec.
func NewCutter(s Spec) *Cutter { return &Cutter{spec: s, normal: newNormalizer(s)} }

// Words calls fn for each word of text: in lower case and in the normal form of the spec, valid
// until fn returns, and where it is in text. Between the texts of two fields it calls fn with nil.
func (c *Cutter) Words(text []byte, fn func(word []byte, start, end int)) {
	base := 0
	for i, part := range c.Parts(text) {
		if i > 0 {
			fn(nil, base-1, base)
		}
		c.words(part, base, fn)
		base += len(part) + 1
	}
}

// Parts returns the texts of the fields in the text of a document.
func (c *Cutter) Parts(text []byte) [][]byte {
	return bytes.SplitN(text, []byte{Separator}, max(len(c.spec.Fields), 1))
}

// Normal returns a part as it is cut into words; valid until the next call.
func (c *Cutter) Normal(part []byte) []byte { return c.normal.text(part) }

// words calls fn for each word of a part, which begins at base.
func (c *Cutter) words(part []byte, base int, fn func(word []byte, start, end int)) {
	n := &c.normal
	c.steps = c.steps[:0]
	text := part
	if n.form.any && !isASCII(text) {
		text = c.inForm(text)
	}
	for _, m := range n.masks {
		text = c.masked(m, text)
	}
	symbols, stop := c.spec.Symbols, n.stop
	if stop != nil && c.allStop(text) {
		stop = nil // a text that has no others keeps them
	}
	for start, end := range token.Bounds(text, symbols) {
		c.word = token.AppendLower(c.word[:0], text[start:end])
		if stop[string(c.word)] {
			continue
		}
		for i := len(c.steps) - 1; i >= 0; i-- {
			start, end = origin(c.steps[i], start, end)
		}
		fn(c.word, base+start, base+end)
	}
}

// allStop reports whether text has stop words alone.
func (c *Cutter) allStop(text []byte) bool {
	for start, end := range token.Bounds(text, c.spec.Symbols) {
		c.word = token.AppendLower(c.word[:0], text[start:end])
		if !c.normal.stop[string(c.word)] {
			return false
		}
	}
	return true
}

// origin returns what the bytes [start, end) were before a step.
func origin(step []piece, start, end int) (int, int) {
	at := func(b int) int { // the piece that has byte b
		return sort.Search(len(step), func(i int) bool { return step[i].to > b }) - 1
	}
	first, last := step[at(start)], at(end-1)
	if start -= first.to; !first.same {
		start = 0
	}
	if step[last].same {
		return first.from + start, step[last].from + end - step[last].to
	}
	return first.from + start, step[last+1].from // a step ends in a piece of no bytes
}

// inForm is normalizer.inForm as a step. It brings stretches into the normal form one by one:
// between two of them no character combines with those before.
func (c *Cutter) inForm(text []byte) []byte {
	var dst []byte
	var step []piece
	f := &c.normal.form
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRune(text[i:])
		end := i + size
		for end < len(text) && text[end] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[end:])
			if f.end.Properties(text[end:]).BoundaryBefore() && !(f.nfkc && isInvisible(r)) {
				break
			}
			end += size
		}
		normal := text[i:end]
		if len(normal) > 1 {
			normal = c.normal.inForm(normal)
		}
		p := piece{len(dst), i, bytes.Equal(normal, text[i:end])}
		if last := len(step) - 1; !p.same || last < 0 || !step[last].same {
			step = append(step, p)
		}
		dst = append(dst, normal...)
		i = end
	}
	return c.step(dst, append(step, piece{len(dst), len(text), false}))
}

// masked is mask.appendMasked as a step.
func (c *Cutter) masked(m mask, text []byte) []byte {
	var dst []byte
	var step []piece
	for at := 0; ; {
		start, end := m(text, at)
		step = append(step, piece{len(dst), at, true})
		if start < 0 {
			dst = append(dst, text[at:]...)
			return c.step(dst, append(step, piece{len(dst), len(text), false}))
		}
		dst = append(dst, text[at:start]...)
		step = append(step, piece{len(dst), start, false})
		dst = append(dst, placeholder...)
		at = end
	}
}

// step notes the pieces that text was made of.
func (c *Cutter) step(text []byte, pieces []piece) []byte {
	c.steps = append(c.steps, pieces)
	return text
}
