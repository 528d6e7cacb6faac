package query

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
)

// A predicate is one condition on a document: a leaf of the expression. Those that can also list the documents that
// meet them are drivers; a query asks one driver, the cheapest that suffices, and tests the other predicates on what
// it yields.

// verdict is what a predicate says of one document.
type verdict struct {
	known bool // it has been asked
	holds bool
	match engine.Match // if it holds: Distance, or Score, Error and Exact
}

// measure is what a predicate contributes to a row.
type measure int

const (
	noMeasure measure = iota
	distanceMeasure
	scoreMeasure // an estimate, or exact: Match.Exact tells
	exactMeasure // shown as a score where no predicate has a scoreMeasure
)

// order is the order in which rows come.
type order int

const (
	anyOrder   order = iota
	byID             // by id
	byDistance       // by distance, then id
	byScore          // by score downwards, then id
)

// predicate is a leaf of the expression.
type predicate interface {
	// judge decides for one document.
	judge(x *run, c *candidate) (verdict, error)
	// measures says what its verdicts carry.
	measures() measure
	// testCost ranks what judge costs.
	testCost() int
	// String writes it as the language does.
	String() string
}

// driver is a predicate that can list the documents that meet it.
type driver interface {
	predicate
	// drive yields the documents as they are asked for, with the verdict on each.
	drive(x *run, a asked) iter.Seq2[found, error]
	// cost estimates the nanoseconds that takes, to choose by.
	cost(x *run) float64
	// order is the order in which drive yields them if that is asked for.
	order() order
	// explain writes how the documents are found, a line a step.
	explain(x *run) []string
}

// verifier is a predicate whose scores VERIFY recomputes on the texts.
type verifier interface{ verify() }

// Ranks of what testing one document costs.
const (
	testID    = iota // the id at hand
	testEntry        // an entry
	testSet          // a set to compute once
	testText         // a text
)

// found is a document that a driver found.
type found struct {
	id    string
	entry *engine.Entry // if the driver has it at hand
	verdict
}

// candidate is a document while it is tested. What must be fetched for it is fetched once, when it is asked for.
type candidate struct {
	id       string
	entry    *engine.Entry
	doc      *engine.Doc
	verdicts []verdict // by number of the predicate
}

// errGone says that a document can't be read though a driver found it: it expired in between.
var errGone = errors.New("the document is gone")

func (c *candidate) getEntry(x *run) (*engine.Entry, error) {
	if c.entry == nil {
		e, err := x.snap.Lookup(x.ctx, c.id)
		if errors.Is(err, engine.ErrNotFound) {
			return nil, errGone
		} else if err != nil {
			return nil, err
		}
		c.entry = &e
	}
	return c.entry, nil
}

func (c *candidate) getDoc(x *run) (*engine.Doc, error) {
	if c.doc == nil {
		d, err := x.snap.Get(x.ctx, c.id)
		if errors.Is(err, engine.ErrNotFound) {
			return nil, errGone
		} else if err != nil {
			return nil, err
		}
		c.doc = &d
	}
	return c.doc, nil
}

// nearPredicate is NEAR(target, k).
type nearPredicate struct {
	target target
	k      int
}

func (p *nearPredicate) judge(x *run, c *candidate) (verdict, error) {
	if !p.target.hasFingerprint || c.id == p.target.self {
		return verdict{}, nil
	}
	e, err := c.getEntry(x)
	if err != nil {
		return verdict{}, err
	}
	d := bits.OnesCount64(e.Fingerprint ^ p.target.fingerprint)
	return verdict{holds: e.HasFingerprint && d <= p.k, match: engine.Match{ID: c.id, Distance: d}}, nil
}

// list yields the documents, and perhaps p.target.self.
func (p *nearPredicate) list(x *run, a asked) iter.Seq2[engine.Match, error] {
	switch {
	case !a.ordered:
		return x.snap.NearUnordered(x.ctx, p.target.fingerprint, p.k)
	case a.first > 0 && a.first < math.MaxInt:
		return x.snap.NearFirst(x.ctx, p.target.fingerprint, p.k, a.first+1)
	}
	return x.snap.Near(x.ctx, p.target.fingerprint, p.k)
}

func (p *nearPredicate) count(x *run) (int64, error) {
	if !p.target.hasFingerprint {
		return 0, nil
	}
	n, err := x.snap.CountNear(x.ctx, p.target.fingerprint, p.k)
	if p.target.self != "" {
		n-- // it finds itself
	}
	return n, err
}

func (p *nearPredicate) drive(x *run, a asked) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		if !p.target.hasFingerprint {
			return
		}
		for m, err := range p.list(x, a) {
			if err == nil && m.ID == p.target.self {
				continue
			}
			if !yield(found{id: m.ID, verdict: verdict{known: true, holds: true, match: m}}, err) || err != nil {
				return
			}
		}
	}
}

func (p *nearPredicate) cost(x *run) float64 {
	if !p.target.hasFingerprint {
		return 0
	}
	return x.nearCost(p.target.fingerprint, p.k)
}

func (p *nearPredicate) explain(x *run) []string {
	if !p.target.hasFingerprint {
		return []string{finding(p) + matchesNothing}
	}
	plan, err := x.snap.PlanNear(p.target.fingerprint, p.k)
	return describeParts(finding(p), plan.Parts, err)
}

func (p *nearPredicate) testCost() int     { return testEntry }
func (p *nearPredicate) measures() measure { return distanceMeasure }
func (p *nearPredicate) order() order      { return byDistance }

// String writes the predicate as the language does.
func (p *nearPredicate) String() string { return fmt.Sprintf("NEAR(%s, %d)", p.target.label, p.k) }

// nearestPredicate is NEAREST(target, n). It depends on all documents, and is decided for all at once when it is first
// needed.
type nearestPredicate struct {
	target target
	n      int

	computed bool
	matches  []engine.Match
	byID     map[string]int // index into matches
}

func (p *nearestPredicate) compute(x *run) error {
	if p.computed {
		return nil
	}
	p.byID = make(map[string]int)
	for m, err := range p.list(x) {
		if err != nil {
			return err
		}
		if m.ID == p.target.self && m.ID != "" {
			continue
		}
		if len(p.matches) == p.n {
			break
		}
		if err := x.hold(matchBytes + len(m.ID)); err != nil {
			return err
		}
		p.byID[m.ID] = len(p.matches)
		p.matches = append(p.matches, m)
	}
	p.computed = true
	return nil
}

func (p *nearestPredicate) list(x *run) iter.Seq2[engine.Match, error] {
	if !p.target.hasFingerprint {
		return none(x.ctx)
	}
	ask := p.n
	if p.target.self != "" && ask < math.MaxInt {
		ask++ // it finds itself
	}
	return x.snap.Nearest(x.ctx, p.target.fingerprint, ask)
}

func (p *nearestPredicate) judge(x *run, c *candidate) (verdict, error) {
	if err := p.compute(x); err != nil {
		return verdict{}, err
	}
	i, ok := p.byID[c.id]
	if !ok {
		return verdict{}, nil
	}
	return verdict{holds: true, match: p.matches[i]}, nil
}

func (p *nearestPredicate) drive(x *run, _ asked) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		if err := p.compute(x); err != nil {
			yield(found{}, err)
			return
		}
		for _, m := range p.matches {
			if !yield(found{id: m.ID, verdict: verdict{known: true, holds: true, match: m}}, nil) {
				return
			}
		}
	}
}

func (p *nearestPredicate) cost(x *run) float64 {
	if !p.target.hasFingerprint {
		return 0
	}
	return 2 * x.nearCost(p.target.fingerprint, 8)
}

func (p *nearestPredicate) explain(*run) []string { return []string{finding(p)} }
func (p *nearestPredicate) testCost() int         { return testSet }
func (p *nearestPredicate) measures() measure     { return distanceMeasure }
func (p *nearestPredicate) order() order          { return byDistance }

// String writes the predicate as the language does.
func (p *nearestPredicate) String() string {
	return fmt.Sprintf("NEAREST(%s, %d)", p.target.label, p.n)
}

// none lists nothing: what a text without words matches.
func none(context.Context) iter.Seq2[engine.Match, error] {
	return func(func(engine.Match, error) bool) {}
}

// idInPredicate is ID = 'a' and ID IN ('a', 'b').
type idInPredicate struct {
	ids []string // sorted, each once
}

func (p *idInPredicate) judge(_ *run, c *candidate) (verdict, error) {
	_, ok := slices.BinarySearch(p.ids, c.id)
	return verdict{holds: ok}, nil
}

func (p *idInPredicate) drive(x *run, _ asked) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		for _, id := range p.ids {
			e, err := x.snap.Lookup(x.ctx, id)
			if errors.Is(err, engine.ErrNotFound) {
				continue
			}
			if !yield(found{id: id, entry: &e, verdict: verdict{known: true, holds: true}}, err) || err != nil {
				return
			}
		}
	}
}

func (p *idInPredicate) cost(*run) float64     { return 2000 * float64(len(p.ids)) }
func (p *idInPredicate) explain(*run) []string { return []string{finding(p)} }
func (p *idInPredicate) testCost() int         { return testID }
func (p *idInPredicate) measures() measure     { return noMeasure }
func (p *idInPredicate) order() order          { return byID }

// String writes the predicate as the language does.
func (p *idInPredicate) String() string {
	if len(p.ids) == 1 {
		return "ID = " + label(p.ids[0])
	}
	labels := make([]string, len(p.ids))
	for i, id := range p.ids {
		labels[i] = label(id)
	}
	return "ID IN (" + strings.Join(labels, ", ") + ")"
}

// likePredicate is ID LIKE 'a%'.
type likePredicate struct {
	*likePattern
}

func (p *likePredicate) judge(_ *run, c *candidate) (verdict, error) {
	return verdict{holds: p.match(c.id)}, nil
}

func (p *likePredicate) drive(x *run, a asked) iter.Seq2[found, error] {
	if p.exact && p.prefix != "" {
		return (&idInPredicate{ids: []string{p.prefix}}).drive(x, a)
	}
	return x.entries(a, p.prefix, func(e *engine.Entry) bool { return p.match(e.ID) })
}

func (p *likePredicate) cost(x *run) float64 {
	if p.exact {
		return 2000
	}
	return 150*x.documents() + 1
}

func (p *likePredicate) explain(x *run) []string {
	if p.exact {
		return []string{finding(p)}
	}
	return []string{finding(p) + x.allIDs()}
}

func (p *likePredicate) testCost() int     { return testID }
func (p *likePredicate) measures() measure { return noMeasure }
func (p *likePredicate) order() order      { return byID }

// String writes the predicate as the language does.
func (p *likePredicate) String() string { return "ID LIKE " + label(p.source) }

// sincePredicate is SINCE 2d: stored at that time or later.
type sincePredicate struct {
	since time.Time
}

func (p *sincePredicate) judge(x *run, c *candidate) (verdict, error) {
	e, err := c.getEntry(x)
	if err != nil {
		return verdict{}, err
	}
	return verdict{holds: !e.Time.Before(p.since)}, nil
}

func (p *sincePredicate) drive(x *run, a asked) iter.Seq2[found, error] {
	return x.entries(a, "", func(e *engine.Entry) bool { return !e.Time.Before(p.since) })
}

func (p *sincePredicate) cost(x *run) float64     { return 160*x.documents() + 2 }
func (p *sincePredicate) explain(x *run) []string { return []string{finding(p) + x.allIDs()} }
func (p *sincePredicate) testCost() int           { return testEntry }
func (p *sincePredicate) measures() measure       { return noMeasure }
func (p *sincePredicate) order() order            { return byID }

// String writes the predicate as the language does.
func (p *sincePredicate) String() string {
	return "SINCE '" + p.since.UTC().Format(time.RFC3339Nano) + "'"
}

// textPredicate is LEVENSHTEIN or COSINE: at least that similar to a text. It can't list documents.
type textPredicate struct {
	name      string
	target    target
	threshold float64
	// similar returns the similarity to the target's text if it is at least the threshold.
	similar func(ctx context.Context, text string) (float64, bool)
}

func (p *textPredicate) judge(x *run, c *candidate) (verdict, error) {
	if c.id == p.target.self {
		return verdict{}, nil
	}
	d, err := c.getDoc(x)
	if err != nil {
		return verdict{}, err
	}
	s, ok := p.similar(x.ctx, d.Text)
	return verdict{holds: ok, match: engine.Match{ID: c.id, Score: s, Exact: true}}, x.ctx.Err()
}

func (p *textPredicate) testCost() int     { return testText }
func (p *textPredicate) measures() measure { return exactMeasure }

// String writes the predicate as the language does.
func (p *textPredicate) String() string {
	return fmt.Sprintf("%s(%s, %g)", p.name, p.target.label, p.threshold)
}

// entries yields the documents whose id starts with prefix and that keep says yes to, by id if they are asked for in order.
func (x *run) entries(a asked, prefix string, keep func(*engine.Entry) bool) iter.Seq2[found, error] {
	list := x.snap.EntriesUnordered
	if a.ordered {
		list = x.snap.Entries
	}
	return func(yield func(found, error) bool) {
		listed := x.counting("list")
		for e, err := range list(x.ctx, prefix) {
			if err != nil {
				yield(found{}, err)
				return
			}
			listed()
			if keep(&e) && !yield(found{id: e.ID, entry: &e, verdict: verdict{known: true, holds: true}}, nil) {
				return
			}
		}
	}
}
