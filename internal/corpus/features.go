package corpus

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/setjoin"
)

// hasher computes the features of documents with the parameters of the run; all sets and
// fingerprints of files come from it. It is not safe for concurrent use.
type hasher struct {
	coded    bool // texts have no fingerprints: features.Spec.Code
	sets     *features.SetHasher
	prints   *features.Fingerprinter
	elements setjoin.Elements
}

func newHasher(p features.Params) *hasher {
	return &hasher{coded: p.Features.Code != "", sets: p.NewSetHasher(), prints: features.NewFingerprinter(p), elements: setjoin.Elements{Of: p.Features}}
}

// appendPrint appends the words of a document's fingerprint to dst. It appends nothing if the
// document has neither words nor a given fingerprint.
func (f *hasher) appendPrint(dst []base.Fingerprint, d *engine.Doc) []base.Fingerprint {
	if d.Fingerprints != nil {
		return append(dst, d.Fingerprints[0]...)
	}
	if f.coded {
		return dst
	}
	if r := f.prints.Text(d.Text); !r.Empty {
		dst = append(append(dst, r.Fingerprint), r.Rest...)
	}
	return dst
}

// featured is a batch of documents on its way to the goroutine that stores their features.
type featured struct {
	docs   []engine.Doc
	salts  []uint64 // salts of the documents' groups
	bytes  int      // of texts
	hashes []uint64
	ends   []int              // ends of the sets in hashes
	prints []base.Fingerprint // words of consecutive fingerprints
	words  []int              // by document: where the words of all its fingerprints end in prints
	empty  []bool             // by document: it matches nothing
	found  []located          // results of a Search
	other  int                // number of words of a fingerprint whose width differs from the Search's; else 0
	folded features.Folds     // foldings that have changed a text
}

// A batch is full when it has batchDocs documents, or batchBytes of text.
const (
	batchDocs  = 256
	batchBytes = 256 << 10
)

// Extractor computes features of documents on all processors, and passes them on in order. It is
// not safe for concurrent use.
type Extractor struct {
	batches pipeline.Batcher[featured]
	few     Brevity
	folded  features.Folds // foldings that have changed a text
	err     error          // documents cannot be added
}

// NewExtractor returns an Extractor that adds documents to a corpus. Stop ends its goroutines.
func NewExtractor(ctx context.Context, params features.Params, to *Corpus) *Extractor {
	to.of = params.Features
	prints := to.Fingerprints != nil // store may widen to.Fingerprints meanwhile
	x := newExtractor(ctx, func() func(*featured) {
		f := newHasher(params)
		return func(b *featured) { f.extract(b, to, prints) }
	}, to.store)
	if to.Sets != nil && to.texts == nil && params.Real() {
		if x.err = NoWeights(to.measure.Kind == setjoin.Contained); x.err == nil {
			to.measure.Kind = setjoin.Weighted
			to.Sets.Weigh()
		}
	}
	return x
}

// NoWeights returns an error if a job by this criterion compares features without weights.
func NoWeights(contained bool) error {
	if !contained {
		return nil
	}
	return fmt.Errorf("documents contain others by features without weights: leave out %s, and fractions in %s",
		option.Name("Weights"), option.Name("Fields"))
}

// newExtractor returns an Extractor: each worker goroutine calls worker for its own function, and
// another goroutine stores the batches.
func newExtractor(ctx context.Context, worker func() func(*featured), store func(*featured) error) *Extractor {
	x := &Extractor{}
	work := func() func(*featured) error {
		extract := worker()
		return func(b *featured) error {
			extract(b)
			return nil
		}
	}
	x.batches.Line = pipeline.New(runtime.GOMAXPROCS(0), work, func(b *featured) error {
		if err := store(b); err != nil {
			return err
		}
		x.folded |= b.folded
		x.reuse(b)
		return ctx.Err()
	})
	return x
}

// Stop ends the goroutines.
func (x *Extractor) Stop() { x.batches.Stop() }

// Add adds the next document, whose group is the last one in groups. If documents must match only
// within a group, the sets of different groups get different elements, so that a crowd of
// documents that may not match is never compared.
func (x *Extractor) Add(d *engine.Doc, groups *collection.Groups) error {
	if x.err != nil {
		return x.err
	}
	b := x.batches.Next()
	x.few.Add(d.Text)
	b.salts = append(b.salts, groups.Salt())
	b.docs = append(b.docs, engine.Doc{ID: d.ID, Text: d.Text, Fingerprints: d.Fingerprints})
	if b.bytes += len(d.Text); len(b.docs) < batchDocs && b.bytes < batchBytes {
		return nil
	}
	return x.batches.Send()
}

// reuse recycles the memory of a batch that was stored.
func (x *Extractor) reuse(b *featured) {
	clear(b.docs)
	b.docs, b.bytes, b.hashes, b.ends, b.prints, b.empty = b.docs[:0], 0, b.hashes[:0], b.ends[:0], b.prints[:0], b.empty[:0]
	b.found, b.words, b.salts, b.other = b.found[:0], b.words[:0], b.salts[:0], 0
	if cap(b.hashes) <= batchBytes && cap(b.found) <= batchBytes {
		x.batches.Reuse(b)
	}
}

// Few returns the counts of words in the texts that were added.
func (x *Extractor) Few() *Brevity { return &x.few }

// Idle returns which foldings of those that were given have changed no text.
func (x *Extractor) Idle(given []string) []string { return features.Idle(given, x.folded) }

// Finish stores all pending documents.
func (x *Extractor) Finish() error { return x.batches.Finish() }

// extract computes the features that a corpus needs for a batch: sets, fingerprints if prints is
// set, or both.
func (f *hasher) extract(b *featured, to *Corpus, prints bool) {
	for i := range b.docs {
		d := &b.docs[i]
		var empty bool
		if to.Sets != nil {
			before := len(b.hashes)
			if to.texts == nil {
				b.hashes = f.sets.Append(b.hashes, d.Text)
				salted(b.hashes[before:], b.salts[i], to.measure.Kind == setjoin.Weighted)
			} else {
				b.hashes = f.elements.Append(b.hashes, d.Text, to.measure)
			}
			b.ends = append(b.ends, len(b.hashes))
			empty = len(b.hashes) == before
		}
		if prints {
			before := len(b.prints)
			b.prints = f.appendPrint(b.prints, d)
			b.prints = append(b.prints, further(d)...)
			b.words = append(b.words, len(b.prints))
			empty = len(b.prints) == before
		}
		b.empty = append(b.empty, empty)
	}
	if b.folded |= f.elements.Changed(); to.texts == nil {
		b.folded |= f.sets.Changed() | f.prints.Changed()
	}
}

// further returns the words of all fingerprints of a document except the first.
func further(d *engine.Doc) []uint64 {
	if len(d.Fingerprints) < 2 {
		return nil
	}
	return slices.Concat(d.Fingerprints[1:]...)
}

// salted combines the elements of a set with a salt, unless it is 0.
func salted(set []uint64, salt uint64, weighted bool) {
	if salt == 0 {
		return
	}
	hashes := set
	if weighted {
		hashes = features.Weighted(set).Hashes()
	}
	for i := range hashes {
		hashes[i] ^= salt
	}
	if weighted {
		sort.Sort(features.Weighted(set))
		return
	}
	slices.Sort(set)
}

// store adds a batch of documents.
func (c *Corpus) store(b *featured) error {
	from, print := 0, 0
	for i := range b.docs {
		if c.N >= setjoin.MaxSets {
			return fmt.Errorf("more than %d documents", setjoin.MaxSets)
		}
		if c.Sets != nil {
			if err := c.Sets.Add(b.hashes[from:b.ends[i]]); err != nil {
				return err
			}
			from = b.ends[i]
		}
		if c.texts != nil {
			if err := c.texts.add(b.docs[i].Text); err != nil {
				return err
			}
		}
		if c.N%64 == 0 {
			c.empty = append(c.empty, 0)
		}
		if b.empty[i] {
			c.drop(uint32(c.N))
		}
		if c.Fingerprints != nil {
			if err := c.addPrints(b.prints[print:b.words[i]], max(1, len(b.docs[i].Fingerprints))); err != nil {
				return err
			}
			print = b.words[i]
		}
		if b.docs[i].Text != "" {
			c.Textual++
		}
		if fps := b.docs[i].Fingerprints; len(fps) > 0 && fps[0] != nil { // Add knows only their number
			c.Given++
		}
		c.N++
	}
	return nil
}

type located struct {
	at    int32 // the document, in the batch
	place int32
	bits  int32
	score float64
}
