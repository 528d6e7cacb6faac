// Package learn learns a rule of pairs from answers: labels that say whether two documents of a
// corpus are the same.
//
//	learn.go      the documents, and a lesson
//	pairs.go      pairs of documents that rules may decide in different ways
//	traits.go     what rules compare in a pair
//	recurring.go  differences in words that recur
//	choose.go     the rules, and how labels choose one
//	labels.go     files of labels
//
// Few labels decide little, so there are few rules: a similarity with a threshold, and at most one
// condition. All rules vote, each with the probability that it has after the labels (Bayes); a
// simple rule begins with a larger one. The votes also find the pair about which the rules disagree
// most, whose label says most (query by committee: Seung, Opper and Sompolinsky, COLT 1992).
package learn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/worddiff"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// A Label is an answer: whether the documents A and B are the same, so that one may be dropped.
type Label struct {
	A    string `json:"a"`
	B    string `json:"b"`
	Same bool   `json:"same"`

	Line int64 `json:"-"` // in its file, from 1
}

// Options are the options of a Corpus.
type Options struct {
	Features engine.Features // how texts are split into words
	Shingle  int             // words or characters in a shingle of the first measure; 0 is 3
	Seed     uint64          // another seed asks about other pairs
	Sample   int             // most documents that are compared; 0 is all
	Memory   int64           // bytes; half of them for texts. 0 is 1 GiB
}

// A Corpus holds documents and pairs that resemble each other. It is not safe for concurrent use.
type Corpus struct {
	Documents int64 // read; those that are compared are a sample of them

	o      Options
	params features.Params
	names  []string // of the measures, as in a rule
	docs   []engine.Doc
	at     map[string]int // by ID
	pairs  []*traits      // candidates
	recur  recurring
	traits func(a, b int) *traits
}

// Read reads the documents of files or of a database. If there are more than Options.Sample, it
// draws some, but those of labels are always among them. It returns an error for texts that need
// more than half of the memory.
func Read(ctx context.Context, env *inputs.Env, src *inputs.Sources, reading inputs.Reading, labels []Label, o Options) (*Corpus, error) {
	named := map[string]bool{}
	for _, l := range labels {
		named[l.A], named[l.B] = true, true
	}
	r, left := rand.New(rand.NewPCG(o.Seed, 1)), cmp.Or(o.Memory, 1<<30)/2
	var docs, drawn []engine.Doc
	n := int64(0)
	add := func(to []engine.Doc, d *engine.Doc) []engine.Doc {
		left -= int64(len(d.ID)+len(d.Text)) + 64
		return append(to, engine.Doc{ID: strings.Clone(d.ID), Text: strings.Clone(d.Text)})
	}
	reading.Stage = "read"
	reading.Record = func(_ records.Source, rec *records.Record) error {
		n++
		switch d := &rec.Doc; {
		case named[d.ID]:
			docs = add(docs, d)
		case o.Sample == 0 || len(drawn) < o.Sample:
			drawn = add(drawn, d)
		default:
			if i := r.Int64N(n); i < int64(o.Sample) {
				left += int64(len(drawn[i].ID)+len(drawn[i].Text)) + 64
				drawn = add(drawn, d)
				drawn[i], drawn = drawn[len(drawn)-1], drawn[:len(drawn)-1]
			}
		}
		if left < 0 {
			return fmt.Errorf("the texts of %d documents fill half of the memory of the run: compare fewer of them, or give more memory: %w", len(docs)+len(drawn), engine.ErrTooLarge)
		}
		return nil
	}
	if err := env.EachInput(ctx, src, reading); err != nil {
		return nil, err
	}
	c, err := New(ctx, append(docs, drawn...), o)
	if c != nil {
		c.Documents = n
	}
	return c, err
}

// New returns the corpus of documents, of which it uses the IDs and the texts. Of documents with
// the same ID, labels mean the first.
func New(ctx context.Context, docs []engine.Doc, o Options) (*Corpus, error) {
	spec, err := features.Spec(o.Features).Canonical()
	if err != nil {
		return nil, err
	}
	if features.IsGiven(spec.Unit) || spec.Unit == features.Own || spec.Fields != nil {
		return nil, fmt.Errorf("rules are learned for texts, not for given features or weighted fields: %w", engine.ErrInvalid)
	}
	c := &Corpus{Documents: int64(len(docs)), o: o, docs: docs, at: map[string]int{}, params: features.Params{Shingle: cmp.Or(o.Shingle, 3), Features: spec}}
	for i := range docs {
		if _, known := c.at[docs[i].ID]; !known {
			c.at[docs[i].ID] = i
		}
	}
	if c.names, c.traits, err = newTraits(c); err != nil {
		return nil, err
	}
	return c, c.findPairs(ctx)
}

// Compared returns the number of documents that are compared.
func (c *Corpus) Compared() int { return len(c.docs) }

// A Pair is two documents.
type Pair struct {
	A, B         string // IDs
	TextA, TextB string
	Lacks, Adds  string  // the words that only A has, and that only B has
	Score        float64 // Jaccard similarity of the shingles that options select
}

func (c *Corpus) pair(x *traits) Pair {
	a, b := &c.docs[x.a], &c.docs[x.b]
	lacks, adds := worddiff.Words(c.params.Features.Words(a.Text), c.params.Features.Words(b.Text))
	return Pair{a.ID, b.ID, a.Text, b.Text, lacks, adds, x.scores[0]}
}

// A Lesson is what labels teach.
type Lesson struct {
	Rule         string // in the language of dedup.PairRule
	Labels, Same int    // labels, and those that say so

	// Right is how many labels agree with the rule that the other labels choose: a cross-validation
	// in up to 20 parts. Low and High bound this agreement as a share, for 19 of 20 samples of labels
	// (Wilson 1927). Plain is Right for a threshold alone.
	Right, Plain int
	Low, High    float64

	Matches       float64 // about how many pairs of different texts match in the documents that are compared
	Drops, Spares []Pair  // pairs that the rule just matches, and those that it just does not match
	Wrong         []Label // labels that the rule does not agree with
	Threshold     string  // the threshold alone that the labels choose, as a rule
}

// Learn chooses a rule by labels, of which there must be at least one. An error names documents that
// the corpus does not have.
func (c *Corpus) Learn(labels []Label) (*Lesson, error) {
	all, err := c.examples(labels)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no labels: %w", engine.ErrInvalid)
	}
	best, plain := choose(shapesOf(len(c.names)), all), choose(plainShapes, all)
	l := &Lesson{Rule: c.rule(best), Labels: len(all), Threshold: c.rule(plain)}
	for i, x := range all {
		if x.same {
			l.Same++
		}
		if best.holds(x.traits) != x.same {
			l.Wrong = append(l.Wrong, labels[i])
		}
	}
	l.Right = validate(shapesOf(len(c.names)), all, c.o.Seed)
	l.Plain = validate(plainShapes, all, c.o.Seed)
	l.Low, l.High = wilson(l.Right, len(all))
	c.show(l, best)
	return l, nil
}

// examples returns the pairs of labels.
func (c *Corpus) examples(labels []Label) (all []example, err error) {
	for _, l := range labels {
		a, oneKnown := c.at[l.A]
		b, otherKnown := c.at[l.B]
		if !oneKnown || !otherKnown {
			id := l.A
			if oneKnown {
				id = l.B
			}
			return nil, &UnknownError{id, l.Line}
		}
		all = append(all, example{c.traits(a, b), l.Same})
	}
	return all, nil
}

// An UnknownError is about a label of a document that the corpus does not have.
type UnknownError struct {
	ID   string
	Line int64 // of the label; 0 if unknown
}

// Error names the document.
func (e *UnknownError) Error() string { return fmt.Sprintf("there is no document %q", e.ID) }

// shown is the number of examples on each side of a rule.
const shown = 5

// show sets examples of both sides of a rule.
func (c *Corpus) show(l *Lesson, best fitted) {
	var drops, spares []*traits
	for _, x := range c.pairs {
		if best.holds(x) {
			l.Matches += x.weight
			drops = append(drops, x)
		} else {
			spares = append(spares, x)
		}
	}
	near := func(x, y *traits) int {
		far := func(x *traits) float64 { return math.Abs(x.scores[best.measure] - best.t) }
		return cmp.Or(cmp.Compare(far(x), far(y)), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	}
	take := func(from []*traits) (pairs []Pair) {
		slices.SortFunc(from, near)
		used := map[int]bool{}
		for _, x := range from {
			if len(pairs) < shown && !used[x.a] && !used[x.b] {
				used[x.a], used[x.b] = true, true
				pairs = append(pairs, c.pair(x))
			}
		}
		return pairs
	}
	l.Drops, l.Spares = take(drops), take(spares)
}
