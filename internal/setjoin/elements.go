package setjoin

import (
	"slices"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/textsim"
	"github.com/simdb/simdb/internal/token"
)

// Elements makes the sets of texts for Edits and Cosine. The zero value is ready for use. It is
// not safe for concurrent use.
type Elements struct {
	Of      features.Spec // how texts are folded
	fold    *features.TextFolder
	runes   []byte // Edits: a text with its marks
	words   *token.Shingler
	counts  []uint64
	squares map[uint64]uint64
}

// Append appends the elements of a text to dst, by a measure other than Jaccard.
func (f *Elements) Append(dst []uint64, text string, m Measure) []uint64 {
	if f.Of.Fold != nil {
		if f.fold == nil {
			f.fold = f.Of.NewTextFolder()
		}
		text = string(f.fold.Fold([]byte(text)))
	}
	if m.Kind == Edits {
		return f.appendRuns(dst, text, m.Q)
	}
	return f.appendWords(dst, text)
}

// Changed returns the foldings that have changed a text.
func (f *Elements) Changed() features.Folds { return f.fold.Changed() }

func (f *Elements) appendWords(dst []uint64, text string) []uint64 {
	if f.words == nil {
		f.words, f.squares = token.New(token.Config{Shingle: 1, Version: f.Of.Version()}), map[uint64]uint64{}
	}
	f.counts = f.counts[:0]
	f.words.Text(text, (*wordList)(&f.counts))
	slices.Sort(f.counts)
	clear(f.squares)
	for i := 0; i < len(f.counts); {
		n := i
		for n < len(f.counts) && f.counts[n] == f.counts[i] {
			n++
		}
		f.squares[WordHash(f.counts[i])] += uint64(n-i) * uint64(n-i)
		i = n
	}
	from := len(dst)
	for hash, squares := range f.squares {
		dst = append(dst, WordElement(hash, squares))
	}
	slices.Sort(dst[from:])
	return dst
}

// wordList collects the hashes of words: it is a token.Sink.
type wordList []uint64

// Shingles appends shingles of one word.
func (l *wordList) Shingles(hashes []uint64) { *l = append(*l, hashes...) }

// appendRuns appends the hashes of a text's runs of q runes, one for each rune. It appends
// nothing for a blank text, which matches nothing.
func (f *Elements) appendRuns(dst []uint64, text string, q int) []uint64 {
	const runeBytes = 3 // marks have bytes that no rune has
	if textsim.Blank(text) {
		return dst
	}
	f.runes = f.runes[:0]
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		r++
		f.runes = append(f.runes, byte(r), byte(r>>8), byte(r>>16))
		i += n
	}
	f.runes = append(f.runes, make([]byte, runeBytes*(q-1))...)
	for i := 0; i+runeBytes*q <= len(f.runes); i += runeBytes {
		dst = append(dst, xxh3.Hash(f.runes[i:i+runeBytes*q]))
	}
	return dst
}
