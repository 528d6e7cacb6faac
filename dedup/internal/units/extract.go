package units

import (
	"context"
	"runtime"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pipeline"
)

// Options select the units, and how they are compared.
type Options struct {
	Level    Level
	MinWords int           // a unit with fewer words is not compared
	Spec     features.Spec // canonical: defines words
	Anchors  *Anchors      // for passages
	All      bool          // all occurrences are removed, the first one, too

	Seen    *Seen                             // not nil: receives the n-grams of units, instead of a Repeats
	Each    func(u Unit) error                // not nil: likewise
	Text    func(at Place, unit string) error // not nil: receives lines or paragraphs, instead of a Repeats
	Shingle int                               // words in an n-gram
	Seed    uint64
}

// Counts are the numbers of units that an Extractor has processed.
type Counts struct {
	Units int64 // for passages, words
	Short int64 // part of Units: those with too few words
}

// Extractor splits documents into units, on all processors, and adds them to a Repeats in order.
// It is not safe for concurrent use.
type Extractor struct {
	Counts  Counts // over the documents added so far; complete after Finish
	batches pipeline.Batcher[batch]
	docs    uint32
}

// batch is a group of documents in the pipeline.
type batch struct {
	first  uint32 // number of the first document
	texts  []string
	bytes  int
	found  []found
	grams  []uint64 // anchors, or n-grams
	pieces []piece  // the units that n-grams are of
	parts  []string // with Options.Text: the texts of found
	count  Counts
}

// A batch is full once it has batchDocs documents, or batchBytes of text.
const (
	batchDocs  = 512
	batchBytes = 256 << 10
)

// NewExtractor returns an Extractor. Stop ends its goroutines. If to is nil, it adds the anchors
// of passages to o.Anchors; this pass must precede the one that adds passages to a Repeats. With
// o.Seen, to has no effect.
func NewExtractor(ctx context.Context, o Options, to *Repeats) *Extractor {
	x := &Extractor{}
	worker := func() func(*batch) error {
		if o.Seen != nil || o.Each != nil {
			w := newGramWalker(o)
			return func(b *batch) error {
				w.extract(b)
				return nil
			}
		}
		if o.Level == Passage {
			p := newPassages(o, to != nil)
			return func(b *batch) error {
				if b.bytes > maxAhead {
					return nil
				}
				return p.extract(b)
			}
		}
		h := &hasher{least: o.MinWords, rules: o.Spec.Rules(), normalize: o.Spec.Normalizer()}
		var spans []Span
		return func(b *batch) error {
			spans = b.extract(h, o.Level, spans, o.Text != nil)
			return nil
		}
	}
	var large *passages
	if o.Level == Passage {
		large = newPassages(o, to != nil)
		large.to = to
	}
	x.batches.Line = pipeline.New(runtime.GOMAXPROCS(0), worker, func(b *batch) error {
		if o.Level == Passage && b.bytes > maxAhead {
			if err := large.extract(b); err != nil {
				return err
			}
		}
		x.Counts.Units += b.count.Units
		x.Counts.Short += b.count.Short
		var err error
		switch {
		case o.Seen != nil:
			err = o.Seen.add(b)
		case o.Each != nil:
			err = b.each(o.Each)
		case o.Text != nil:
			for i := 0; i < len(b.found) && err == nil; i++ {
				err = o.Text(b.found[i].at, b.parts[i])
			}
			clear(b.parts)
			b.parts = b.parts[:0]
		case to == nil:
			o.Anchors.add(b.grams)
		default:
			err = to.add(b.found)
		}
		if err != nil {
			return err
		}
		b.texts, b.found, b.grams, b.pieces, b.count, b.bytes = b.texts[:0], b.found[:0], b.grams[:0], b.pieces[:0], Counts{}, 0
		x.batches.Reuse(b)
		return context.Cause(ctx)
	})
	return x
}

// Stop ends the goroutines.
func (x *Extractor) Stop() { x.batches.Stop() }

// Add adds the text of the next document.
func (x *Extractor) Add(text string) error {
	b := x.batches.Next()
	if len(b.texts) == 0 {
		b.first = x.docs
	}
	b.texts = append(b.texts, text)
	x.docs++
	if b.bytes += len(text); len(b.texts) < batchDocs && b.bytes < batchBytes {
		return nil
	}
	return x.batches.Send()
}

// Finish processes all pending documents. More documents may follow.
func (x *Extractor) Finish() error { return x.batches.Finish() }

// extract hashes the units of a batch, and with texts lists them. It returns spans, for reuse by the
// next batch.
func (b *batch) extract(h *hasher, level Level, spans []Span, texts bool) []Span {
	for i, text := range b.texts {
		spans = Split(spans[:0], text, level)
		for n, s := range spans {
			sum, enough := h.hash(text[s.From:s.To])
			b.count.Units++
			if !enough {
				b.count.Short++
				continue
			}
			b.found = append(b.found, found{sum, At(b.first+uint32(i), uint32(n))})
			if texts {
				b.parts = append(b.parts, text[s.From:s.To])
			}
		}
	}
	clear(b.texts)
	return spans
}
