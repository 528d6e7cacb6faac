// Package corpus holds the features by which documents of files are compared without a database:
// sets of shingle hashes, fingerprints, or both. It stores texts only if they are compared
// themselves. Data that does not fit into memory goes to a temporary file.
//
//	features.go      computes the features of documents
//	texts.go         texts that are compared themselves, by edit distance or as word vectors
//	corpus.go        the documents, by number
//	fingerprints.go  joins by fingerprint
//	classes.go       documents that are joined as one
//	search.go        a search for a few documents in all documents
//	contained.go     containment between two files
//	listing.go       documents with their ids
//	pairs.go         all pairs, in the order of engine.Reader.Pairs
//	clusters.go      all clusters, in the order of engine.Reader.Clusters
package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/vfs"
)

// Options select the features of a Corpus.
type Options struct {
	Sets         bool            // sets of shingle hashes
	Measure      setjoin.Measure // for Sets; a measure of texts compares texts, which are stored too
	Fingerprints bool            // fingerprints
	ScoresOnly   bool            // sets are not joined, only pairs are scored (setjoin.Sets.Scores)
	Memory       int64           // bytes for the whole run; the corpus uses up to half
	InputBytes   int64           // approximate total size of the documents
	Dir          string          // folder of the temporary file
}

// Corpus holds the features to compare: each document's set, or fingerprints, or both. Documents
// are numbered from 0 in the order of adding.
type Corpus struct {
	Sets         *setjoin.Sets    // nil if texts are not compared
	Fingerprints selfjoin.Columns // a column for each word; nil if fingerprints are not compared
	N            int64
	Textual      int64              // documents with a text
	Given        int64              // documents with their own fingerprint
	Groups       *collection.Groups // in a Listing: which documents may match
	empty        []uint64           // a bit for each document: it matches nothing
	ends         []uint32           // by document: the end of its fingerprints in Fingerprints; nil if each document has one
	sized        bool               // the number of words is known, since some document has a fingerprint
	measure      setjoin.Measure
	of           features.Spec // of the texts
	texts        *texts        // nil unless the measure compares texts
}

// New returns a corpus without documents. Close frees its file.
func New(o Options) *Corpus {
	c := &Corpus{}
	if o.Fingerprints {
		c.Fingerprints = selfjoin.Columns{nil}
	}
	if o.Sets {
		c.Sets = setjoin.NewSets(setjoin.SetsOptions{
			Measure:  o.Measure,
			Memory:   o.Memory / 4,
			NoJoin:   o.ScoresOnly,
			Counters: Counters(o.Memory, o.InputBytes),
			Create:   func() (setjoin.File, error) { return vfs.Temp(o.Dir, "sets-*") },
		})
	}
	if c.measure = o.Measure; o.Sets && o.Measure.Kind.OfTexts() {
		c.texts = &texts{memory: o.Memory / 8, create: func() (setjoin.File, error) { return vfs.Temp(o.Dir, "sets-*") }}
	}
	return c
}

// OfFingerprints returns a corpus of fingerprints, which retains prints: one for each document, all of
// the same width. Documents for which none returns true match nothing.
func OfFingerprints(prints selfjoin.Columns, none func(n int) bool) (*Corpus, error) {
	n := prints.Len()
	if int64(n) > selfjoin.MaxFingerprints {
		return nil, fmt.Errorf("more than %d fingerprints: %w", int64(selfjoin.MaxFingerprints), engine.ErrTooLarge)
	}
	c := &Corpus{Fingerprints: prints, N: int64(n), empty: make([]uint64, (n+63)/64), sized: true}
	for i := range n {
		if none(i) {
			c.drop(uint32(i))
		}
	}
	return c, nil
}

// Counters returns how many bytes the counters of elements may use in a run with that much
// memory.
func Counters(memory, input int64) int64 { return min(memory/2, max(input/8, 64<<10)) }

// CounterBytes returns how many bytes the counters of elements use while sets are added, in a run
// with that much memory.
func CounterBytes(memory, input int64) int64 { return setjoin.CounterBytes(Counters(memory, input)) }

// Close frees the temporary file.
func (c *Corpus) Close() error {
	if c.Sets == nil {
		return nil
	}
	return errors.Join(c.Sets.Close(), c.texts.close())
}

// Add adds a document given its features: the elements of its set, ascending, and the words of
// its fingerprints, whose number is prints. Features that the corpus does not hold are ignored.
func (c *Corpus) Add(elements, words []uint64, prints int) error {
	b := featured{docs: make([]engine.Doc, 1), hashes: elements, ends: []int{len(elements)}, words: []int{len(words)}}
	if c.Fingerprints != nil {
		b.prints, b.docs[0].Fingerprints = words, make([]engine.Fingerprint, prints)
	}
	b.empty = []bool{c.Fingerprints != nil && len(words) == 0 || c.Fingerprints == nil && len(elements) == 0}
	return c.store(&b)
}

// Each calls f with the features of each document, in order, in slices that it reuses.
func (c *Corpus) Each(f func(elements, words []uint64) error) (err error) {
	var elements, words []uint64
	var sets *setjoin.Reader
	if c.Sets != nil {
		sets = c.Sets.Reader()
	}
	for n := range uint32(c.N) {
		elements, words = elements[:0], words[:0]
		if sets != nil {
			if elements, err = sets.Append(elements, int(n)); err != nil {
				return err
			}
		}
		if c.Fingerprints != nil && !c.Empty(n) {
			for from, to := c.rows(n); from < to; from++ {
				for _, column := range c.Fingerprints {
					words = append(words, column[from])
				}
			}
		}
		if err := f(elements, words); err != nil {
			return err
		}
	}
	return nil
}

// addPrints adds the words of the next document's fingerprints, whose number is prints; words is
// empty if there is none. All fingerprints must be as wide as the first.
func (c *Corpus) addPrints(words []uint64, prints int) error {
	width := len(words) / prints
	for !c.sized && len(c.Fingerprints) < width {
		c.Fingerprints = append(c.Fingerprints, make([]uint64, len(c.Fingerprints[0])))
	}
	if len(words) > 0 && len(words) != prints*len(c.Fingerprints) {
		return fmt.Errorf("document %d has a fingerprint of %d bits, but those before it have %d: give fingerprints of one width; %s N sets the width for texts",
			c.N+1, 64*width, 64*len(c.Fingerprints), option.Name("Bits"))
	}
	if c.sized = c.sized || width > 0; width == 0 {
		words = make([]uint64, len(c.Fingerprints))
	}
	if c.ends == nil && prints > 1 {
		c.ends = []uint32{}
		for n := range uint32(c.N) {
			c.ends = append(c.ends, n+1)
		}
	}
	for ; len(words) > 0; words = words[len(c.Fingerprints):] {
		for w := range c.Fingerprints {
			c.Fingerprints[w] = append(c.Fingerprints[w], words[w])
		}
	}
	rows := c.Fingerprints.Len()
	if int64(rows) > selfjoin.MaxFingerprints {
		return fmt.Errorf("more than %d fingerprints", int64(selfjoin.MaxFingerprints))
	}
	if c.ends != nil {
		c.ends = append(c.ends, uint32(rows))
	}
	return nil
}

// rows returns the range of a document's fingerprints in Fingerprints. A document without any has one
// row with no meaning.
func (c *Corpus) rows(n uint32) (from, to uint32) {
	if c.ends == nil {
		return n, n + 1
	}
	if n > 0 {
		from = c.ends[n-1]
	}
	return from, c.ends[n]
}

// Distance returns the least distance between fingerprints of two documents.
func (c *Corpus) Distance(a, b uint32) int {
	fromA, toA := c.rows(a)
	fromB, toB := c.rows(b)
	least := 64 * len(c.Fingerprints)
	for i := fromA; i < toA; i++ {
		for j := fromB; j < toB; j++ {
			least = min(least, c.Fingerprints.Distance(i, j))
		}
	}
	return least
}

// drop makes document n match nothing.
func (c *Corpus) drop(n uint32) { c.empty[n/64] |= 1 << (n % 64) }

// Empty reports whether document n matches nothing. Fingerprints decide if the corpus has any,
// otherwise sets do.
func (c *Corpus) Empty(n uint32) bool { return c.empty[n/64]>>(n%64)&1 != 0 }

// EmptyFrom returns how many of the documents from n on match nothing.
func (c *Corpus) EmptyFrom(n int64) (count int64) {
	for ; n < c.N; n++ {
		if c.Empty(uint32(n)) {
			count++
		}
	}
	return count
}

// Judges returns a constructor of Judges for joins at a threshold, nil for a corpus without
// texts.
func (c *Corpus) Judges(ctx context.Context, t float64) func() setjoin.Judge {
	if c.texts == nil {
		return nil
	}
	text := func(i int, scratch *[]byte) ([]byte, error) { return c.texts.text(scratch, i) }
	return func() setjoin.Judge {
		return &setjoin.TextJudge{Ctx: ctx, Kind: c.measure.Kind, T: t, Of: c.of, Text: text}
	}
}

// Scores returns the similarity of each document with the given other one, 1 with itself.
func (c *Corpus) Scores(ctx context.Context, other []uint32) ([]float64, error) {
	if c.texts == nil {
		return c.Sets.Scores(ctx, other)
	}
	return setjoin.ScoresBy(ctx, other, c.Judges(ctx, math.SmallestNonzeroFloat64))
}
