package query

import (
	"errors"
	"fmt"
	"iter"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
)

// jaccardPredicate is JACCARD(target, t), by sketches or, with VERIFY, by texts. On its own, or as the driver, it lists the
// documents that the engine finds. Tested on what another driver finds, it compares document by document while these are
// few; when they become many it asks the engine for all that hold.
type jaccardPredicate struct {
	target target
	by     engine.Criterion
	empty  bool // the target has no words: nothing holds

	scorer *engine.Scorer
	scored int // documents compared
	all    map[string]engine.Match
}

// manyScored is how many documents are compared one by one: about as much work as a search among some 100,000.
const manyScored = 64

func bindJaccard(x *run, e *call) (predicate, error) {
	share, err := x.values.share(e.Args[1].Value)
	if err != nil {
		return nil, err
	}
	if err := x.needSketches(e.Name); err != nil {
		return nil, err
	}
	t, err := x.sketchTarget(e.Args[0])
	if err != nil {
		return nil, err
	}
	p := &jaccardPredicate{target: t, by: engine.Jaccard(share)}
	if t.self == "" || t.doc.Text != "" {
		_, words := x.db.Fingerprint(t.doc.Text)
		p.empty = !words
	}
	return p, nil
}

// sketchTarget resolves an argument of JACCARD: a document's id, whose sketch is stored, or a text.
func (x *run) sketchTarget(a *argument) (target, error) {
	v, err := x.values.get(a.Value)
	if id, ok := v.(string); ok && err == nil && !a.Text {
		if _, err := x.snap.Lookup(x.ctx, id); err != nil {
			return target{}, x.lookupError(a.Value.Pos.Offset, id, err)
		}
		return target{doc: engine.Doc{ID: id}, self: id, label: label(id)}, nil
	}
	return x.textTarget("JACCARD", a)
}

// list yields the documents that hold, best first.
func (p *jaccardPredicate) list(x *run) iter.Seq2[engine.Match, error] {
	t, _ := p.by.Threshold()
	switch {
	case p.empty:
		return none(x.ctx)
	case p.by.IsVerified():
		return x.snap.JaccardVerified(x.ctx, p.target.doc, t)
	}
	return x.snap.Jaccard(x.ctx, p.target.doc, t)
}

func (p *jaccardPredicate) drive(x *run, _ asked) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		for m, err := range p.list(x) {
			if !yield(found{id: m.ID, verdict: verdict{known: true, holds: true, match: m}}, err) || err != nil {
				return
			}
		}
	}
}

func (p *jaccardPredicate) judge(x *run, c *candidate) (verdict, error) {
	if p.empty {
		return verdict{}, nil
	}
	if p.all == nil && p.scored >= manyScored {
		p.all = make(map[string]engine.Match)
		for m, err := range p.list(x) {
			if err != nil {
				return verdict{}, err
			}
			if err := x.hold(matchBytes + len(m.ID)); err != nil {
				return verdict{}, err
			}
			p.all[m.ID] = m
		}
	}
	if p.all != nil {
		m, holds := p.all[c.id]
		return verdict{holds: holds, match: m}, nil
	}
	if p.scorer == nil {
		var err error
		if p.scorer, err = x.snap.Scorer(x.ctx, p.target.doc, p.by); err != nil {
			return verdict{}, err
		}
	}
	p.scored++
	m, holds, err := p.scorer.Match(x.ctx, c.id)
	if errors.Is(err, engine.ErrNotFound) {
		err = errGone
	}
	return verdict{holds: holds, match: m}, err
}

// Estimated nanoseconds of a posting read, of a sketch compared, of a bitmap scanned, and of a query besides.
const (
	postingCost = 4
	sketchCost  = 150
	bitmapCost  = 3
	jaccardCost = 5000
)

func (p *jaccardPredicate) cost(x *run) float64 {
	if p.empty {
		return 0
	}
	parts, err := x.snap.PlanJaccard(p.target.doc, p.by)
	if err != nil {
		return 0 // the query itself will say why
	}
	sum := float64(jaccardCost)
	for _, part := range parts {
		sum += postingCost*float64(part.Probes) + sketchCost*float64(part.Candidates)
		if part.Method == "scan" {
			sum += bitmapCost * float64(part.Documents)
		}
	}
	return sum
}

func (p *jaccardPredicate) explain(x *run) []string {
	if p.empty {
		return []string{finding(p) + matchesNothing}
	}
	parts, err := x.snap.PlanJaccard(p.target.doc, p.by)
	lines := describeParts(finding(p), parts, err)
	if p.by.IsVerified() {
		lines = append([]string{"compare texts"}, lines...)
	}
	return lines
}

func (p *jaccardPredicate) count(x *run) (int64, error) {
	if p.empty {
		return 0, nil
	}
	return x.snap.CountJaccard(x.ctx, p.target.doc, p.by)
}

func (p *jaccardPredicate) verify()           { p.by = p.by.Verified() }
func (p *jaccardPredicate) testCost() int     { return testSet }
func (p *jaccardPredicate) measures() measure { return scoreMeasure }
func (p *jaccardPredicate) order() order      { return byScore }

// String writes the predicate as the language does.
func (p *jaccardPredicate) String() string {
	t, _ := p.by.Threshold()
	s := fmt.Sprintf("JACCARD(%s, %g)", p.target.label, t)
	if p.by.IsVerified() {
		s += " VERIFY"
	}
	return s
}

const verifyHint = "it recomputes the scores of JACCARD on the texts"

// needSketches refuses a word that a database without sketches can't carry out.
func (x *run) needSketches(word lexer.Token) error {
	if x.db.Params().Sketch > 0 {
		return nil
	}
	e := errorAt(x.p.text, word.Pos.Offset, "use NEAR", "%s needs a database with sketches, and this one has none", word.Value)
	e.Class, e.Err = ClassParameter, engine.ErrNoSketches
	return e
}

// needTexts refuses a word that a database without texts can't carry out.
func (x *run) needTexts(word lexer.Token) error {
	if x.db.Params().Text {
		return nil
	}
	e := errorAt(x.p.text, word.Pos.Offset, "", "%s needs the texts of documents, and this database keeps none", word.Value)
	e.Class, e.Err = ClassParameter, engine.ErrParams
	return e
}

// verify makes each JACCARD of a selection recompute its scores on the texts.
func (x *run) verify(sel *selection, word *lexer.Token) error {
	verified := false
	for _, l := range sel.predicates {
		if p, ok := l.predicate.(verifier); ok {
			if err := x.needTexts(*word); err != nil {
				return err
			}
			p.verify()
			verified = true
		}
	}
	if !verified {
		return errorAt(x.p.text, word.Pos.Offset, verifyHint, "VERIFY needs JACCARD")
	}
	return nil
}
