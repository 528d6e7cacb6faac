package units

import (
	"unsafe"

	"github.com/simdb/simdb/internal/features"
)

// A piece is a unit with its n-grams in a batch.
type piece struct {
	at    Place
	end   int  // of its n-grams
	short bool // it has too few words to be removed
}

// gramWalker finds the n-grams of the units of texts. It is not safe for concurrent use.
type gramWalker struct {
	walk  *features.Walker
	level Level
	spans []Span
	to    *batch
}

func newGramWalker(o Options) *gramWalker {
	if o.Level != Document {
		o.Spec.MinWords = o.MinWords
	}
	return &gramWalker{walk: features.NewWalker(o.Spec, o.Shingle, o.Seed), level: o.Level}
}

// Features implements features.Sink. Weights do not matter.
func (w *gramWalker) Features(hashes []uint64, _ float64) { w.to.grams = append(w.to.grams, hashes...) }

// extract finds the n-grams of a batch, in the order of the text. A document with too few words has
// no features, and so no n-grams; a short unit of another level has some, because it stays.
func (w *gramWalker) extract(b *batch) {
	w.to = b
	for i, text := range b.texts {
		if w.spans = append(w.spans[:0], Span{0, len(text)}); w.level != Document {
			w.spans = Split(w.spans[:0], text, w.level)
		}
		for n, s := range w.spans {
			before := len(b.grams)
			unit := text[s.From:s.To]
			_, enough := w.walk.Walk(unsafe.Slice(unsafe.StringData(unit), len(unit)), w) // the bytes are only read
			b.count.Units++
			if !enough {
				b.count.Short++
				if w.level == Document {
					b.grams = b.grams[:before]
				}
			}
			b.pieces = append(b.pieces, piece{At(b.first+uint32(i), uint32(n)), len(b.grams), !enough})
		}
	}
	clear(b.texts)
}
