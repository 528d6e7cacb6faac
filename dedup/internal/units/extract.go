package units

import (
	"context"
	"runtime"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pipeline"
)

// Options say which units are compared, and how.
type Options struct {
	Level    Level
	MinWords int           // a unit with fewer words is not compared
	Spec     features.Spec // canonical: what words are
	Anchors  *Anchors      // of passages
}

// Counts are what an Extractor has seen.
type Counts struct {
	Units int64 // of passages the words
	Short int64 // of them, with too few words
}

// Extractor splits documents into units, on all processors, and adds them to a Repeats in order. It
// serves one goroutine.
type Extractor struct {
	Counts  Counts // of the documents that have been added; complete after Finish
	batches pipeline.Batcher[batch]
	docs    uint32
}

// batch is some documents on their way.
type batch struct {
	first uint32 // number of the first document
	texts []string
	bytes int
	found []found
	grams []uint64 // anchors
	count Counts
}

// A batch is full when it has batchDocs documents, or batchBytes of text.
const (
	batchDocs  = 512
	batchBytes = 256 << 10
)

// NewExtractor returns an Extractor. Stop ends its goroutines. With to nil the anchors of passages
// are added to o.Anchors, which must be done before passages are added to a Repeats.
func NewExtractor(ctx context.Context, o Options, to *Repeats) *Extractor {
	x := &Extractor{}
	worker := func() func(*batch) error {
		if o.Level == Passage {
			p := newPassages(o, to != nil)
			return func(b *batch) error {
				if b.bytes > maxAhead {
					return nil
				}
				return p.extract(b)
			}
		}
		h := &hasher{least: o.MinWords, symbols: o.Spec.Symbols, normalize: o.Spec.Normalizer()}
		var spans []Span
		return func(b *batch) error {
			spans = b.extract(h, o.Level, spans)
			return nil
		}
	}
	large := newPassages(o, to != nil)
	large.to = to
	x.batches.Line = pipeline.New(runtime.GOMAXPROCS(0), worker, func(b *batch) error {
		if o.Level == Passage && b.bytes > maxAhead {
			if err := large.extract(b); err != nil {
				return err
			}
		}
		x.Counts.Units += b.count.Units
		x.Counts.Short += b.count.Short
		if to == nil {
			o.Anchors.add(b.grams)
		} else if err := to.add(b.found); err != nil {
			return err
		}
		b.texts, b.found, b.grams, b.count, b.bytes = b.texts[:0], b.found[:0], b.grams[:0], Counts{}, 0
		x.batches.Reuse(b)
		return context.Cause(ctx)
	})
	return x
}

// Stop ends the goroutines.
func (x *Extractor) Stop() { x.batches.Stop() }

// Add takes the text of the next document.
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

// Finish adds all that is under way. More documents may follow.
func (x *Extractor) Finish() error { return x.batches.Finish() }

// extract hashes the units of a batch. It returns spans, for the next batch.
func (b *batch) extract(h *hasher, level Level, spans []Span) []Span {
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
		}
	}
	clear(b.texts)
	return spans
}
