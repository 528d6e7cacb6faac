package learn

import (
	"fmt"
	"slices"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/worddiff"
)

// The conditions of rules.
type condition int

const (
	always     condition = iota
	numbers              // both texts have the same numbers
	dates                // both texts have the same dates
	unique               // the difference of the texts does not recur
	oneSided             // only one of the texts has words that the other one lacks
	conditions           // their number
)

// text writes a condition as a part of a rule, in parentheses if it is used with others.
func (c condition) text() string {
	return [conditions]string{"", "NUMBERS(a) = NUMBERS(b)", "DATES(a) = DATES(b)", "NOT DIFFERS(RECURRING)", "CONTAINS(tokens) >= 1"}[c]
}

// traits are what rules compare in the pair of documents number a and b.
type traits struct {
	a, b    int
	scores  []float64        // by measure
	facts   [conditions]bool // whether the condition holds; for unique see recursTo
	recurs  float64          // the greatest threshold of the first measure at which the difference recurs
	differs uint64           // the key of the difference
	weight  float64          // of a candidate: how many pairs of the corpus it stands for
}

// newTraits returns the measures and the function that compares two documents. It is fastest while
// the first document stays the same.
func newTraits(c *Corpus) (names []string, compare func(a, b int) *traits, err error) {
	type measure struct {
		unit    string // in rules
		of      features.Unit
		shingle int
	}
	base := measure{"words", "", c.params.Shingle}
	if c.params.Features.Unit == features.Chars {
		base.unit, base.of = "chars", features.Chars
	}
	all := []measure{base}
	for _, m := range []measure{{"words", "", 1}, {"chars", features.Chars, 3}} {
		if m != base {
			all = append(all, m)
		}
	}
	var hashers []*features.SetHasher
	for _, m := range all {
		spec := c.params.Features
		if spec.Unit = m.of; m.of == features.Chars {
			spec.RequireWords = nil
		}
		if spec, err = spec.Canonical(); err != nil {
			return nil, nil, err
		}
		hashers = append(hashers, features.NewSetHasher(spec, m.shingle, c.params.Seed))
		names = append(names, fmt.Sprintf("%s:%d", m.unit, m.shingle))
	}
	bags := [2]*worddiff.Bagger{worddiff.NewBagger(c.params.Features), worddiff.NewBagger(c.params.Features)}
	numbersOf, err := finder(features.MaskNumbers)
	if err != nil {
		return nil, nil, err
	}
	datesOf, err := finder(features.MaskDates)
	if err != nil {
		return nil, nil, err
	}
	return names, func(a, b int) *traits {
		one, other := c.docs[a].Text, c.docs[b].Text
		x := &traits{a: a, b: b}
		for _, h := range hashers {
			x.scores = append(x.scores, h.Jaccard(h.LastSet([]byte(one)), h.Brief([]byte(other))))
		}
		p, q := bags[0].Bag(one), bags[1].Bag(other)
		lacks, adds := worddiff.AppendDifference(nil, nil, p, q)
		x.differs, x.recurs = worddiff.Key(lacks, adds), c.recur.upTo(lacks, adds)
		p, q = slices.Compact(p), slices.Compact(q)
		onlyOne, onlyOther := worddiff.AppendDifference(nil, nil, p, q)
		x.facts = [conditions]bool{
			always: true, numbers: numbersOf(one) == numbersOf(other), dates: datesOf(one) == datesOf(other),
			unique: x.recurs == 0, oneSided: len(onlyOne) == 0 && len(p) <= len(q) || len(onlyOther) == 0 && len(q) <= len(p),
		}
		return x
	}, nil
}

// finder returns a function that writes the set of matches of a mask in a text in a canonical form.
func finder(mask string) (func(text string) string, error) {
	find, err := features.Finder(mask)
	return func(text string) string {
		var all []string
		find([]byte(text), func(match []byte) { all = append(all, string(match)) })
		slices.Sort(all)
		return fmt.Sprintf("%q", slices.Compact(all))
	}, err
}
