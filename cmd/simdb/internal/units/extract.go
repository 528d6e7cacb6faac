package units

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// Options say which units are compared, and how.
type Options struct {
	Level     Level
	MinWords  int                        // a unit with fewer words is not compared
	Normalize func() func([]byte) []byte // makes a function for one goroutine: features.Spec.Normalizer
}

// Counts are what an Extractor has seen.
type Counts struct {
	Units int64
	Short int64 // of them, with too few words
}

// Extractor splits documents into units, on all processors, and adds them to a Repeats in order. It
// serves one goroutine.
type Extractor struct {
	Counts  Counts // of the documents that have been added; complete after Finish
	o       Options
	to      *Repeats
	ctx     context.Context
	work    chan *batch
	queue   []*batch // in order; the oldest is added before another one is queued
	next    *batch
	docs    uint32
	workers sync.WaitGroup
}

// batch is some documents on their way.
type batch struct {
	first uint32 // number of the first document
	texts []string
	bytes int
	found []found
	count Counts
	done  chan struct{}
}

// A batch is full when it has batchDocs documents, or batchBytes of text.
const (
	batchDocs  = 512
	batchBytes = 256 << 10
)

// NewExtractor returns an Extractor. Stop ends its goroutines.
func NewExtractor(ctx context.Context, o Options, to *Repeats) *Extractor {
	n := runtime.GOMAXPROCS(0)
	x := &Extractor{o: o, to: to, ctx: ctx, work: make(chan *batch, 2*n)}
	for range n {
		x.workers.Go(func() {
			h := &hasher{least: o.MinWords}
			if o.Normalize != nil {
				h.normalize = o.Normalize() // may be nil
			}
			var spans []Span
			for b := range x.work {
				spans = b.extract(h, o.Level, spans)
				close(b.done)
			}
		})
	}
	return x
}

// Stop ends the goroutines.
func (x *Extractor) Stop() {
	close(x.work)
	x.workers.Wait()
}

// Add takes the text of the next document.
func (x *Extractor) Add(text string) error {
	if x.next == nil {
		x.next = &batch{first: x.docs, done: make(chan struct{})}
	}
	b := x.next
	b.texts = append(b.texts, text)
	x.docs++
	if b.bytes += len(text); len(b.texts) < batchDocs && b.bytes < batchBytes {
		return nil
	}
	return x.send()
}

// send sends the batch to the workers, and adds the oldest one if enough are under way.
func (x *Extractor) send() error {
	x.queue = append(x.queue, x.next)
	x.work <- x.next // there is room: no more are queued than it holds
	x.next = nil
	if len(x.queue) < cap(x.work) {
		return nil
	}
	return x.take()
}

// take adds the units of the oldest batch.
func (x *Extractor) take() error {
	b := x.queue[0]
	x.queue = slices.Delete(x.queue, 0, 1)
	<-b.done
	x.Counts.Units += b.count.Units
	x.Counts.Short += b.count.Short
	if err := x.to.add(b.found); err != nil {
		return err
	}
	return context.Cause(x.ctx)
}

// Finish adds all that is under way.
func (x *Extractor) Finish() error {
	if x.next != nil {
		if err := x.send(); err != nil {
			return err
		}
	}
	for len(x.queue) > 0 {
		if err := x.take(); err != nil {
			return err
		}
	}
	return nil
}

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
	b.texts = nil
	return spans
}
