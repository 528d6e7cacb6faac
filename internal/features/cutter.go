package features

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// A Cutter splits texts into the words that shingles are made of. It reports their positions in the
// original texts, before normalisation and masks. Only one goroutine may use it at a time.
type Cutter struct {
	OwnWords bool // a text without letters and numbers has no words; for shingles, the whole text is one word
	fields   int
	normal   normalizer
	word     []byte
}

// NewCutter returns the Cutter for a canonical spec.
func NewCutter(s Spec) *Cutter {
	return &Cutter{fields: max(len(s.Fields), 1), normal: newNormalizer(s)}
}

// Words calls fn for each word of text, folded as the spec says, with its position in text. word is
// valid until fn returns. Between the texts of two fields it calls fn with nil.
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
		for start, end := range c.normal.rules.Bounds(normal) {
			c.word = c.normal.rules.AppendFolded(c.word[:0], normal[start:end])
			start, end = t.origin(start, end)
			fn(c.word, base+start, base+end)
		}
		base += len(part) + 1
	}
}

// Parts splits the text of a document into the texts of its fields.
func (c *Cutter) Parts(text []byte) [][]byte { return bytes.SplitN(text, []byte{Separator}, c.fields) }

// HasWords reports whether a text may have words, given its normal form.
func (c *Cutter) HasWords(normal []byte) bool {
	return !c.OwnWords || c.normal.rules.Symbols || c.normal.rules.Wordy(normal)
}

// Normal returns the normalised form of a part, from which words are cut. It is valid until the
// next call.
func (c *Cutter) Normal(part []byte) []byte { return c.normal.text(part) }

// A trace records how the steps of a normalizer have changed a text. A nil trace records nothing.
type trace struct{ steps [][]piece }

// A piece is a range of bytes in the result of a step: from offset to up to the next piece. It was
// made from the bytes at offset from of the step's input. same is true if the bytes are unchanged.
// The last piece of a step is empty.
type piece struct {
	to, from int
	same     bool
}

func (t *trace) begin() {
	if t != nil {
		t.steps = append(t.steps, nil)
	}
}

// note records the next piece of the step.
func (t *trace) note(to, from int, same bool) {
	if t != nil {
		step := &t.steps[len(t.steps)-1]
		*step = append(*step, piece{to, from, same})
	}
}

// undo removes the last step.
func (t *trace) undo() {
	if t != nil {
		t.steps = t.steps[:len(t.steps)-1]
	}
}

// origin returns the range of the original text that the bytes [start, end) come from.
func (t *trace) origin(start, end int) (int, int) {
	for i := len(t.steps) - 1; i >= 0; i-- {
		step := t.steps[i]
		at := func(b int) int { // index of the piece with byte b
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

// inFormByStretch is inForm with a trace. It normalises stretches one by one. Stretches begin where
// no character combines with earlier ones.
func (n *normalizer) inFormByStretch(text []byte) []byte {
	f, t := &n.folder, n.trace
	n.trace = nil
	t.begin()
	dst, same := n.buffer[5][:0], false
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRune(text[i:])
		end := i + size
		for end < len(text) && text[end] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[end:])
			if with, by := f.replace(r, 0); f.end.Properties(text[end:]).BoundaryBefore() && !(with == "" && by != 0) {
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
