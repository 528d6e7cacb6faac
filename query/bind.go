package query

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
)

// selection is a selectStmt whose names, values and documents have been resolved: what to look for, without yet a plan
// of how.
type selection struct {
	expr       node
	predicates []*leaf
	order      []orderKey // what ORDER BY asks for, or the default; id is always the last key
	limit      int        // -1: none
	offset     int
	distance   bool // rows have a distance
	score      bool // rows have score, error and exact
	times      bool // ORDER BY needs times
}

// orderKey is a key of ORDER BY.
type orderKey struct {
	by   string // "id", "distance", "score" or "time"
	desc bool
}

// node is an expression: *leaf, and or or. NOT stands only on leaves: bindOr and its like move it there by De Morgan's
// laws, so that a driver is found even below a double negation.
type node interface{ String() string }

type (
	andNode []node
	orNode  []node

	// leaf is a predicate at one place of the expression.
	leaf struct {
		predicate
		number  int // of its verdict in a candidate
		negated bool
	}
)

func (n andNode) String() string { return joinNodes(n, " AND ") }
func (n orNode) String() string  { return joinNodes(n, " OR ") }

func (l *leaf) String() string {
	if l.negated {
		return "NOT " + l.predicate.String()
	}
	return l.predicate.String()
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

// bindSelect resolves a selectStmt.
func (x *run) bindSelect(s *selectStmt) (*selection, error) {
	sel := &selection{limit: -1}
	var err error
	if sel.expr, err = x.bindOr(sel, s.Expr, false); err != nil {
		return nil, err
	}
	c, err := x.bindClauses(s.Clauses)
	if err != nil {
		return nil, err
	}
	if c.since != nil {
		sel.expr = andNode{sel.expr, sel.add(c.since, false)}
	}
	sel.order, sel.limit, sel.offset = c.order, c.limit, c.offset
	for _, l := range sel.predicates {
		if !l.negated {
			sel.distance = sel.distance || l.measures() == distanceMeasure
			sel.score = sel.score || l.measures() >= scoreMeasure
		}
	}
	if c.verify != nil {
		if err := x.verify(sel, c.verify); err != nil {
			return nil, err
		}
	}
	if err := x.checkOrder(sel, c); err != nil {
		return nil, err
	}
	return sel, checkDrivable(x, s, sel.expr)
}

// checkOrder completes the order, and refuses keys that the rows do not have.
func (x *run) checkOrder(sel *selection, c *clauses) error {
	for i, k := range sel.order {
		switch {
		case k.by == "distance" && !sel.distance:
			return errorAt(x.p.text, c.orderAt[i], "it comes from NEAR and NEAREST", "there is no distance to order by")
		case k.by == "score" && !sel.score:
			return errorAt(x.p.text, c.orderAt[i], "it comes from JACCARD, LEVENSHTEIN and COSINE", "there is no score to order by")
		case k.by == "time":
			sel.times = true
		}
	}
	if len(sel.order) == 0 {
		if sel.distance {
			sel.order = append(sel.order, orderKey{by: "distance"})
		}
		if sel.score {
			sel.order = append(sel.order, orderKey{by: "score", desc: true})
		}
	}
	if !slices.ContainsFunc(sel.order, func(k orderKey) bool { return k.by == "id" }) {
		sel.order = append(sel.order, orderKey{by: "id"})
	}
	return nil
}

func (sel *selection) add(p predicate, negated bool) *leaf {
	l := &leaf{predicate: p, number: len(sel.predicates), negated: negated}
	sel.predicates = append(sel.predicates, l)
	return l
}

func (x *run) bindOr(sel *selection, e *orExpr, negated bool) (node, error) {
	return combine(e.Terms, !negated, func(t *andExpr) (node, error) { return x.bindAnd(sel, t, negated) })
}

func (x *run) bindAnd(sel *selection, e *andExpr, negated bool) (node, error) {
	return combine(e.Terms, negated, func(t *notExpr) (node, error) {
		return x.bindPrimary(sel, t.Term, negated != (len(t.Not)%2 == 1))
	})
}

// combine binds terms and makes an orNode or an andNode of them, flattening terms of the same kind.
func combine[T any](terms []T, or bool, bind func(T) (node, error)) (node, error) {
	var nodes []node
	for _, t := range terms {
		n, err := bind(t)
		if err != nil {
			return nil, err
		}
		switch n := n.(type) {
		case orNode:
			if or || len(terms) == 1 {
				nodes = append(nodes, n...)
				or = true
				continue
			}
		case andNode:
			if !or || len(terms) == 1 {
				nodes = append(nodes, n...)
				or = false
				continue
			}
		}
		nodes = append(nodes, n)
	}
	switch {
	case len(nodes) == 1:
		return nodes[0], nil
	case or:
		return orNode(nodes), nil
	}
	return andNode(nodes), nil
}

func (x *run) bindPrimary(sel *selection, e *primary, negated bool) (node, error) {
	if e.Paren != nil {
		return x.bindOr(sel, e.Paren, negated)
	}
	var p predicate
	var err error
	switch {
	case e.Since != nil:
		p, err = x.bindSince(e.Since)
	case e.ID != nil:
		negated = negated != (e.ID.Not || e.ID.Op != nil && e.ID.Op.Value != "=")
		p, err = x.bindID(e.ID)
	default:
		p, err = x.bindCall(e.Call)
	}
	if err != nil {
		return nil, err
	}
	return sel.add(p, negated), nil
}

func (x *run) bindSince(e *sinceClause) (*sincePredicate, error) {
	t, err := x.values.moment(e.Value, x.now)
	return &sincePredicate{since: t}, err
}

func (x *run) bindID(e *idPredicate) (predicate, error) {
	if e.Like == nil {
		operands := e.In
		if e.Value != nil {
			operands = []*operand{{Value: *e.Value}}
		}
		var ids []string
		for _, o := range operands {
			id, err := x.values.str(o.Value, expectID)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return &idInPredicate{ids: slices.Compact(ids)}, nil
	}
	pattern, err := x.values.str(*e.Like, "a pattern in quotes")
	if err != nil {
		return nil, err
	}
	escape := ""
	if e.Escape != nil {
		if escape, err = x.values.str(*e.Escape, "one character in quotes"); err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(escape) != 1 {
			return nil, x.values.wrong(*e.Escape, "one character in quotes")
		}
	}
	p, ok := compileLike(pattern, escape)
	if !ok {
		return nil, errorAt(x.p.text, e.Like.Pos.Offset, "", "the pattern ends in its escape character")
	}
	return &likePredicate{p}, nil
}

// bindCall resolves NEAR(...) and its like: two arguments each.
func (x *run) bindCall(e *call) (predicate, error) {
	name := e.Name.Value
	if len(e.Args) != 2 {
		at := e.Name.Pos.Offset
		if len(e.Args) > 2 {
			at = e.Args[2].Value.Pos.Offset
		}
		return nil, errorAt(x.p.text, at, "as in "+examples[name], "%s takes 2 arguments, not %d", name, len(e.Args))
	}
	what, measured := e.Args[0], e.Args[1]
	if measured.Text {
		return nil, x.values.wrong(measured.Value, expectNumber)
	}
	switch name {
	case "NEAR":
		k, err := x.values.integer(measured.Value, "k", 0, 64)
		if err != nil {
			return nil, err
		}
		t, err := x.fingerprintTarget(what)
		return &nearPredicate{target: t, k: k}, err
	case "NEAREST":
		n, err := x.values.integer(measured.Value, "the number of documents", 1, math.MaxInt)
		if err != nil {
			return nil, err
		}
		return x.bindNearest(what, n)
	}
	share, err := x.values.share(measured.Value)
	if err != nil {
		return nil, err
	}
	t, err := x.textTarget(name, what)
	if err != nil {
		return nil, err
	}
	if name == "JACCARD" {
		return x.bindJaccard(e.Name, t, share)
	}
	if !x.db.Params().Text {
		return nil, errorAt(x.p.text, e.Name.Pos.Offset, "", "%s needs the texts of documents, and this database keeps none", name)
	}
	p := &textPredicate{name: name, target: t, threshold: share}
	if name == "LEVENSHTEIN" {
		p.similar = levenshtein(t.doc.Text, share)
	} else {
		p.similar = cosine(t.doc.Text, share)
	}
	return p, nil
}

var examples = map[string]string{
	"NEAR": "NEAR('a', 3)", "NEAREST": "NEAREST('a', 10)", "JACCARD": "JACCARD('a', 0.8)",
	"LEVENSHTEIN": "LEVENSHTEIN('a', 0.9)", "COSINE": "COSINE('a', 0.9)",
}

func (x *run) bindNearest(what *argument, n int) (predicate, error) {
	t, err := x.fingerprintTarget(what)
	if err != nil {
		return nil, err
	}
	ask := n
	if t.self != "" && ask < math.MaxInt {
		ask++ // it finds itself
	}
	return &setPredicate{
		label: fmt.Sprintf("NEAREST(%s, %d)", t.label, n), carries: distanceMeasure, sorted: byDistance, self: t.self, limit: n,
		costs: func(x *run) float64 {
			if !t.hasFingerprint {
				return 0
			}
			return 2 * x.nearCost(t.fingerprint, 8)
		},
		list: func(ctx context.Context) iter.Seq2[engine.Match, error] {
			if !t.hasFingerprint {
				return func(func(engine.Match, error) bool) {}
			}
			return x.snap.Nearest(ctx, t.fingerprint, ask)
		},
	}, nil
}

// jaccarder is a snapshot that has sketches to answer JACCARD from.
type jaccarder interface {
	Jaccard(ctx context.Context, doc engine.Doc, t float64) iter.Seq2[engine.Match, error]
}

func (x *run) bindJaccard(word lexer.Token, t target, share float64) (predicate, error) {
	snap, ok := any(x.snap).(jaccarder)
	if !ok {
		e := errorAt(x.p.text, word.Pos.Offset, "use NEAR", "JACCARD needs a database with sketches, and this one has none")
		e.Class, e.Err = ClassParameter, engine.ErrNoSketches
		return nil, e
	}
	return &setPredicate{
		label: fmt.Sprintf("JACCARD(%s, %g)", t.label, share), carries: scoreMeasure, sorted: byScore, self: t.self,
		costs: func(x *run) float64 { return 50e3 + x.documents()/10 },
		list:  func(ctx context.Context) iter.Seq2[engine.Match, error] { return snap.Jaccard(ctx, t.doc, share) },
		verified: func(ctx context.Context) iter.Seq2[engine.Match, error] {
			return any(x.snap).(verifier).JaccardVerified(ctx, t.doc, share)
		},
	}, nil
}

// verifier is a snapshot that can recompute JACCARD on the texts.
type verifier interface {
	JaccardVerified(ctx context.Context, doc engine.Doc, t float64) iter.Seq2[engine.Match, error]
}

// verify makes each JACCARD of a selection recompute its scores on the texts.
func (x *run) verify(sel *selection, word *lexer.Token) error {
	_, able := any(x.snap).(verifier)
	verified := false
	for _, l := range sel.predicates {
		if p, ok := l.predicate.(*setPredicate); ok && p.verified != nil {
			if !able {
				return errorAt(x.p.text, word.Pos.Offset, "", "VERIFY needs the texts of documents, and this database keeps none")
			}
			p.list, p.label, verified = p.verified, p.label+" VERIFY", true
		}
	}
	if !verified {
		return errorAt(x.p.text, word.Pos.Offset, "it recomputes the scores of JACCARD on the texts", "VERIFY needs JACCARD")
	}
	return nil
}

// clauses are what stands behind an expression.
type clauses struct {
	since         *sincePredicate
	order         []orderKey
	orderAt       []int // offset of each key
	limit, offset int
	verify        *lexer.Token
}

func (x *run) bindClauses(list []*clause) (*clauses, error) {
	c := &clauses{limit: -1}
	seen := make(map[string]bool)
	for _, e := range list {
		var err error
		var name string
		at := 0
		switch {
		case e.Since != nil:
			name, at = "SINCE", e.Since.Word.Pos.Offset
			c.since, err = x.bindSince(e.Since)
		case e.Limit != nil:
			name, at = "LIMIT", e.Limit.Pos.Offset
			c.limit, err = x.values.integer(*e.Limit, "LIMIT", 0, math.MaxInt)
		case e.Offset != nil:
			name, at = "OFFSET", e.Offset.Pos.Offset
			c.offset, err = x.values.integer(*e.Offset, "OFFSET", 0, math.MaxInt)
		case e.Verify != nil:
			name, at = "VERIFY", e.Verify.Pos.Offset
			c.verify = e.Verify
		default:
			name, at = "ORDER BY", e.Order[0].Key.Pos.Offset
			err = x.bindOrder(c, e.Order)
		}
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, errorAt(x.p.text, at, "", "%s stands here a second time", name)
		}
		seen[name] = true
	}
	return c, nil
}

var orderNames = []string{"id", "distance", "score", "time"}

func (x *run) bindOrder(c *clauses, terms []*orderTerm) error {
	for _, t := range terms {
		by := strings.ToLower(t.Key.Value)
		if !slices.Contains(orderNames, by) {
			hint := suggest(by, orderNames)
			if hint == "" {
				hint = "ORDER BY takes id, distance, score or time"
			}
			return errorAt(x.p.text, t.Key.Pos.Offset, hint, "there is no %q to order by", t.Key.Value)
		}
		c.order = append(c.order, orderKey{by: by, desc: t.Desc != nil})
		c.orderAt = append(c.orderAt, t.Key.Pos.Offset)
	}
	return nil
}

// checkDrivable refuses an expression that no driver can start: NOT alone, a measure of texts alone, or either as one
// side of OR.
func checkDrivable(x *run, s *selectStmt, n node) error {
	if drivable(n) {
		return nil
	}
	at := firstToken(s.Expr)
	if culprit := undrivable(n); culprit != nil && !culprit.negated {
		return errorAt(x.p.text, at.Pos.Offset, "write NEAR('a', 10) AND "+culprit.String(), "%s can only be tested on documents that another predicate finds", name(culprit))
	}
	hint := "combine it: NEAR('a', 3) AND NOT ..."
	if _, ok := n.(orNode); ok {
		hint = "give every side of OR a predicate that finds documents"
	}
	return errorAt(x.p.text, at.Pos.Offset, hint, "NOT alone would list nearly everything")
}

// name is the name of a predicate: the first word of it.
func name(l *leaf) string {
	s := l.predicate.String()
	return s[:strings.IndexAny(s, " (")]
}

// drivable says whether some driver's documents include all that satisfy n.
func drivable(n node) bool {
	switch n := n.(type) {
	case andNode:
		return slices.ContainsFunc(n, drivable)
	case orNode:
		return !slices.ContainsFunc(n, func(n node) bool { return !drivable(n) })
	}
	l := n.(*leaf)
	_, ok := l.predicate.(driver)
	return ok && !l.negated
}

// undrivable returns the first leaf that keeps n from being drivable.
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

// firstToken is where an expression starts.
func firstToken(e *orExpr) lexer.Token {
	first := e.Terms[0].Terms[0]
	if len(first.Not) > 0 {
		return first.Not[0].Word
	}
	switch t := first.Term; {
	case t.Paren != nil:
		return firstToken(t.Paren)
	case t.ID != nil:
		return t.ID.Word
	case t.Since != nil:
		return t.Since.Word
	default:
		return t.Call.Name
	}
}
