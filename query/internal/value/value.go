package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/syntax"
)

// Text is an argument that stands for TEXT '...'; a plain string would be the id of a document.
type Text string

// Number is a number as the user wrote it.
type Number string

// Percent is a percentage as the user wrote it, without its sign.
type Percent string

// Values converts the tokens of one statement to values: literals, and the arguments of parameters.
type Values struct {
	*syntax.Parsed
	positional []any
	named      map[string]any
}

// Init makes v the values of a statement. positional has the value of each ? in turn, named the
// value of each $name without the $. Init returns an error if there are more positional values than
// parameters.
func (v *Values) Init(p *syntax.Parsed, positional []any, named map[string]any) error {
	*v = Values{p, positional, named}
	if given, want := len(positional), len(p.Params); given > want {
		return v.Errorf(p.End(), "", "%s given, but the statement has %s",
			quantity.Plain(given, "value is", "values are"), quantity.Plain(want, "?", "?"))
	}
	return nil
}

// Errorf returns an error about a value at an offset of the statement.
func (v *Values) Errorf(offset int, hint, format string, args ...any) *syntax.Error {
	e := syntax.Errorf(offset, hint, format, args...)
	e.Class = syntax.BadValue
	return e
}

// Get returns the value of a token. A literal is a string, uint64 (hexadecimal), []uint64
// (hexadecimal with more than 64 bits), Number, Percent, time.Duration or json.RawMessage. A
// parameter is a string, bool, uint64, []uint64, Number, time.Duration, time.Time, json.RawMessage,
// Text or engine.Doc.
func (v *Values) Get(t syntax.Token) (any, error) {
	t = v.Written(t)
	switch t.Type {
	case syntax.Bool:
		return t.Value == "TRUE", nil
	case syntax.String:
		return strings.ReplaceAll(t.Value[1:len(t.Value)-1], "''", "'"), nil
	case syntax.Hex:
		words, err := parseWords(t.Value, base.Auto)
		if err != nil {
			return nil, v.Errorf(t.Pos.Offset, "", "%v", err)
		}
		if len(words) == 1 {
			return words[0], nil
		}
		return words, nil
	case syntax.Number:
		return Number(t.Value), nil
	case syntax.Percent:
		return Percent(strings.TrimSuffix(t.Value, "%")), nil
	case syntax.Duration:
		d, _ := quantity.ParseDuration(t.Value)
		return d, nil
	case syntax.JSON:
		return json.RawMessage(t.Value), nil
	case syntax.Param, syntax.Named:
		if a, ok := v.argument(t); ok {
			return v.normal(t, a)
		}
		name := t.Value
		if t.Type == syntax.Param {
			name = strconv.Itoa(v.Params[t.Pos.Offset] + 1)
		}
		return nil, v.Errorf(t.Pos.Offset, "", "parameter %s has no value", name)
	}
	return nil, syntax.Errorf(t.Pos.Offset, "", "unexpected %s", syntax.Quote(t))
}

// parseWords reads a fingerprint. The length of the text says how many words it has.
func parseWords(text string, n base.Notation) ([]uint64, error) {
	words := make([]uint64, 1)
	if bits, ok := base.WidthOf(text); ok && n == base.Auto {
		words = make([]uint64, bits/base.FingerprintBits)
	}
	_, err := base.ParseWords(words, text, n)
	return words, err
}

// normal converts an argument to one of the types that Get returns.
func (v *Values) normal(t syntax.Token, a any) (any, error) {
	switch a := a.(type) {
	case string, bool, uint64, []uint64, Text, time.Time, time.Duration, engine.Doc, json.RawMessage:
		return a, nil
	case syntax.Token:
		a.Pos = t.Pos
		return v.Get(a)
	case engine.Fingerprint:
		return []uint64(a), nil
	case *engine.Doc:
		if a != nil {
			return *a, nil
		}
	case []byte:
		return string(a), nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32:
		return Number(fmt.Sprint(a)), nil
	case float32, float64:
		if s := fmt.Sprint(a); quantity.IsDecimal(s) {
			return Number(s), nil
		}
		return nil, v.Errorf(t.Pos.Offset, "", "parameter %s is %v, not a number", t.Value, a)
	case map[string]any:
		raw, err := json.Marshal(a)
		if err != nil {
			return nil, v.Errorf(t.Pos.Offset, "", "parameter %s: %v", t.Value, err)
		}
		return json.RawMessage(raw), nil
	}
	return nil, v.Errorf(t.Pos.Offset, "", "parameter %s has the unsupported type %T", t.Value, a)
}

// Each calls fn with the values of an element of a list: with the value of t or, if t is a
// parameter whose argument is a slice, with each value of the slice.
func (v *Values) Each(t syntax.Token, fn func(value any) error) error {
	arg, given := v.argument(t)
	list := reflect.ValueOf(arg)
	if _, bytes := arg.([]byte); !given || bytes || list.Kind() != reflect.Slice || list.Type() == reflect.TypeFor[json.RawMessage]() ||
		list.Type() == reflect.TypeFor[engine.Fingerprint]() {
		value, err := v.Get(t)
		if err != nil {
			return err
		}
		return fn(value)
	}
	for i := range list.Len() {
		value, err := v.normal(t, list.Index(i).Interface())
		if err == nil {
			err = fn(value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// argument returns the argument of t, if t is a parameter that has one.
func (v *Values) argument(t syntax.Token) (arg any, ok bool) {
	switch t.Type {
	case syntax.Param:
		if n := v.Params[t.Pos.Offset]; n < len(v.positional) {
			return v.positional[n], true
		}
	case syntax.Named:
		arg, ok = v.named[t.Value[1:]]
	}
	return arg, ok
}

// Wrong returns the error for a value that is not as expected; want describes the expected value.
func (v *Values) Wrong(t syntax.Token, want string) error {
	if t.Type == syntax.Param || t.Type == syntax.Named {
		return v.Errorf(t.Pos.Offset, "", "the value of parameter %s should be %s", t.Value, want)
	}
	return syntax.Errorf(t.Pos.Offset, "", "%s should be %s", syntax.Quote(v.Written(t)), want)
}

// String returns a string; error messages use what to say which string is expected.
func (v *Values) String(t syntax.Token, what string) (string, error) {
	a, err := v.Get(t)
	if err != nil {
		return "", err
	}
	if s, ok := a.(string); ok {
		return s, nil
	}
	return "", v.Wrong(t, what)
}

// Integer returns a whole number in lo..hi; error messages call it what.
func (v *Values) Integer(t syntax.Token, what string, lo, hi int) (int, error) {
	if n, ok := v.small(t); ok && lo <= n && n <= hi {
		return n, nil
	}
	a, err := v.Get(t)
	if err != nil {
		return 0, err
	}
	var n int
	switch a := a.(type) {
	case Number:
		// For a number out of range, ParseInt returns the nearest number in range.
		var parsed int64
		if parsed, err = strconv.ParseInt(string(a), 10, strconv.IntSize); errors.Is(err, strconv.ErrSyntax) {
			return 0, v.Wrong(t, "a whole number such as 3")
		}
		n = int(parsed)
	case uint64:
		if n = int(a); a > math.MaxInt {
			n, err = math.MaxInt, strconv.ErrRange
		}
	default:
		return 0, v.Wrong(t, "a whole number such as 3")
	}
	switch {
	case (n < lo || n > hi) && hi < math.MaxInt:
		return 0, v.Errorf(t.Pos.Offset, fmt.Sprintf("such as %d", min(max(3, lo), hi)), "%s is %d..%d, not %s", what, lo, hi, shownNumber(a))
	case n < lo:
		return 0, v.Errorf(t.Pos.Offset, fmt.Sprintf("such as %d", max(10, lo)), "%s is at least %d, not %s", what, lo, shownNumber(a))
	case err != nil:
		return 0, v.Errorf(t.Pos.Offset, "", "%s is at most %d, not %s", what, math.MaxInt, shownNumber(a))
	}
	return n, nil
}

// small returns a whole number if it can without allocating a value for it.
func (v *Values) small(t syntax.Token) (n int, ok bool) {
	if t.Type == syntax.Number {
		n, err := strconv.Atoi(v.Written(t).Value)
		return n, err == nil
	}
	arg, _ := v.argument(t)
	n, ok = arg.(int)
	return n, ok
}

func shownNumber(a any) string {
	if u, ok := a.(uint64); ok {
		return fmt.Sprintf("%#x", u)
	}
	return fmt.Sprint(a)
}

// Share returns a threshold t, 0 < t <= 1. 80% is 0.8.
func (v *Values) Share(t syntax.Token) (float64, error) {
	a, err := v.Get(t)
	if err != nil {
		return 0, err
	}
	var x float64
	var ok bool
	switch a := a.(type) {
	case Number:
		x, ok = quantity.ParseShare(string(a))
	case Percent:
		x, ok = quantity.ParseShare(string(a) + "%")
	default:
		return 0, v.Wrong(t, "a share such as 0.8 or 80%")
	}
	if !ok || !(x > 0 && x <= 1) {
		return 0, v.Errorf(t.Pos.Offset, "such as 0.8 or 80%", "a share is more than 0 and at most 1, not %v", v.Written(t).Value)
	}
	return x, nil
}

// Moment returns a time, which the statement gives as a time or as a duration before now.
func (v *Values) Moment(t syntax.Token, now time.Time) (time.Time, error) {
	a, err := v.Get(t)
	if err != nil {
		return time.Time{}, err
	}
	switch a := a.(type) {
	case time.Duration:
		return now.Add(-a), nil
	case time.Time:
		return a, nil
	case string:
		if m, ok := quantity.ParseTime(a); ok {
			return m, nil
		}
		if d, ok := quantity.ParseDuration(a); ok {
			return now.Add(-d), nil
		}
		return time.Time{}, v.Wrong(t, "a date such as '2026-01-02' or '2026-01-02T03:04:05Z', or without quotes a duration such as 2d")
	case Number:
		return time.Time{}, v.Errorf(t.Pos.Offset, fmt.Sprintf("write %sd for days, %sh for hours", a, a), "%s needs a unit of time", a)
	}
	return time.Time{}, v.Wrong(t, syntax.ExpectSince)
}
