package predicate

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// longColumns are the columns for which a field can be a misspelling. Other columns have such short
// names that many fields are close to them.
var longColumns = []string{"fingerprint", "distance"}

// FieldPath returns the keys that lead to the field that a token names. It returns an error for a
// word that is nearly the name of a column.
func FieldPath(t syntax.Token) ([]string, error) {
	path := syntax.Path(t)
	if len(path) > 1 {
		if path[0] == "fields" {
			path = path[1:]
		}
		return path, nil
	}
	if hint := spelling.Suggest(path[0], longColumns); hint != "" && len(path[0]) > 5 {
		return nil, syntax.Errorf(t.Pos.Offset, hint+" A field of that name is written fields."+path[0], "unknown column %q", path[0])
	}
	return path, nil
}

// FieldOf returns the field that a token names, which must not be a column.
func (x *Scope) FieldOf(t syntax.Token) (*NamedField, error) {
	if word := strings.ToLower(t.Value); slices.Contains(jsonfield.Columns, word) {
		return nil, syntax.Errorf(t.Pos.Offset, "NEAR('a', 3) limits the distance, JACCARD('a', 0.8) the score, SINCE 2d the time; a field of that name is written fields."+word, "%q is a column, not a field", t.Value)
	}
	if t.Type != syntax.Ident {
		return nil, syntax.Errorf(t.Pos.Offset, "a field of that name is written fields."+strings.ToLower(t.Value), "%q is a word of the language", t.Value)
	}
	path, err := FieldPath(t)
	if err != nil {
		return nil, err
	}
	return x.Field(t.Value, path), x.needContent(t, "fields")
}

// OneField is FieldOf for a field of which each document has one value.
func (x *Scope) OneField(t syntax.Token) (*NamedField, error) {
	of, err := x.FieldOf(t)
	if err == nil && jsonfield.Several(of.path) {
		err = SeveralValues(t)
	}
	return of, err
}

// SeveralValues is the error for a path with [] or * where one value is needed.
func SeveralValues(t syntax.Token) error {
	return syntax.Errorf(t.Pos.Offset, "[] and * are for tests and SHOW", "%s leads to several values of a document", t.Value)
}

// field is a test of the value of a field, or of the text: lang = 'en', url LIKE 'http%'. If the
// value is missing, only IS NULL holds. Of several values, one must pass the test.
type field struct {
	name string      // as the user wrote it
	of   *NamedField // nil for the text
	// test decides on a value: a string without quotes and escapes, or the JSON text of another
	// value.
	test  func(value []byte) bool
	null  bool   // IS NULL
	label string // the text after name

	index   string                // name of the field in the index; "" if it is not indexed
	values  [][]engine.FieldRange // values that may pass the test; nil for all values
	decided bool                  // all values in values pass the test
}

func (p *field) ranges() ([][]engine.FieldRange, bool) {
	if p.index == "" || p.null {
		return nil, false
	} else if p.values == nil {
		return [][]engine.FieldRange{{{Field: p.index}}}, p.decided
	}
	return p.values, p.decided
}

// BindField resolves a test of a field.
func BindField(x *Scope, e *syntax.Test) (Predicate, error) {
	p := &field{name: e.Name.Value}
	if e.Name.Type == syntax.Keyword { // TEXT is the only such keyword
		p.name = "text"
		if err := x.NeedTexts(e.Name); err != nil {
			return nil, err
		}
	} else {
		of, err := x.FieldOf(e.Name)
		if err != nil {
			return nil, err
		}
		p.of = of
		for _, name := range x.DB.Options().Index {
			if paths, err := jsonfield.Paths(name); err == nil && slices.Equal(paths[0], of.path) {
				p.index, of.found = name, true // found: an indexed field needs no warning that no document has it
			}
		}
	}
	switch {
	case e.Is != nil:
		p.null, p.label = !e.IsNot, "IS NULL"
		if e.IsNot {
			p.label, p.test, p.decided = "IS NOT NULL", func([]byte) bool { return true }, true
		}
		return &content{p}, nil
	case e.Like != nil:
		return &content{p}, p.bindLike(x, e)
	case e.From != nil:
		return &content{p}, p.bindBetween(x, e)
	case e.In != nil:
		return &content{p}, p.bindIn(x, e)
	}
	return &content{p}, p.bindComparison(x, e)
}

func (p *field) bindLike(x *Scope, e *syntax.Test) error {
	pattern, err := compileLike(x, e.Like, e.Escape)
	if err != nil {
		return err
	}
	p.label = "LIKE " + value.Label(pattern.Source)
	x.doubtPattern(pattern)
	p.test = func(value []byte) bool { return pattern.Match(string(value)) }
	if lower, ok := value.CompilePattern(strings.ToLower(pattern.Source), ""); ok && e.Escape == nil {
		p.doubtCase(x, lower.Match)
	}
	if like := (operand{text: pattern.Prefix}); pattern.Exact {
		p.within(p.equal(like))
	} else {
		p.within(engine.FieldRange{Field: p.index, From: pattern.Prefix, To: base.PrefixEnd(pattern.Prefix), Below: true})
		p.decided = pattern.PrefixOnly()
	}
	p.not(e.Not)
	return nil
}

func (p *field) bindIn(x *Scope, e *syntax.Test) error {
	texts, numbers := map[string]bool{}, map[quantity.Decimal]bool{}
	var labels []string
	var ranges []engine.FieldRange
	for _, v := range e.In {
		err := x.Values.Each(v.Token, func(literal any) error {
			c, err := operandOf(x, v.Token, literal)
			labels, ranges = append(labels, c.label), append(ranges, p.equal(c))
			if c.number {
				numbers[quantity.ParseDecimal(c.text)] = true
			} else {
				texts[c.text] = true
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	p.within(ranges...)
	p.label = "IN (" + strings.Join(labels, ", ") + ")"
	p.test = func(value []byte) bool {
		return texts[string(value)] || len(numbers) > 0 && jsonfield.IsNumber(value) && numbers[quantity.ParseDecimal(string(value))]
	}
	p.not(e.Not)
	return nil
}

func (p *field) bindBetween(x *Scope, e *syntax.Test) error {
	from, err := bindValue(x, e.From.Token)
	if err != nil {
		return err
	}
	to, err := bindValue(x, e.To.Token)
	if err != nil {
		return err
	}
	p.label = "BETWEEN " + from.label + " AND " + to.label
	p.test = func(value []byte) bool {
		a, ok := from.compare(value)
		b, comparable := to.compare(value)
		return ok && comparable && a >= 0 && b <= 0
	}
	upTo := p.upTo(to, false)
	if p.within(upTo); from.number != to.number {
		p.values = append(p.values, []engine.FieldRange{p.from(from, false)})
	} else {
		p.values[0][0].From = from.text
	}
	p.not(e.Not)
	return nil
}

// not negates the test. A missing value still fails it.
func (p *field) not(negated bool) {
	if negated {
		test := p.test
		p.label, p.test, p.values = "NOT "+p.label, func(value []byte) bool { return !test(value) }, nil
		p.decided = false
	}
}

// within declares that exactly the values in ranges pass the test.
func (p *field) within(ranges ...engine.FieldRange) {
	p.values, p.decided = [][]engine.FieldRange{ranges}, true
}

// from returns the range of values at or above an operand. upTo returns those at or below it, and
// equal those equal to it. above and below exclude the operand itself.
func (p *field) from(o operand, above bool) engine.FieldRange {
	if above && o.text == "" { // an empty From would be no bound
		return engine.FieldRange{Field: p.index, From: afterEmpty}
	}
	return engine.FieldRange{Field: p.index, From: o.text, Above: above, Numbers: o.number}
}

func (p *field) upTo(o operand, below bool) engine.FieldRange {
	r := engine.FieldRange{Field: p.index, To: o.text, Below: below, Numbers: o.number}
	if o.text == "" {
		r.To, r.Below = afterEmpty, true
		if below { // no value is below ""
			r.From = afterEmpty
		}
	}
	return r
}

// afterEmpty is the least string that is greater than "".
const afterEmpty = "\x00"

func (p *field) equal(o operand) engine.FieldRange {
	r := p.upTo(o, false)
	r.From = o.text
	return r
}

func (p *field) bindComparison(x *Scope, e *syntax.Test) error {
	c, err := bindValue(x, e.Value.Token)
	if err != nil {
		return err
	}
	op := e.Op.Value
	if op == "<>" {
		op = "!="
	}
	switch p.label = op + " " + c.label; op {
	case "=":
		p.within(p.equal(c))
	case "<", "<=":
		p.within(p.upTo(c, op == "<"))
	case ">", ">=":
		p.within(p.from(c, op == ">"))
	}
	holds := map[string]func(c int) bool{
		"=": func(c int) bool { return c == 0 }, "!=": func(c int) bool { return c != 0 },
		"<": func(c int) bool { return c < 0 }, "<=": func(c int) bool { return c <= 0 },
		">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
	}[op]
	p.test = func(value []byte) bool {
		d, ok := c.compare(value)
		return ok && holds(d) || !ok && op == "!="
	}
	if op == "=" && !c.number {
		p.doubtCase(x, func(value string) bool { return value == strings.ToLower(c.text) })
	}
	return nil
}

// doubtCase makes Doubts say, if there are no rows, that one of the first values fails the test only
// by the case of its letters. same decides on a value in lower case.
func (p *field) doubtCase(x *Scope, same func(lower string) bool) {
	test, left := p.test, 10000
	p.test = func(v []byte) bool {
		holds := test(v)
		if left--; !holds && left > 0 && same(strings.ToLower(string(v))) {
			left = 0
			x.ifEmpty = append(x.ifEmpty, value.Brief(p.String()+" distinguishes upper and lower case: it misses "+value.Label(string(v))))
		}
		return holds
	}
}

// An operand is the value that a field is compared with.
type operand struct {
	// compare returns a negative number if a value is less than the operand. It returns false if
	// only one of the two is a number.
	compare comparison
	label   string // in the query language
	text    string // text of a string or a number
	number  bool   // comparable only with numbers
}

type comparison func(value []byte) (int, bool)

// bindValue resolves the value that a field is compared with. A string is compared byte by byte,
// with the JSON text of values that are not strings. A number is compared with numbers, and with
// strings that are numbers.
func bindValue(x *Scope, t syntax.Token) (operand, error) {
	v, err := x.Values.Get(t)
	if err != nil {
		return operand{}, err
	}
	return operandOf(x, t, v)
}

// operandOf is bindValue for a token t whose value is v.
func operandOf(x *Scope, t syntax.Token, v any) (operand, error) {
	switch v := v.(type) {
	case string:
		return operand{compareText(v), value.Label(v), v, false}, nil
	case value.Text:
		return operandOf(x, t, string(v))
	case bool:
		text := strconv.FormatBool(v)
		return operand{compareText(text), strings.ToUpper(text), text, false}, nil
	case value.Number:
		return operand{compareNumber(string(v)), string(v), string(v), true}, nil
	case uint64:
		return operandOf(x, t, value.Number(strconv.FormatUint(v, 10)))
	}
	return operand{}, x.Values.Wrong(t, syntax.ExpectValue)
}

func compareText(literal string) comparison {
	want := []byte(literal)
	return func(value []byte) (int, bool) { return bytes.Compare(value, want), true }
}

func compareNumber(literal string) comparison {
	want := quantity.ParseDecimal(literal)
	return func(value []byte) (int, bool) {
		if !jsonfield.IsNumber(value) {
			return 0, false
		}
		return quantity.ParseDecimal(string(value)).Compare(want), true
	}
}

// holds decides on a document.
func (p *field) holds(content, fields []byte) bool {
	v := content
	if p.of != nil {
		raw := p.of.Of(fields)
		if raw == nil {
			return p.null
		}
		if jsonfield.Several(p.of.path) {
			values := slices.Collect(jsonfield.ElementsOf(raw))
			return !p.null && slices.ContainsFunc(values, func(v []byte) bool { return p.test(jsonfield.Value(v)) })
		}
		v = jsonfield.Value(raw)
	} else if len(content) == 0 {
		return p.null
	}
	return !p.null && p.test(v)
}

func (p *field) readsText() bool { return p.of == nil }

// String writes the test in the query language.
func (p *field) String() string { return p.name + " " + p.label }

// compileLike resolves a pattern and its escape character, which may be nil.
func compileLike(x *Scope, like, escape *syntax.Token) (*value.Pattern, error) {
	pattern, err := x.Values.String(*like, "a pattern in quotes")
	if err != nil {
		return nil, err
	}
	character := ""
	if escape != nil {
		if character, err = x.Values.String(*escape, "one character in quotes"); err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(character) != 1 {
			return nil, x.Values.Wrong(*escape, "one character in quotes")
		}
	}
	p, ok := value.CompilePattern(pattern, character)
	if !ok {
		return nil, syntax.Errorf(like.Pos.Offset, "", "the pattern ends in its escape character")
	}
	return p, nil
}
