package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/records/inputs"
)

// Options are the options of a Collection; nil selects the defaults.
type Options struct {
	// Features select what Near, Jaccard, Contains and Within compare in Texts, as in a database.
	// Features of fields need texts made by engine.JoinFields.
	Features engine.Features
	Shingle  int // words or characters in a shingle of Texts; 0 means 3 words or 5 characters
	Bits     int // width of the fingerprints of Texts: 64 (also 0), 128, 192, ... up to 1024

	// Prefer compares two items like a function for slices.SortFunc: the lesser item becomes the
	// keeper. Among equally preferred items, and if Prefer is nil, the item with the lowest
	// number does.
	Prefer func(a, b int) int

	// Unordered makes Pairs yield pairs as it finds them instead of holding them in memory. That
	// order depends only on the items.
	Unordered bool

	// Memory is roughly how many bytes a call uses for the compared features, indexes and pairs;
	// 0 means 1 GiB. Sets and texts that do not fit are written to a temporary file in TempDir,
	// or in the system's folder if TempDir is empty. Fingerprints, and 20 to 50 bytes for each
	// item, always stay in memory.
	Memory  int64
	TempDir string

	Progress func(engine.Progress) // called now and then; may be nil
}

// A Collection is a list of items, numbered from 0, that Pairs and Clusters compare with each
// other. Every call reads the items again, so they must not change; any number of goroutines may
// call methods. The zero Collection is empty.
//
// The criteria that each kind of item supports:
//
//	                                Near  Jaccard, Contains, Within  Levenshtein, Cosine
//	Fingerprints, WideFingerprints  yes
//	Sets                                  yes
//	Texts                           yes   yes                        yes
//
// All results are exact: Jaccard(t) does not depend on Estimated. Contains(t) equals Within(t):
// the larger item has at least the share t of the smaller item's elements. An item without
// anything to compare, such as an empty set, matches nothing.
type Collection struct {
	o      Options
	what   string // the items, for messages
	can    func(corpus.Criterion) bool
	corpus func(context.Context, corpus.Criterion, *Options) (*corpus.Corpus, error)
}

// A Pair is two matching items, with A < B.
type Pair struct {
	A, B     int
	Distance int     // in bits, by Near
	Score    float64 // the similarity, by other criteria
}

// A Cluster is two or more items that belong together: the item to keep comes first, then the
// others by number.
type Cluster []Member

// A Member is an item of a Cluster, with its distance from or similarity to the item to keep.
type Member struct {
	Item     int
	Distance int     // in bits, by Near
	Score    float64 // the similarity, by other criteria
}

// Fingerprints returns a collection of 64-bit fingerprints.
func Fingerprints(words []uint64, o *Options) *Collection {
	c := newCollection("64-bit fingerprints", o, isNear)
	c.corpus = func(_ context.Context, by corpus.Criterion, _ *Options) (*corpus.Corpus, error) {
		if err := checkBits(by.K, 64); err != nil {
			return nil, err
		}
		return corpus.OfFingerprints(selfjoin.Columns{words}, func(int) bool { return false })
	}
	return c
}

// WideFingerprints returns a collection of fingerprints of one width. Each is a slice of 1 to 16
// words of 64 bits; an empty slice means that the item has no fingerprint.
func WideFingerprints(items [][]uint64, o *Options) *Collection {
	c := newCollection("fingerprints", o, isNear)
	c.corpus = func(_ context.Context, by corpus.Criterion, _ *Options) (*corpus.Corpus, error) {
		width := 0
		for i, item := range items {
			switch width = cmp.Or(width, len(item)); {
			case len(item) > base.MaxWords:
				return nil, fmt.Errorf("fingerprint %d has %d words; the limit is %d: %w", i, len(item), base.MaxWords, engine.ErrInvalid)
			case len(item) != 0 && len(item) != width:
				return nil, fmt.Errorf("fingerprint %d has %d words, but those before it have %d: %w", i, len(item), width, engine.ErrInvalid)
			}
		}
		if err := checkBits(by.K, 64*cmp.Or(width, base.MaxWords)); err != nil {
			return nil, err
		}
		columns := make(selfjoin.Columns, max(width, 1))
		for w := range columns {
			columns[w] = make([]uint64, len(items))
			for i, item := range items {
				if len(item) > 0 {
					columns[w][i] = item[w]
				}
			}
		}
		return corpus.OfFingerprints(columns, func(n int) bool { return len(items[n]) == 0 })
	}
	return c
}

// Sets returns a collection of sets. A set is a slice of its elements, such as hashes of words,
// in any order; duplicate elements count once.
func Sets(sets [][]uint64, o *Options) *Collection {
	c := newCollection("sets", o, func(by corpus.Criterion) bool { return by.Sets && !by.Measure.Kind.OfTexts() })
	c.corpus = func(ctx context.Context, by corpus.Criterion, o *Options) (_ *corpus.Corpus, err error) {
		bytes := int64(0)
		for _, set := range sets {
			bytes += int64(8 * len(set))
		}
		x := corpus.New(corpus.Options{Sets: true, Measure: by.Measure, Memory: o.Memory, InputBytes: bytes, Dir: o.TempDir})
		var elements []uint64
		for i, set := range sets {
			elements = elements[:0]
			for _, e := range set {
				elements = append(elements, scatter(e))
			}
			slices.Sort(elements)
			if err = x.Add(slices.Compact(elements), nil, 0); err == nil && i%4096 == 0 {
				err = context.Cause(ctx)
			}
			if err != nil {
				return nil, errors.Join(err, x.Close())
			}
		}
		return x, nil
	}
	return c
}

// scatter is a bijection that gives e the bits of a hash, as the join of sets expects: without
// it, joining 300,000 sets of 50 small numbers took six times as long.
func scatter(e uint64) uint64 {
	e = (e ^ e>>30) * 0xbf58476d1ce4e5b9
	e = (e ^ e>>27) * 0x94d049bb133111eb
	return e ^ e>>31
}

// Texts returns a collection of texts, such as slices.Values of strings. Each call reads the
// sequence once, and it must yield the same texts every time. Features apply to all criteria but
// Levenshtein and Cosine, which compare the texts as they are.
func Texts(texts iter.Seq[string], o *Options) *Collection {
	c := newCollection("texts", o, func(corpus.Criterion) bool { return true })
	c.corpus = func(ctx context.Context, by corpus.Criterion, o *Options) (*corpus.Corpus, error) {
		params, err := o.params()
		if err != nil {
			return nil, err
		}
		if err := checkBits(by.K, 64*max(params.Words, 1)); err != nil {
			return nil, err
		}
		a := textAdder{ctx: ctx, params: params, o: corpus.Options{
			Sets: by.Sets, Measure: by.Measure, Fingerprints: !by.Sets, Memory: o.Memory, Dir: o.TempDir,
		}}
		return a.all(texts)
	}
	return c
}

// params returns the parameters of the fingerprints and sets of texts.
func (o *Options) params() (features.Params, error) {
	compared := inputs.Compared{Shingle: o.Shingle, Bits: o.Bits, Features: o.Features}
	if o.Shingle == 0 && o.Features.Unit == "chars" {
		compared.Shingle = 5
	}
	p, _, err := paramsOf(compared)
	switch {
	case err != nil:
		return p, err
	case o.Features.Code != "" || o.Features.Several:
		return p, invalid("Features.Code and Features.Several do not apply to texts")
	}
	return p, nil
}

// A textAdder makes a corpus of texts. It reads ahead until it knows their total size, or that
// this is at least manyBytes: the corpus of a small input uses less memory.
type textAdder struct {
	ctx    context.Context
	params features.Params
	o      corpus.Options
	ahead  []string
	bytes  int64

	corpus *corpus.Corpus
	x      *corpus.Extractor
}

// From manyBytes on, a corpus needs no exact size of its input; unknownBytes stands for such a
// size.
const (
	manyBytes    = 8 << 20
	unknownBytes = 1 << 30
)

// all returns the corpus of the texts.
func (a *textAdder) all(texts iter.Seq[string]) (_ *corpus.Corpus, err error) {
	for text := range texts {
		if a.x == nil {
			a.ahead = append(a.ahead, text)
			if a.bytes += int64(len(text)); a.bytes >= manyBytes {
				err = a.begin(unknownBytes)
			}
		} else {
			err = a.x.Add(&engine.Doc{Text: text}, nil)
		}
		if err != nil {
			break
		}
	}
	if a.x == nil {
		err = a.begin(a.bytes)
	}
	defer a.x.Stop()
	if err == nil {
		err = a.x.Finish()
	}
	if err != nil {
		return nil, errors.Join(err, a.corpus.Close())
	}
	return a.corpus, nil
}

// begin creates the corpus and adds the texts that were read ahead.
func (a *textAdder) begin(bytes int64) (err error) {
	a.o.InputBytes = bytes
	a.corpus = corpus.New(a.o)
	a.x = corpus.NewExtractor(a.ctx, a.params, a.corpus)
	for _, text := range a.ahead {
		if err = a.x.Add(&engine.Doc{Text: text}, nil); err != nil {
			break
		}
	}
	a.ahead = nil
	return err
}
