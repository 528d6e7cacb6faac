package memindex

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/textsim"
)

// textBytes is the memory of a TextIndex per text.
const textBytes = 4 + 4 + 24 + 16

// A TextIndex finds the texts of a table that may be similar to one, by edit distance or by word
// counts. It compares signatures in memory (package textsim); the caller then compares the texts
// that it finds. The signatures are sorted by length, so that a search by edit distance compares
// only those of texts with about the same length: for a million titles, some hundred thousand
// signatures at a nanosecond each. A search by word counts compares all. The index is immutable:
// any number of goroutines may use it. GrowingTexts does the same for a memtable, in order of
// writing.
type TextIndex struct {
	docs  []uint32                // by length, then by number
	runes []uint32                // length of each text, ascending
	edit  []textsim.EditSignature // signature of each text
	words []textsim.WordSignature // signature of each text
}

// EachText calls fn for every document of a table with its text, in any order, until fn returns an
// error. The text is valid until fn returns.
type EachText func(ctx context.Context, fn func(doc uint32, text []byte) error) error

// BuildTexts returns the index of a table of n documents. It leaves out documents without text,
// which are similar to nothing.
func BuildTexts(ctx context.Context, of features.Spec, n uint32, each EachText) (*TextIndex, error) {
	signer := textsim.NewSigner(of)
	all := make([]textsim.Signature, n)
	x := &TextIndex{}
	err := each(ctx, func(doc uint32, text []byte) error {
		if all[doc] = signer.Sign(text); all[doc].Runes > 0 {
			x.docs = append(x.docs, doc)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(x.docs, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(all[a].Runes, all[b].Runes), cmp.Compare(a, b))
	})
	x.docs = slices.Clip(x.docs)
	x.runes, x.edit, x.words = make([]uint32, len(x.docs)), make([]textsim.EditSignature, len(x.docs)), make([]textsim.WordSignature, len(x.docs))
	for i, doc := range x.docs {
		x.runes[i], x.edit[i], x.words[i] = all[doc].Runes, all[doc].Edit, all[doc].Words
	}
	return x, nil
}

// Edit appends to dst the documents that may be similar by edit distance, and returns how many
// signatures it has compared.
func (x *TextIndex) Edit(dst []uint32, f *textsim.EditFilter) (docs []uint32, compared int) {
	from, _ := slices.BinarySearch(x.runes, uint32(f.Least))
	for from < len(x.runes) && int(x.runes[from]) <= f.Most {
		length := x.runes[from]
		n, _ := slices.BinarySearch(x.runes[from:], length+1)
		bound := f.Of(int(length))
		for i := from; i < from+n; i++ {
			if bound.May(&x.edit[i]) {
				dst = append(dst, x.docs[i])
			}
		}
		from, compared = from+n, compared+n
	}
	return dst, compared
}

// Cosine is Edit for word counts.
func (x *TextIndex) Cosine(dst []uint32, f *textsim.CosineFilter) (docs []uint32, compared int) {
	for i := range x.words {
		if f.May(&x.words[i]) {
			dst = append(dst, x.docs[i])
		}
	}
	return dst, len(x.words)
}
