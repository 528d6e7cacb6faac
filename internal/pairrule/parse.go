package pairrule

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/spelling"
)

// Parse reads a rule. Its errors are of type *Error.
func Parse(text string) (*Rule, error) {
	p, e, err := parse(text)
	if err != nil {
		return nil, err
	}
	return p.finish(e)
}

// parse reads an expression, before its normal form.
func parse(text string) (*parser, *node, error) {
	r := &Rule{Text: text}
	if !utf8.ValidString(text) {
		return nil, nil, r.errorf(0, "", "the rule is not valid UTF-8")
	}
	tokens, err := r.scan()
	if err != nil {
		return nil, nil, err
	}
	p := &parser{normalizer: normalizer{r}, tokens: tokens}
	if tokens[0].kind == end {
		return nil, nil, r.errorf(0, "such as JACCARD >= 0.8", "the rule is empty")
	}
	e, err := p.or(0)
	if err == nil && p.tokens[0].kind != end {
		err = p.unexpected("AND, OR or the end of the rule")
	}
	return p, e, err
}

// mostNesting limits the depth of parentheses.
const mostNesting = 200

// A parser reads an expression by recursive descent.
type parser struct {
	normalizer
	tokens []token // that are left
}

// take returns the next token and moves past it.
func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// next reports whether the next token is a sign or a keyword, and if so moves past it.
func (p *parser) next(value string) bool {
	if !p.tokens[0].is(value) {
		return false
	}
	p.take()
	return true
}

// unexpected returns the error for the next token.
func (p *parser) unexpected(want string) error {
	t := &p.tokens[0]
	return p.rule.errorf(t.at, "", "expected %s, not %s", want, t.quote())
}

// expect moves past a sign or a keyword.
func (p *parser) expect(value string) error {
	if !p.next(value) {
		return p.unexpected(value)
	}
	return nil
}

func (p *parser) or(depth int) (*node, error) { return p.terms("OR", or, p.and, depth) }

func (p *parser) and(depth int) (*node, error) { return p.terms("AND", and, p.not, depth) }

// terms reads operands between which a keyword stands.
func (p *parser) terms(keyword string, op op, operand func(depth int) (*node, error), depth int) (*node, error) {
	e := &node{op: op}
	for {
		x, err := operand(depth)
		if err != nil {
			return nil, err
		}
		if e.of = append(e.of, x); !p.next(keyword) {
			return e, nil
		}
	}
}

// not reads NOT, an expression in parentheses, or a comparison.
func (p *parser) not(depth int) (*node, error) {
	if depth > mostNesting {
		return nil, p.rule.errorf(p.tokens[0].at, "", "the rule nests deeper than %d levels", mostNesting)
	}
	if p.next("NOT") {
		x, err := p.not(depth + 1)
		return &node{op: not, of: []*node{x}}, err
	}
	if !p.next("(") {
		return p.comparison()
	}
	x, err := p.or(depth + 1)
	if err == nil {
		err = p.expect(")")
	}
	return x, err
}

// comparison reads an atom, possibly negated by its operator.
func (p *parser) comparison() (*node, error) {
	t := p.tokens[0]
	for kind, name := range measures {
		if t.is(name) || kind == Contains && t.is("WITHIN") { // a pair has no direction
			p.take()
			return p.similarity(kind, t.at)
		}
	}
	if t.is("DIFFERS") {
		p.take()
		return p.differs(t.at)
	}
	return p.equality()
}

// similarity reads what follows a measure: (chars:5, title) >= 0.8.
func (p *parser) similarity(kind Kind, at int) (*node, error) {
	a := Atom{Kind: kind, Offset: at}
	if p.next("(") {
		for more := true; more; more = p.next(",") {
			if err := p.argument(&a); err != nil {
				return nil, err
			}
		}
		if err := p.expect(")"); err != nil {
			return nil, err
		}
	}
	holds, fails := ">=", "<"
	if kind == Near {
		holds, fails = "<=", ">"
	}
	negated := false
	if !p.next(holds) && p.tokens[0].kind != number { // JACCARD 0.8 is JACCARD >= 0.8
		if negated = p.next(fails); !negated {
			return nil, p.unexpected(holds + ", as in " + a.String()[:len(measures[kind])] + " " + holds + map[bool]string{true: " 3", false: " 0.8"}[kind == Near])
		}
	}
	if err := p.threshold(&a); err != nil {
		return nil, err
	}
	return negate(p.add(a), negated), nil
}

// negate returns an expression, or its negation.
func negate(e *node, negated bool) *node {
	if negated {
		return &node{op: not, of: []*node{e}}
	}
	return e
}

// argument reads a unit or a field.
func (p *parser) argument(a *Atom) error {
	t := p.take()
	if t.kind != word && t.kind != path {
		p.tokens = append([]token{t}, p.tokens...)
		return p.unexpected("a unit such as chars:5, or a field")
	}
	unit := strings.ToLower(t.value)
	switch {
	case t.kind == word && p.next(":"):
		n := p.take()
		k, err := strconv.Atoi(n.value)
		switch {
		case unit != "words" && unit != "chars":
			return p.rule.errorf(t.at, "words:3, chars:5 or tokens", "unknown unit %q", t.value)
		case n.kind != number || err != nil || k < 1 || k > 1024:
			return p.rule.errorf(n.at, "as in "+unit+":5", "the length of a shingle is a number from 1 to 1024, not %s", n.quote())
		}
		a.Shingle = k
	case t.kind == word && unit == "tokens":
		unit, a.Shingle = "words", 1
	default:
		return p.addField(a, t, t.parts)
	}
	switch {
	case a.Kind != Jaccard && a.Kind != Contains:
		return p.rule.errorf(t.at, "only JACCARD and CONTAINS do", "%s has no units", measures[a.Kind])
	case a.Unit != "" || a.Fields != nil:
		return p.rule.errorf(t.at, "as in JACCARD(chars:5, title)", "one unit may precede the fields")
	}
	a.Unit = unit
	return nil
}

// addField adds a field to an atom.
func (p *parser) addField(a *Atom, t token, parts []string) error {
	if a.Kind == Equal && a.Of == Value && jsonfield.Several(parts) {
		return p.rule.errorf(t.at, "", "%s leads to several values of a document; name a field that has one", t.quote())
	}
	a.Fields = append(a.Fields, field(parts))
	return nil
}

// threshold reads the number of a similarity.
func (p *parser) threshold(a *Atom) (err error) {
	t := p.take()
	if a.Kind == Near {
		if a.K, err = strconv.Atoi(t.value); t.kind != number || err != nil || a.K > 1024 {
			return p.rule.errorf(t.at, "", "a distance is a number of bits such as 3, not %s", t.quote())
		}
		return nil
	}
	share, ok := quantity.ParseShare(t.value)
	if t.kind != number || !ok || !(share > 0 && share <= 1) {
		return p.rule.errorf(t.at, "", "a similarity is a share above 0 and up to 1, such as 0.8 or 80%%, not %s", t.quote())
	}
	a.T = share
	if least := 1e-6; a.Kind == Levenshtein && share < least {
		return p.rule.errorf(t.at, "", "the least Levenshtein similarity is %g", least)
	}
	return nil
}

// differs reads what follows DIFFERS: (title, 'draft', 'left/right', RECURRING).
func (p *parser) differs(at int) (*node, error) {
	words, swaps := Atom{Kind: Equal, Of: Words, Offset: at}, Atom{Kind: Differ, Offset: at}
	recur := false
	if err := p.expect("("); err != nil {
		return nil, err
	}
	for more := true; more; more = p.next(",") {
		switch t := p.take(); {
		case t.kind == text:
			pair := strings.Split(strings.ToLower(t.value), "/")
			if len(pair) > 2 || slices.ContainsFunc(pair, func(w string) bool { return !isWord(w) }) {
				return nil, p.rule.errorf(t.at, "as in DIFFERS('draft', 'final')", "DIFFERS compares single words, not %s", t.quote())
			}
			if slices.Sort(pair); len(pair) == 1 {
				words.Words = append(words.Words, pair[0])
			} else {
				swaps.Words = append(swaps.Words, strings.Join(pair, "/"))
			}
		case t.is(recurring) && p.tokens[0].is(")"):
			recur = true
		case (t.kind == word || t.kind == path) && words.Fields == nil && words.Words == nil && swaps.Words == nil:
			words.Fields = []string{field(t.parts)}
		default:
			return nil, p.rule.errorf(t.at, "as in DIFFERS('draft', 'final')", "expected a word in quotes, not %s", t.quote())
		}
	}
	any := &node{op: or}
	for _, a := range []Atom{words, swaps} {
		if a.Words != nil {
			slices.Sort(a.Words)
			a.Words, a.Fields = slices.Compact(a.Words), words.Fields
			any.of = append(any.of, negate(p.add(a), true))
		}
	}
	if recur {
		any.of = append(any.of, negate(p.add(Atom{Kind: Differ, Fields: words.Fields, Offset: at}), true))
	}
	if any.of == nil {
		return nil, p.rule.errorf(at, "as in DIFFERS('draft', 'final'), or DIFFERS(RECURRING)", "DIFFERS needs the words")
	}
	return any, p.expect(")")
}

// equality reads a.year = b.year, NUMBERS(a) = NUMBERS(b), a.year IS DISTINCT FROM b.year.
func (p *parser) equality() (*node, error) {
	a, at := Atom{Kind: Equal, Offset: p.tokens[0].at}, p.tokens[0].at
	if err := p.side("a", &a); err != nil {
		return nil, err
	}
	negated := false
	switch {
	case p.next("="):
	case p.next("!="), p.next("<>"):
		negated = true
	case p.next("IS"):
		negated = !p.next("NOT")
		for _, w := range []string{"DISTINCT", "FROM"} {
			if err := p.expect(w); err != nil {
				return nil, err
			}
		}
		a.Distinct = a.Of == Value
	default:
		return nil, p.unexpected("=, != or IS DISTINCT FROM")
	}
	b := Atom{Kind: Equal, Offset: at}
	from := p.tokens[0].at
	if err := p.side("b", &b); err != nil {
		return nil, err
	}
	if b.Distinct = a.Distinct; a.String() != b.String() {
		return nil, p.rule.errorf(from, "as in a.year = b.year", "the two sides compare different things")
	}
	return negate(p.add(a), negated), nil
}

// side reads one side of an equality.
func (p *parser) side(of string, a *Atom) error {
	t := p.tokens[0]
	for extract, name := range extracts {
		if t.is(name) {
			p.take()
			a.Of = extract
			return p.call(of, a)
		}
	}
	if t.kind != path || !strings.EqualFold(t.parts[0], of) {
		return p.unknown(of)
	}
	p.take()
	return p.addField(a, t, t.parts[1:])
}

// call reads the arguments of a function: (a), (a.title), (a, '[A-Z]+-[0-9]+').
func (p *parser) call(of string, a *Atom) error {
	if err := p.expect("("); err != nil {
		return err
	}
	t := p.take()
	if t.kind != word && t.kind != path || !strings.EqualFold(t.parts[0], of) {
		return p.rule.errorf(t.at, "as in "+extracts[a.Of]+"("+of+") or "+extracts[a.Of]+"("+of+".title)", "expected the document %s, not %s", of, t.quote())
	}
	if t.kind == path {
		if a.Of == File || a.Of == Folder {
			return p.rule.errorf(t.at, "", "%s has no fields", extracts[a.Of])
		}
		if err := p.addField(a, t, t.parts[1:]); err != nil {
			return err
		}
	}
	if a.Of == Matches {
		if err := p.expect(","); err != nil {
			return err
		}
		t := p.take()
		if t.kind != text || t.value == "" {
			return p.rule.errorf(t.at, "as in MATCHES("+of+", '[A-Z]+-[0-9]+')", "expected a regular expression in quotes, not %s", t.quote())
		}
		if _, err := regexp.Compile(t.value); err != nil {
			return p.rule.errorf(t.at, "", "%s is no regular expression: %v", t.quote(), err)
		}
		a.Pattern = t.value
	}
	return p.expect(")")
}

// unknown returns the error for the next token, which begins no comparison.
func (p *parser) unknown(of string) error {
	t := &p.tokens[0]
	if of == "b" {
		return p.rule.errorf(t.at, "as in a.year = b.year", "expected the other document's side, which begins with b, not %s", t.quote())
	}
	var known []string
	for _, name := range measures {
		known = append(known, name)
	}
	for _, name := range extracts {
		known = append(known, name)
	}
	slices.Sort(known)
	hint := "a rule compares documents a and b, as in JACCARD >= 0.8 AND a.year = b.year"
	if t.kind == word {
		if like, ok := spelling.Closest(strings.ToUpper(t.value), append(known, "DIFFERS")); ok {
			hint = "did you mean " + like + "?"
		}
	}
	return p.rule.errorf(t.at, hint, "expected a comparison, not %s", t.quote())
}
