package predicate

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// longColumns are the columns whose names a misspelled word is taken for; the names of others are
// so short that many fields are close to them.
var longColumns = []string{"fingerprint", "distance"}

// FieldPath returns the keys under which the field that a token names is found in the fields of a
// document. It returns an error for a word that is almost a column.
func FieldPath(t syntax.Token) ([]string, error) {
	path := syntax.Path(t)
	if len(path) > 1 {
		if path[0] == "fields" {
			path = path[1:]
		}
		return path, nil
	}
	if hint := syntax.Suggest(path[0], longColumns); hint != "" && len(path[0]) > 5 {
		return nil, syntax.Errorf(t.Pos.Offset, hint+" A field of that name is written fields."+path[0], "unknown column %q", path[0])
	}
	return path, nil
}

// field is a test of the value of a field, or of the text: lang = 'en', url LIKE 'http%'. All tests
// but IS NULL fail for a value that is not there.
type field struct {
	name string      // as it was written
	of   *NamedField // nil for the text
	// test decides on a value: a string without quotes and escapes, or another JSON value as it is
	// written.
	test  func(value []byte) bool
	null  bool   // IS NULL
	label string // what follows name
}

// BindField resolves a test of a field.
func BindField(x *Scope, e *syntax.FieldTest) (Predicate, error) {
	p := &field{name: e.Name.Value}
	if e.Name.Type == syntax.Keyword { // TEXT is the only one
		p.name = "text"
	} else {
		if word := strings.ToLower(p.name); word == "fields" || word == "fingerprint" || word == "error" || word == "exact" {
			return nil, syntax.Errorf(e.Name.Pos.Offset, "a field of that name is written fields."+p.name, "%q is a column, not a field", p.name)
		}
		path, err := FieldPath(e.Name)
		if err != nil {
			return nil, err
		}
		p.of = x.Field(p.name, path)
	}
	what := "fields"
	if p.of == nil {
		what = "texts"
	}
	if err := x.needContent(e.Name, what); err != nil {
		return nil, err
	}
	switch {
	case e.Is != nil:
		p.null, p.label = !e.IsNot, "IS NULL"
		if e.IsNot {
			p.label, p.test = "IS NOT NULL", func([]byte) bool { return true }
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

func (p *field) bindLike(x *Scope, e *syntax.FieldTest) error {
	pattern, err := compileLike(x, e.Like, e.Escape)
	if err != nil {
		return err
	}
	p.label = "LIKE " + value.Label(pattern.Source)
	x.doubtPattern(pattern)
	p.test = func(value []byte) bool { return pattern.Match(string(value)) }
	p.not(e.Not)
	return nil
}

func (p *field) bindIn(x *Scope, e *syntax.FieldTest) error {
	var tests []func([]byte) bool
	var labels []string
	for _, v := range e.In {
		err := x.Values.Each(v.Value, func(literal any) error {
			c, label, err := comparisonWith(x, v.Value, literal)
			labels = append(labels, label)
			tests = append(tests, func(value []byte) bool { d, ok := c(value); return ok && d == 0 })
			return err
		})
		if err != nil {
			return err
		}
	}
	p.label = "IN (" + strings.Join(labels, ", ") + ")"
	p.test = func(value []byte) bool {
		for _, test := range tests {
			if test(value) {
				return true
			}
		}
		return false
	}
	p.not(e.Not)
	return nil
}

func (p *field) bindBetween(x *Scope, e *syntax.FieldTest) error {
	from, first, err := bindValue(x, e.From.Value)
	if err != nil {
		return err
	}
	to, last, err := bindValue(x, e.To.Value)
	if err != nil {
		return err
	}
	p.label = "BETWEEN " + first + " AND " + last
	p.test = func(value []byte) bool {
		a, ok := from(value)
		b, comparable := to(value)
		return ok && comparable && a >= 0 && b <= 0
	}
	p.not(e.Not)
	return nil
}

// not negates the test of values that are there.
func (p *field) not(negated bool) {
	if negated {
		test := p.test
		p.label, p.test = "NOT "+p.label, func(value []byte) bool { return !test(value) }
	}
}

func (p *field) bindComparison(x *Scope, e *syntax.FieldTest) error {
	c, label, err := bindValue(x, e.Value.Value)
	if err != nil {
		return err
	}
	op := e.Op.Value
	if op == "<>" {
		op = "!="
	}
	p.label = op + " " + label
	holds := map[string]func(c int) bool{
		"=": func(c int) bool { return c == 0 }, "!=": func(c int) bool { return c != 0 },
		"<": func(c int) bool { return c < 0 }, "<=": func(c int) bool { return c <= 0 },
		">": func(c int) bool { return c > 0 }, ">=": func(c int) bool { return c >= 0 },
	}[op]
	p.test = func(value []byte) bool {
		d, ok := c(value)
		return ok && holds(d) || !ok && op == "!="
	}
	return nil
}

// comparison compares a value with a literal: less than 0 if the value is less. It returns false if
// one is a number and the other is not.
type comparison func(value []byte) (int, bool)

// bindValue resolves what a field is compared with, and returns it as the language writes it too. A
// string is compared byte by byte, with other values as they are written. A number is compared with
// numbers, and with strings that are numbers.
func bindValue(x *Scope, t syntax.Token) (comparison, string, error) {
	v, err := x.Values.Get(t)
	if err != nil {
		return nil, "", err
	}
	return comparisonWith(x, t, v)
}

// comparisonWith is bindValue for a value of t.
func comparisonWith(x *Scope, t syntax.Token, v any) (comparison, string, error) {
	switch v := v.(type) {
	case string:
		return compareText(v), value.Label(v), nil
	case value.Text:
		return compareText(string(v)), value.Label(string(v)), nil
	case bool:
		return compareText(strconv.FormatBool(v)), strings.ToUpper(strconv.FormatBool(v)), nil
	case value.Number:
		return compareNumber(string(v)), string(v), nil
	case uint64:
		n := strconv.FormatUint(v, 10)
		return compareNumber(n), n, nil
	}
	return nil, "", x.Values.Wrong(t, syntax.ExpectValue)
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
		v = jsonfield.Value(raw)
	} else if len(content) == 0 {
		return p.null
	}
	return !p.null && p.test(v)
}

func (p *field) ofText() bool { return p.of == nil }

// String writes the test as the language does.
func (p *field) String() string { return p.name + " " + p.label }

// compileLike resolves a pattern with its escape character, which may be nil.
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
