package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fptext"
)

// Text as an argument of Run is a text to compare with, where a string would be the id of a document: it stands for
// TEXT '...'.
type Text string

// Named as an argument of Run is the value of $Name.
type Named struct {
	Name  string // without the $
	Value any
}

// number is a number as it was written.
type number string

// percent is a percentage, without its sign.
type percent string

// values turns tokens into values: literals, and what was given for the parameters.
type values struct {
	p          *parsed
	positional []any
	named      map[string]any
}

// newValues takes the arguments of Run and checks that they fit the statement.
func newValues(p *parsed, args []any) (*values, error) {
	v := &values{p: p, named: make(map[string]any)}
	for _, a := range args {
		if n, ok := a.(Named); ok {
			v.named[strings.TrimPrefix(n.Name, "$")] = n.Value
		} else {
			v.positional = append(v.positional, a)
		}
	}
	if given, want := len(v.positional), len(p.params); given > want {
		return nil, v.errorf(len(p.text), "", "%s given, but the statement has %s", plural(given, "value is", "values are"), plural(want, "?", "?"))
	}
	return v, nil
}

// plural writes a count with its noun: "1 row", "3 rows".
func plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// errorf returns an error about a value at an offset of the statement.
func (v *values) errorf(offset int, hint, format string, args ...any) *ParseError {
	e := errorAt(v.p.text, offset, hint, format, args...)
	e.Class = ClassParameter
	return e
}

// get returns the value of a token: string, uint64 for hexadecimal, number, percent, time.Duration, json.RawMessage; of
// a parameter string, uint64, number, time.Duration, time.Time, json.RawMessage, Text or engine.Doc.
func (v *values) get(t lexer.Token) (any, error) {
	switch t.Type {
	case tokString:
		return strings.ReplaceAll(t.Value[1:len(t.Value)-1], "''", "'"), nil
	case tokHex:
		fp, _, err := fptext.Parse(t.Value, fptext.Auto)
		if err != nil {
			return nil, v.errorf(t.Pos.Offset, "", "%v", err)
		}
		return fp, nil
	case tokNumber:
		return number(t.Value), nil
	case tokPercent:
		return percent(strings.TrimSuffix(t.Value, "%")), nil
	case tokDuration:
		d, _ := ParseDuration(t.Value)
		return d, nil
	case tokJSON:
		return json.RawMessage(t.Value), nil
	case tokParam:
		if n := v.p.params[t.Pos.Offset]; n < len(v.positional) {
			return v.normal(t, v.positional[n])
		}
		return nil, v.errorf(t.Pos.Offset, "", "parameter %d has no value", v.p.params[t.Pos.Offset]+1)
	case tokNamed:
		if a, ok := v.named[t.Value[1:]]; ok {
			return v.normal(t, a)
		}
		return nil, v.errorf(t.Pos.Offset, "", "parameter %s has no value", t.Value)
	}
	return nil, errorAt(v.p.text, t.Pos.Offset, "", "unexpected %s", quoteToken(t))
}

// normal turns an argument of Run into one of the types that get promises.
func (v *values) normal(t lexer.Token, a any) (any, error) {
	switch a := a.(type) {
	case string, uint64, Text, time.Time, time.Duration, engine.Doc, json.RawMessage:
		return a, nil
	case *engine.Doc:
		if a != nil {
			return *a, nil
		}
	case []byte:
		return string(a), nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32:
		return number(fmt.Sprint(a)), nil
	case float32:
		return number(strconv.FormatFloat(float64(a), 'g', -1, 32)), nil
	case float64:
		return number(strconv.FormatFloat(a, 'g', -1, 64)), nil
	case map[string]any:
		raw, err := json.Marshal(a)
		if err != nil {
			return nil, v.errorf(t.Pos.Offset, "", "parameter %s: %v", t.Value, err)
		}
		return json.RawMessage(raw), nil
	}
	return nil, v.errorf(t.Pos.Offset, "", "parameter %s has a value of type %T, which means nothing here", t.Value, a)
}

// wrong says that a value is not what must stand there.
func (v *values) wrong(t lexer.Token, want string) error {
	if t.Type == tokParam || t.Type == tokNamed {
		return v.errorf(t.Pos.Offset, "", "the value of parameter %s should be %s", t.Value, want)
	}
	return errorAt(v.p.text, t.Pos.Offset, "", "%s should be %s", quoteToken(t), want)
}

// str returns a string: an id, or a pattern.
func (v *values) str(t lexer.Token, what string) (string, error) {
	a, err := v.get(t)
	if err != nil {
		return "", err
	}
	if s, ok := a.(string); ok {
		return s, nil
	}
	return "", v.wrong(t, what)
}

// integer returns a whole number in lo..hi.
func (v *values) integer(t lexer.Token, what string, lo, hi int) (int, error) {
	a, err := v.get(t)
	if err != nil {
		return 0, err
	}
	var n int
	switch a := a.(type) {
	case number:
		// Of a number that is out of range ParseInt returns the nearest one that is not.
		var parsed int64
		if parsed, err = strconv.ParseInt(string(a), 10, strconv.IntSize); errors.Is(err, strconv.ErrSyntax) {
			return 0, v.wrong(t, "a whole number")
		}
		n = int(parsed)
	case uint64:
		if n = int(a); a > math.MaxInt {
			n, err = math.MaxInt, strconv.ErrRange
		}
	default:
		return 0, v.wrong(t, "a whole number")
	}
	switch {
	case (n < lo || n > hi) && hi < math.MaxInt:
		return 0, v.errorf(t.Pos.Offset, "", "%s is %d..%d, not %s", what, lo, hi, shownNumber(a))
	case n < lo:
		return 0, v.errorf(t.Pos.Offset, "", "%s is at least %d, not %s", what, lo, shownNumber(a))
	case err != nil:
		return 0, v.errorf(t.Pos.Offset, "", "%s is at most %d, not %s", what, math.MaxInt, shownNumber(a))
	}
	return n, nil
}

func shownNumber(a any) string {
	if u, ok := a.(uint64); ok {
		return fmt.Sprintf("%#x", u)
	}
	return fmt.Sprint(a)
}

// share returns a threshold t, 0 < t <= 1; 80% is 0.8.
func (v *values) share(t lexer.Token) (float64, error) {
	a, err := v.get(t)
	if err != nil {
		return 0, err
	}
	var x float64
	switch a := a.(type) {
	case number:
		x, err = strconv.ParseFloat(string(a), 64)
	case percent:
		x, err = strconv.ParseFloat(string(a), 64)
		x /= 100
	default:
		return 0, v.wrong(t, "a share such as 0.8 or 80%")
	}
	if err != nil || !(x > 0 && x <= 1) {
		hint := ""
		if _, ok := a.(number); ok && x > 1 && x <= 100 {
			hint = fmt.Sprintf("write %g%% or %g", x, x/100)
		}
		return 0, v.errorf(t.Pos.Offset, hint, "a share is more than 0 and at most 1, not %v", strings.TrimSuffix(t.Value, ";"))
	}
	return x, nil
}

// moment returns a time: given as one, or as how long before now it was.
func (v *values) moment(t lexer.Token, now time.Time) (time.Time, error) {
	a, err := v.get(t)
	if err != nil {
		return time.Time{}, err
	}
	switch a := a.(type) {
	case time.Duration:
		return now.Add(-a), nil
	case time.Time:
		return a, nil
	case string:
		if m, ok := parseTime(a); ok {
			return m, nil
		}
		if d, ok := ParseDuration(a); ok {
			return now.Add(-d), nil
		}
		return time.Time{}, v.wrong(t, "a date such as '2026-01-02' or '2026-01-02T03:04:05Z'")
	case number:
		return time.Time{}, v.errorf(t.Pos.Offset, fmt.Sprintf("write %sd for days, %sh for hours", a, a), "%s of what", a)
	}
	return time.Time{}, v.wrong(t, expectSince)
}
