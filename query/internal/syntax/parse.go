package syntax

import "slices"

// Parsed is a well-formed statement.
type Parsed struct {
	Text      string
	Statement *Statement
	Word      string      // that the statement starts with; "" for a query
	Params    map[int]int // the offset of each ? in Text -> its number, from 0
}

// Parse reads one statement; a semicolon may end it. Its errors are of type *Error.
func (l *Language) Parse(text string) (*Parsed, error) {
	tokens, err := l.lex(text)
	if werr := l.checkWords(tokens); werr != nil {
		return nil, werr // it precedes the lexer's error
	}
	if err != nil {
		return nil, err
	}
	r := &Parsed{Text: text}
	for _, t := range tokens {
		if t.Type == Param {
			if r.Params == nil {
				r.Params = make(map[int]int)
			}
			r.Params[t.Pos.Offset] = len(r.Params)
		}
	}
	p := parser{tokens: tokens}
	if r.Statement = p.statement(); p.failed {
		return nil, l.syntaxError(text, tokens, p.at, p.expected)
	}
	if first := tokens[0]; isKeyword(first) && slices.Contains(l.statements, first.Value) {
		r.Word = first.Value
	}
	return r, nil
}

// parser makes a tree of tokens, by recursive descent: a method for each type of the tree. Once it
// has failed, no token matches any more, so that every method returns.
type parser struct {
	tokens   []Token // the last is EOF
	at       int     // the next token, or the one where it failed
	failed   bool
	expected string // the one word that could stand there, in quotes, if there is only one
}

// A kinds is a set of kinds of tokens.
type kinds uint32

func kindsOf(all ...Kind) (k kinds) {
	for _, kind := range all {
		k |= 1 << kind
	}
	return k
}

// What stands for values, and for names.
var (
	anID       = kindsOf(String, Param, Named)
	aNumber    = kindsOf(Number, Param, Named)
	aThreshold = kindsOf(Number, Percent, Param, Named)
	aMoment    = kindsOf(Duration, String, Number, Param, Named)
	anArgument = kindsOf(String, Hex, Number, Percent, Duration, Param, Named)
	aValue     = kindsOf(String, Number, Hex, Param, Named)
	aName      = kindsOf(Keyword, Predicate, Bare, TwoIDs, Ident)
)

// is reports whether the next token is one of some words or signs. Data never is: its tokens have
// quotes or braces.
func (p *parser) is(words ...string) bool {
	return !p.failed && slices.Contains(words, p.tokens[p.at].Value)
}

// of reports whether the next token is of one of some kinds.
func (p *parser) of(k kinds) bool {
	t := p.tokens[p.at].Type
	return !p.failed && t != EOF && k&(1<<t) != 0
}

// next takes the next token.
func (p *parser) next() Token {
	t := p.tokens[p.at]
	p.at++
	return t
}

// take takes the next token if it is one of some words.
func (p *parser) take(words ...string) bool {
	ok := p.is(words...)
	if ok {
		p.at++
	}
	return ok
}

// word takes a word that may be missing.
func (p *parser) word(word string) *Token {
	if !p.is(word) {
		return nil
	}
	t := p.next()
	return &t
}

// need takes a word that must follow. expectedAfter names those that follow one word alone.
func (p *parser) need(word string) {
	switch {
	case p.take(word):
	case word == "BY" || word == "OLDER":
		p.fail("")
	default:
		p.fail(`"` + word + `"`)
	}
}

// one takes a token that must be of one of some kinds.
func (p *parser) one(k kinds) Token {
	if !p.of(k) {
		p.fail("")
		return Token{}
	}
	return p.next()
}

func (p *parser) fail(expected string) {
	if !p.failed {
		p.failed, p.expected = true, expected
	}
}

// list parses what commas separate.
func list[T any](p *parser, one func() *T) []*T {
	all := []*T{one()}
	for p.take(",") {
		all = append(all, one())
	}
	return all
}

// inParentheses is list in parentheses.
func inParentheses[T any](p *parser, one func() *T) []*T {
	p.need("(")
	all := list(p, one)
	p.need(")")
	return all
}

func (p *parser) statement() *Statement {
	s := &Statement{}
	if p.is("EXPLAIN") {
		s.Explain = &Explain{Word: p.next(), Analyze: p.take("ANALYZE")}
	}
	switch {
	case p.is("COUNT"):
		s.Count = p.count()
	case p.is("PUT"):
		s.Put = p.put()
	case p.is("GET"):
		s.Get = &Get{Word: p.next(), ID: p.one(anID), Show: p.show()}
	case p.is("DELETE"):
		s.Delete = p.delete()
	case p.is("PAIRS"):
		s.Pairs = p.pairs()
	case p.is("CLUSTERS"):
		s.Clusters = p.clusters()
	case p.is("PRUNE"):
		s.Prune = &Prune{Word: p.next()}
		p.need("OLDER")
		s.Prune.Older = p.one(aMoment)
	case p.is("STATS"):
		s.Stats = &Stats{Word: p.next()}
		if p.is("CLUSTERS") {
			s.Stats.Clusters = p.clusters()
		}
	case p.of(kindsOf(TwoIDs)):
		s.Two = &Two{Word: p.next(), A: p.one(anID)}
		p.take(",")
		s.Two.B = p.one(anID)
	case p.of(kindsOf(Bare)):
		t := p.next()
		s.Bare = &t
	default:
		s.Select = p.query()
	}
	for p.take(";") {
	}
	if !p.failed && p.tokens[p.at].Type != EOF {
		p.fail("")
	}
	return s
}

func (p *parser) count() *Count {
	c := &Count{Word: p.next()}
	switch {
	case p.is("PAIRS"):
		c.Pairs = p.pairs()
	case p.is("CLUSTERS"):
		c.Clusters = p.clusters()
	case p.startsQuery():
		c.Select = p.query()
	}
	return c
}

func (p *parser) put() *Put {
	s := &Put{Word: p.next(), Doc: p.one(kindsOf(JSON, Param, Named))}
	if p.take("UNLESS") {
		s.Unless, s.Verify = p.criterion(), p.word("VERIFY")
	}
	return s
}

func (p *parser) delete() *Delete {
	d := &Delete{Word: p.next()}
	if p.take("WHERE") {
		d.Where = p.query()
		return d
	}
	id := p.one(anID)
	d.ID = &id
	return d
}

func (p *parser) pairs() *Pairs {
	return &Pairs{Word: p.next(), Criterion: p.criterion(), Clauses: p.clauses()}
}

func (p *parser) clusters() *Clusters {
	c := &Clusters{Word: p.next(), Criterion: p.criterion(), Verify: p.word("VERIFY")}
	if p.take("MODE") {
		mode := p.one(aName | kindsOf(String))
		c.Mode = &mode
	}
	c.Clauses = p.clauses()
	return c
}

func (p *parser) criterion() *Criterion {
	return &Criterion{Word: p.one(kindsOf(Predicate)), Value: p.one(aThreshold)}
}

// startsQuery reports whether a query may begin here.
func (p *parser) startsQuery() bool {
	return p.of(kindsOf(Predicate, Ident)) || p.is("(", "NOT", "ID", "TEXT") || p.startsClause()
}

func (p *parser) query() *Select {
	s := &Select{}
	if p.is("SINCE") || !p.startsClause() {
		s.Expr = p.or()
	}
	s.Clauses = p.clauses()
	return s
}

func (p *parser) or() *Or {
	e := &Or{Terms: []*And{p.and()}}
	for p.take("OR") {
		e.Terms = append(e.Terms, p.and())
	}
	return e
}

func (p *parser) and() *And {
	e := &And{Terms: []*Not{p.not()}}
	for p.take("AND") {
		e.Terms = append(e.Terms, p.not())
	}
	return e
}

func (p *parser) not() *Not {
	e := &Not{}
	for p.is("NOT") {
		e.Not = append(e.Not, &NotWord{p.next()})
	}
	e.Term = p.primary()
	return e
}

func (p *parser) primary() *Primary {
	switch {
	case p.of(kindsOf(Predicate)):
		return &Primary{Call: &Call{Name: p.next(), Args: inParentheses(p, p.argument)}}
	case p.take("("):
		e := p.or()
		p.need(")")
		return &Primary{Paren: e}
	case p.is("ID"):
		return &Primary{ID: p.idTest()}
	case p.is("SINCE"):
		return &Primary{Since: p.since()}
	case p.of(kindsOf(Ident)), p.is("TEXT"):
		return &Primary{Field: p.fieldTest()}
	}
	p.fail("")
	return nil
}

func (p *parser) argument() *Argument {
	if p.take("ANY") {
		p.need("OF")
		return &Argument{Any: inParentheses(p, p.argument)}
	}
	return &Argument{Text: p.take("TEXT"), Value: p.one(anArgument)}
}

func (p *parser) since() *Since { return &Since{Word: p.next(), Value: p.one(aMoment)} }

// comparison takes the sign of a comparison, if one follows.
func (p *parser) comparison() *Token {
	if !p.is("=", "!=", "<>", "<=", ">=", "<", ">") {
		return nil
	}
	t := p.next()
	return &t
}

// like takes a pattern and its ESCAPE.
func (p *parser) like() (pattern, escape *Token) {
	t := p.one(anID)
	if p.take("ESCAPE") {
		e := p.one(anID)
		escape = &e
	}
	return &t, escape
}

func (p *parser) idTest() *IDTest {
	e := &IDTest{Word: p.next()}
	if e.Op = p.comparison(); e.Op != nil {
		v := p.one(anID)
		e.Value = &v
		return e
	}
	operand := func() *Operand { return &Operand{p.one(anID)} }
	e.Not = p.take("NOT")
	switch {
	case p.take("LIKE"):
		e.Like, e.Escape = p.like()
	case p.take("BETWEEN"):
		e.From = operand()
		p.need("AND")
		e.To = operand()
	case p.take("IN"):
		e.In = inParentheses(p, operand)
	default:
		p.fail("")
	}
	return e
}

func (p *parser) fieldTest() *FieldTest {
	e := &FieldTest{Name: p.next()}
	if e.Op = p.comparison(); e.Op != nil {
		e.Value = p.fieldValue()
		return e
	}
	if e.Is = p.word("IS"); e.Is != nil {
		e.IsNot = p.take("NOT")
		p.need("NULL")
		return e
	}
	e.Not = p.take("NOT")
	switch {
	case p.take("LIKE"):
		e.Like, e.Escape = p.like()
	case p.take("BETWEEN"):
		e.From = p.fieldValue()
		p.need("AND")
		e.To = p.fieldValue()
	case p.take("IN"):
		e.In = inParentheses(p, p.fieldValue)
	default:
		p.fail("")
	}
	return e
}

func (p *parser) fieldValue() *FieldValue {
	if p.is("TRUE", "FALSE") {
		return &FieldValue{p.next()}
	}
	return &FieldValue{p.one(aValue)}
}

func (p *parser) startsClause() bool {
	return p.is("LIMIT", "SINCE", "ORDER", "OFFSET", "VERIFY", "SHOW")
}

func (p *parser) clauses() (all []*Clause) {
	for p.startsClause() {
		all = append(all, p.clause())
	}
	return all
}

func (p *parser) clause() *Clause {
	c := &Clause{Word: p.tokens[p.at]}
	switch {
	case p.is("SINCE"):
		c.Since = p.since()
	case p.is("SHOW"):
		c.Show = p.show()
	case p.take("ORDER"):
		p.need("BY")
		c.Order = list(p, p.orderTerm)
	case p.is("VERIFY"):
		c.Verify = p.word("VERIFY")
	default:
		limit := p.take("LIMIT")
		if !limit {
			p.need("OFFSET")
		}
		n := p.one(aNumber)
		if c.Offset = &n; limit {
			c.Limit, c.Offset = &n, nil
		}
	}
	return c
}

func (p *parser) orderTerm() *OrderTerm {
	t := &OrderTerm{Key: p.one(aName)}
	if t.Desc = p.word("DESC"); t.Desc == nil {
		p.take("ASC")
	}
	return t
}

// show parses SHOW, nil if it does not follow.
func (p *parser) show() *Show {
	if !p.is("SHOW") {
		return nil
	}
	s := &Show{Word: p.next()}
	s.Columns = list(p, func() *ShowColumn {
		if p.is("*") {
			return &ShowColumn{p.next()}
		}
		return &ShowColumn{p.one(aName)}
	})
	return s
}
