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
	OwnWords bool // a text that is not token.Wordy has no words, where shingles have one of the whole text
	fields   int
	normal   normalizer
	word     []byte
}

// NewCutter returns the Cutter for a canonical spec.
func NewCutter(s Spec) *Cutter {
	return &Cutter{fields: max(len(s.Fields), 1), normal: newNormalizer(s)}
}

// Words calls fn for each word of text: in lower case and in the normal form of the spec, valid
// until fn returns, and where it is in text. Between the texts of two fields it calls fn with nil.
func (c *Cutter) Words(text []byte, fn func(word []byte, start, end int)) {
	base := 0
	for i, part := range c.Parts(text) {
		if i > 0 {
			fn(nil, base-1, base)
		}
		var t trace
		c.normal.trace = &t
		normal := c.normal.text(part)
		c.normal.trace = nil
		if !c.HasWords(normal) {
			normal = nil
		}
		for start, end := range token.Bounds(normal, c.normal.symbols) {
			c.word = token.AppendLower(c.word[:0], normal[start:end])
			start, end = t.origin(start, end)
			fn(c.word, base+start, base+end)
		}
		base += len(part) + 1
	}
}

// Parts returns the texts of the fields in the text of a document.
func (c *Cutter) Parts(text []byte) [][]byte { return bytes.SplitN(text, []byte{Separator}, c.fields) }

// HasWords reports whether a text may have words, given its normal form.
func (c *Cutter) HasWords(normal []byte) bool {
	return !c.OwnWords || c.normal.symbols || token.Wordy(normal)
}

// Normal returns a part as it is cut into words; valid until the next call.
func (c *Cutter) Normal(part []byte) []byte { return c.normal.text(part) }

// A trace is what the steps of a normalizer have made of a text. A nil trace notes nothing.
type trace struct{ steps [][]piece }

// A piece of what a step made is the bytes from to on, up to the next piece: the bytes from from on
// of the text before it, the same ones or others. The last piece of a step has no bytes.
type piece struct {
	to, from int
	same     bool
}

func (t *trace) begin() {
	if t != nil {
		t.steps = append(t.steps, nil)
	}
}

// note notes the next piece of the step.
func (t *trace) note(to, from int, same bool) {
	if t != nil {
		step := &t.steps[len(t.steps)-1]
		*step = append(*step, piece{to, from, same})
	}
}

// undo forgets the step.
func (t *trace) undo() {
	if t != nil {
		t.steps = t.steps[:len(t.steps)-1]
	}
}

// origin returns where the bytes [start, end) come from.
func (t *trace) origin(start, end int) (int, int) {
	for i := len(t.steps) - 1; i >= 0; i-- {
		step := t.steps[i]
		at := func(b int) int { // the piece that has byte b
			return sort.Search(len(step), func(i int) bool { return step[i].to > b }) - 1
		}
		first, last := step[at(start)], at(end-1)
		if start -= first.to; !first.same {
			start = 0
		}
		start += first.from
		if end += step[last].from - step[last].to; !step[last].same {
			end = step[last+1].from
		}
	}
	return start, end
}

// inFormByStretch is inForm for a trace. It brings stretches into the normal form one by one:
// between two of them no character combines with those before.
func (n *normalizer) inFormByStretch(text []byte) []byte {
	f, t := &n.form, n.trace
	n.trace = nil
	t.begin()
	dst, same := n.buffer[5][:0], false
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
		normal, before := n.inForm(text[i:end]), same
		if same = bytes.Equal(normal, text[i:end]); !same || !before {
			t.note(len(dst), i, same)
		}
		dst = append(dst, normal...)
		i = end
	}
	t.note(len(dst), len(text), false)
	n.buffer[5], n.trace = dst, t
	return dst
}
