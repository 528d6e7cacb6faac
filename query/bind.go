package query

import (
	"slices"
	"strings"

	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/record"
	"github.com/simdb/simdb/query/internal/syntax"
)

// selection is a bound query: its names, values and documents are resolved.
type selection struct {
	expr       node
	predicates []*leaf
	few        [2]*leaf // initial storage of predicates, which saves an allocation
	plan       plan
	order      []orderKey // the ORDER BY keys or the default order; id is always among them
	window
	distance bool                    // rows have the column distance
	score    bool                    // rows have the columns score, error and exact
	passages bool                    // rows have the columns words, at and query_at
	times    bool                    // ORDER BY needs times
	fields   []*predicate.NamedField // the fields that ORDER BY names
	shown    *shown                  // nil for the plain columns
	plain    []string                // the columns without SHOW
	cells    record.Cells            // cells of the rows
}

type orderKey struct {
	by    string // one of orderNames, "at", or the name of a field
	desc  bool
	field int // index in selection.fields
}

// node is an expression: *leaf, andNode or orNode. Only leaves are negated: bindOr and bindAnd push
// each NOT down to them by De Morgan's laws, so that a driver is found below a double negation too.
type node interface{ String() string }

type (
	andNode []node
	orNode  []node

	// leaf is one occurrence of a predicate in an expression.
	leaf struct {
		predicate.Predicate
		number  int // index of its verdict in tester.verdicts
		negated bool
	}
)

// String writes the expression in the query language.
func (n andNode) String() string { return joinNodes(n, " AND ") }

// String writes the expression in the query language.
func (n orNode) String() string { return joinNodes(n, " OR ") }

// String writes the predicate, with NOT in front if it is negated.
func (l *leaf) String() string {
	if l.negated {
		return "NOT " + l.Predicate.String()
	}
	return l.Predicate.String()
}

// word returns the first word of the predicate.
func (l *leaf) word() string {
	s := l.Predicate.String()
	return s[:strings.IndexAny(s, " (")]
}

func joinNodes(nodes []node, with string) string {
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = n.String()
		if _, ok := n.(*leaf); !ok {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	return strings.Join(parts, with)
}

func (x *run) bindSelect(s *syntax.Select) (*selection, error) {
	sel := &x.sel
	var err error
	if s.Expr == nil {
		sel.expr = &leaf{Predicate: predicate.All()}
	} else if sel.expr, err = x.bindOr(s.Expr, false); err != nil {
		return nil, err
	}
	c, err := x.bindClauses(s.Clauses)
	if err != nil {
		return nil, err
	}
	if c.since != nil {
		terms, ok := sel.expr.(andNode)
		if !ok {
			terms = andNode{sel.expr}
		}
		sel.expr = append(terms, &leaf{Predicate: c.since})
	}
	sel.expr, sel.predicates = fold(sel.expr), sel.few[:0]
	sel.number(sel.expr)
	sel.order, sel.fields, sel.window = c.order, c.fields, c.window
	for _, l := range sel.predicates {
		if !l.negated {
			sel.distance = sel.distance || l.Measure() == predicate.Distance
			sel.score = sel.score || l.Measure() >= predicate.Score
			sel.passages = sel.passages || l.Measure() == predicate.Places
		}
	}
	if c.estimate != nil {
		if err := sel.estimate(c.estimate); err != nil {
			return nil, err
		}
	}
	if err := x.checkOrder(sel, &c); err != nil {
		return nil, err
	}
	sel.plain = sel.layout().columns
	if sel.shown, err = x.bindShow(c.show, sel.plain, "id"); err != nil {
		return nil, err
	}
	return sel, checkDrivable(x, s, sel.expr)
}

// bindRowless binds the query of a statement that returns no documents as rows.
func (x *run) bindRowless(statement string, s *syntax.Select) (*selection, error) {
	for _, e := range s.Clauses {
		if e.Show != nil {
			return nil, syntax.Errorf(e.Show.Word.Pos.Offset, "", "SHOW cannot be used with %s", statement)
		}
	}
	return x.bindSelect(s)
}

func (x *run) bindOr(e *syntax.Or, negated bool) (node, error) {
	return combine(e.Terms, !negated, func(t *syntax.And) (node, error) { return x.bindAnd(t, negated) })
}

func (x *run) bindAnd(e *syntax.And, negated bool) (node, error) {
	return combine(e.Terms, negated, func(t *syntax.Not) (node, error) {
		return x.bindPrimary(t.Term, negated != (len(t.Not)%2 == 1))
	})
}

// combine binds terms and joins them in an orNode or an andNode. It flattens terms of the same
// kind.
func combine[T any](terms []T, or bool, bind func(T) (node, error)) (node, error) {
	if len(terms) == 1 {
		return bind(terms[0])
	}
	var nodes []node
	for _, t := range terms {
		n, err := bind(t)
		if err != nil {
			return nil, err
		}
		if _, as := n.(orNode); as == or && termsOf(n) != nil {
			nodes = append(nodes, termsOf(n)...)
			continue
		}
		nodes = append(nodes, n)
	}
	if or {
		return orNode(nodes), nil
	}
	return andNode(nodes), nil
}

func (x *run) bindPrimary(e *syntax.Primary, negated bool) (node, error) {
	if e.Paren != nil {
		return x.bindOr(e.Paren, negated)
	}
	var p predicate.Predicate
	var err error
	switch {
	case e.Since != nil:
		p, err = predicate.BindSince(x.Scope, e.Since)
	case e.Test != nil && strings.EqualFold(e.Test.Name.Value, "id"):
		negated = negated != (e.Test.Not || e.Test.Op != nil && (e.Test.Op.Value == "!=" || e.Test.Op.Value == "<>"))
		p, err = predicate.BindID(x.Scope, e.Test)
	case e.Test != nil:
		if p, err = predicate.BindField(x.Scope, e.Test); err == nil && negated {
			p, negated = predicate.Not(p), false // NOT of a field test can list documents as well
		}
	default:
		if any := e.Call.Args[0].Any; any != nil {
			return x.bindAny(e.Call, e.By, any, negated)
		}
		p, err = predicate.BindCall(x.Scope, e.Call, e.By)
	}
	if err != nil {
		return nil, err
	}
	l := &x.leaf
	if l.Predicate != nil {
		l = new(leaf)
	}
	l.Predicate, l.negated = p, negated
	return l, nil
}

// bindAny binds a predicate with ANY OF several arguments: an OR of one predicate per argument.
func (x *run) bindAny(e *syntax.Call, by *syntax.Token, any []*syntax.Argument, negated bool) (node, error) {
	if e.Name.Value == "NEAREST" {
		return nil, syntax.Errorf(e.Name.Pos.Offset, "write one NEAREST for each, joined by OR", "NEAREST accepts one argument, not ANY OF several")
	}
	return combine(any, !negated, func(a *syntax.Argument) (node, error) {
		one := *e
		one.Args = append([]*syntax.Argument{a}, e.Args[1:]...)
		p, err := predicate.BindCall(x.Scope, &one, by)
		return &leaf{Predicate: p, negated: negated}, err
	})
}

// checkDrivable returns an error for an expression without a driver: NOT alone, a predicate that
// can only test documents, or an OR with such a side.
func checkDrivable(x *run, s *syntax.Select, n node) error {
	if drivable(n) {
		return nil
	}
	at := syntax.FirstToken(s.Expr)
	if culprit := undrivable(n); culprit != nil && !culprit.negated {
		return syntax.Errorf(at.Pos.Offset, "write NEAR('a', 10) AND "+culprit.String(), "%s can only be tested on documents that another predicate finds", culprit.word())
	}
	hint := "combine it: NEAR('a', 3) AND NOT ..."
	if _, ok := n.(orNode); ok {
		hint = "give every side of OR a predicate that finds documents"
	}
	return syntax.Errorf(at.Pos.Offset, hint, "NOT by itself would list nearly everything")
}

// drivable reports whether drivers can list all documents that satisfy n.
func drivable(n node) bool {
	switch n := n.(type) {
	case andNode:
		return slices.ContainsFunc(n, drivable)
	case orNode:
		return !slices.ContainsFunc(n, func(n node) bool { return !drivable(n) })
	}
	l := n.(*leaf)
	_, ok := l.Predicate.(predicate.Driver)
	return ok && !l.negated
}

// undrivable returns the first leaf that prevents n from being drivable.
func undrivable(n node) *leaf {
	switch n := n.(type) {
	case andNode:
		return undrivable(n[0])
	case orNode:
		for _, t := range n {
			if !drivable(t) {
				return undrivable(t)
			}
		}
		return nil
	}
	return n.(*leaf)
}

// estimate makes each JACCARD of a selection compare sketches.
func (sel *selection) estimate(word *syntax.Token) error {
	estimated := false
	for _, l := range sel.predicates {
		if p, ok := l.Predicate.(predicate.Estimator); ok {
			p.Estimate()
			estimated = true
		}
	}
	if !estimated {
		return predicate.EstimateError(word)
	}
	return nil
}

// fold replaces the terms of an AND or OR that test text or fields by one leaf, which reads each
// document once for all tests.
func fold(n node) node {
	var kept []node
	var content []predicate.Predicate
	var at int // index of the leaf in kept
	terms := termsOf(n)
	if terms == nil {
		return n
	}
	for _, t := range terms {
		t = fold(t)
		if l, ok := t.(*leaf); ok && predicate.OfContent(l.Predicate) {
			if content = append(content, l.Predicate); len(content) > 1 {
				continue
			}
			at = len(kept)
		}
		kept = append(kept, t)
	}
	_, or := n.(orNode)
	if len(content) > 1 {
		kept[at] = &leaf{Predicate: predicate.Join(content, or)}
	}
	switch {
	case len(kept) == 1:
		return kept[0]
	case or:
		return orNode(kept)
	}
	return andNode(kept)
}

// number adds the leaves of n to the predicates.
func (sel *selection) number(n node) {
	if l, ok := n.(*leaf); ok {
		l.number = len(sel.predicates)
		sel.predicates = append(sel.predicates, l)
	}
	for _, t := range termsOf(n) {
		sel.number(t)
	}
}

// termsOf returns the terms of an AND or OR.
func termsOf(n node) []node {
	switch n := n.(type) {
	case andNode:
		return n
	case orNode:
		return n
	}
	return nil
}
