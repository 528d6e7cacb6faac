package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// tokenAt is the number of the token under test in its statement.
const tokenAt = 1

// statement returns a statement of a small language.
func statement(t *testing.T, text string) *syntax.Parsed {
	t.Helper()
	p, err := syntax.New(syntax.Vocabulary{Statements: []syntax.StatementWord{
		{Word: "GET"}, {Word: "WHY"}, {Word: "COUNT"},
	}}).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tok(kind syntax.Kind, text string) syntax.Token {
	t := syntax.Token{Type: kind, Value: text}
	t.Pos.Offset = tokenAt
	return t
}

// argument returns a ? token and the values of a statement that contains it.
func argument(t *testing.T, a any) (syntax.Token, *Values) {
	t.Helper()
	v := &Values{}
	if err := v.Init(statement(t, "GET ?"), []any{a}, nil); err != nil {
		t.Fatal(err)
	}
	return tok(syntax.Param, "?"), v
}

// literals are the values of a statement without parameters.
var literals = &Values{Parsed: &syntax.Parsed{}}

// wantError checks the message and the place of an error.
func wantError(t *testing.T, what string, err error, message string) {
	t.Helper()
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok || e.Error() != message || e.Offset != tokenAt {
		t.Errorf("%s: %v, want %s", what, err, message)
	}
}

func TestInit(t *testing.T) {
	p := statement(t, "WHY ? ?")
	for _, n := range []int{0, 1, 2} {
		if err := new(Values).Init(p, make([]any, n), nil); err != nil {
			t.Errorf("%d values: %v", n, err)
		}
	}
	err := new(Values).Init(p, make([]any, 3), nil)
	if e, ok := errors.AsType[*syntax.Error](err); !ok || p.Offset(e.Offset) != len(p.Text) || e.Class != syntax.BadValue ||
		e.Msg != "3 values are given, but the statement has 2 ?" {
		t.Errorf("three values for two: %v", err)
	}
	err = new(Values).Init(statement(t, "COUNT"), make([]any, 1), nil)
	if err == nil || err.Error() != "1 value is given, but the statement has 0 ?" {
		t.Errorf("one value for none: %v", err)
	}
}

func TestGetLiteral(t *testing.T) {
	for _, c := range []struct {
		kind syntax.Kind
		text string
		want any
	}{
		{syntax.String, `'a'`, "a"},
		{syntax.String, `''`, ""},
		{syntax.String, `'it''s '''`, "it's '"},
		{syntax.Hex, "0xff", uint64(255)},
		{syntax.Hex, "9f3c5a0011223344", uint64(0x9f3c5a0011223344)},
		{syntax.Number, "-1.50", Number("-1.50")},
		{syntax.Percent, "80%", Percent("80")},
		{syntax.Duration, "1d12h", 36 * time.Hour},
		{syntax.JSON, `{"id": 1}`, json.RawMessage(`{"id": 1}`)},
	} {
		if got, err := literals.Get(tok(c.kind, c.text)); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is %#v (%v), want %#v", c.text, got, err, c.want)
		}
	}
	_, err := literals.Get(tok(syntax.Keyword, "LIMIT"))
	wantError(t, "LIMIT", err, `unexpected "LIMIT"`)
	if _, err = literals.Get(tok(syntax.Hex, "0x10000000000000000")); err == nil {
		t.Error("17 digits are a fingerprint")
	}
}

func TestGetArgument(t *testing.T) {
	now := time.Now()
	for _, c := range []struct{ arg, want any }{
		{"a", "a"},
		{[]byte("a"), "a"},
		{uint64(math.MaxUint64), uint64(math.MaxUint64)},
		{Text("a"), Text("a")},
		{now, now},
		{time.Hour, time.Hour},
		{engine.Doc{ID: "a"}, engine.Doc{ID: "a"}},
		{&engine.Doc{ID: "a"}, engine.Doc{ID: "a"}},
		{json.RawMessage("{}"), json.RawMessage("{}")},
		{map[string]any{"id": "a"}, json.RawMessage(`{"id":"a"}`)},
		{-7, Number("-7")}, {int8(-7), Number("-7")}, {int16(-7), Number("-7")}, {int32(-7), Number("-7")},
		{int64(math.MinInt64), Number("-9223372036854775808")},
		{uint(7), Number("7")}, {uint8(7), Number("7")}, {uint16(7), Number("7")}, {uint32(math.MaxUint32), Number("4294967295")},
		{float32(0.1), Number("0.1")},
		{0.1, Number("0.1")},
		{1e300, Number("1e+300")},
	} {
		token, v := argument(t, c.arg)
		if got, err := v.Get(token); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%T %v is %#v (%v), want %#v", c.arg, c.arg, got, err, c.want)
		}
		v = &Values{Parsed: v.Parsed, named: map[string]any{"x": c.arg}}
		if got, err := v.Get(tok(syntax.Named, "$x")); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("$x = %T %v is %#v (%v), want %#v", c.arg, c.arg, got, err, c.want)
		}
	}
	for _, c := range []struct {
		arg     any
		message string
	}{
		{nil, "parameter ? has the unsupported type <nil>"},
		{[]int{1}, "parameter ? has the unsupported type []int"},
		{(*engine.Doc)(nil), "parameter ? has the unsupported type *engine.Doc"},
		{math.NaN(), "parameter ? is NaN, not a number"},
		{float32(math.Inf(-1)), "parameter ? is -Inf, not a number"},
		{map[string]any{"id": func() {}}, "parameter ?: json: unsupported type: func()"},
	} {
		token, v := argument(t, c.arg)
		_, err := v.Get(token)
		wantError(t, fmt.Sprintf("%T", c.arg), err, c.message)
	}
	v := &Values{Parsed: statement(t, "WHY ? ?"), positional: []any{"a"}}
	second := tok(syntax.Param, "?")
	second.Pos.Offset = 2
	_, err := v.Get(second)
	if e, ok := errors.AsType[*syntax.Error](err); !ok || e.Offset != 2 || e.Msg != "parameter 2 has no value" {
		t.Errorf("the second of one: %v", err)
	}
	_, err = v.Get(tok(syntax.Named, "$x"))
	wantError(t, "a name without value", err, "parameter $x has no value")
}

func TestString(t *testing.T) {
	const what = "a document id in quotes"
	if s, err := literals.String(tok(syntax.String, "'a'"), what); s != "a" || err != nil {
		t.Error(s, err)
	}
	_, err := literals.String(tok(syntax.Number, "3"), what)
	wantError(t, "a number", err, `"3" should be a document id in quotes`)
	token, v := argument(t, 3)
	_, err = v.String(token, what)
	wantError(t, "a number as a parameter", err, "the value of parameter ? should be a document id in quotes")
	_, err = literals.String(tok(syntax.Named, "$x"), what)
	wantError(t, "no value", err, "parameter $x has no value")
}

func TestInteger(t *testing.T) {
	const huge = "99999999999999999999"
	for _, c := range []struct {
		kind    syntax.Kind
		text    string
		lo, hi  int
		want    int
		message string
	}{
		{syntax.Number, "0", 0, 64, 0, ""},
		{syntax.Number, "64", 0, 64, 64, ""},
		{syntax.Number, "-3", -3, 0, -3, ""},
		{syntax.Hex, "0x40", 0, 64, 64, ""},
		{syntax.Number, fmt.Sprint(math.MaxInt), 1, math.MaxInt, math.MaxInt, ""},
		{syntax.Number, "65", 0, 64, 0, "k is 0..64, not 65, such as 3"},
		{syntax.Number, "-1", 0, 64, 0, "k is 0..64, not -1, such as 3"},
		{syntax.Hex, "0x41", 0, 64, 0, "k is 0..64, not 0x41, such as 3"},
		{syntax.Number, huge, 0, 64, 0, "k is 0..64, not " + huge + ", such as 3"},
		{syntax.Number, "0", 1, math.MaxInt, 0, "k is at least 1, not 0, such as 10"},
		{syntax.Number, "-" + huge, 1, math.MaxInt, 0, "k is at least 1, not -" + huge + ", such as 10"},
		{syntax.Number, huge, 1, math.MaxInt, 0, fmt.Sprintf("k is at most %d, not %s", math.MaxInt, huge)},
		{syntax.Hex, "0xffffffffffffffff", 1, math.MaxInt, 0, fmt.Sprintf("k is at most %d, not 0xffffffffffffffff", math.MaxInt)},
		{syntax.Number, "1.5", 0, 64, 0, `"1.5" should be a whole number such as 3`},
		{syntax.String, "'3'", 0, 64, 0, `'3' should be a whole number such as 3`},
		{syntax.Percent, "3%", 0, 64, 0, `"3%" should be a whole number such as 3`},
	} {
		got, err := literals.Integer(tok(c.kind, c.text), "k", c.lo, c.hi)
		if c.message != "" {
			wantError(t, c.text, err, c.message)
		} else if got != c.want || err != nil {
			t.Errorf("%s in %d..%d is %d (%v), want %d", c.text, c.lo, c.hi, got, err, c.want)
		}
	}
	token, v := argument(t, 3.5)
	_, err := v.Integer(token, "k", 0, 64)
	wantError(t, "3.5", err, "the value of parameter ? should be a whole number such as 3")
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		kind    syntax.Kind
		text    string
		want    float64
		message string
	}{
		{syntax.Number, "1", 1, ""},
		{syntax.Number, "0.8", 0.8, ""},
		{syntax.Number, "1e-300", 1e-300, ""},
		{syntax.Percent, "80%", 0.8, ""},
		{syntax.Percent, "100%", 1, ""},
		{syntax.Percent, "0.5%", 0.005, ""},
		{syntax.Number, "0", 0, "a share is more than 0 and at most 1, not 0, such as 0.8 or 80%"},
		{syntax.Number, "-0.5", 0, "a share is more than 0 and at most 1, not -0.5, such as 0.8 or 80%"},
		{syntax.Number, "80", 0, "a share is more than 0 and at most 1, not 80, such as 0.8 or 80%"},
		{syntax.Number, "101", 0, "a share is more than 0 and at most 1, not 101, such as 0.8 or 80%"},
		{syntax.Number, "1e999", 0, "a share is more than 0 and at most 1, not 1e999, such as 0.8 or 80%"},
		{syntax.Percent, "101%", 0, "a share is more than 0 and at most 1, not 101%, such as 0.8 or 80%"},
		{syntax.String, "'0.8'", 0, "'0.8' should be a share such as 0.8 or 80%"},
		{syntax.Hex, "0x1", 0, `"0x1" should be a share such as 0.8 or 80%`},
	} {
		got, err := literals.Share(tok(c.kind, c.text))
		if c.message != "" {
			wantError(t, c.text, err, c.message)
		} else if got != c.want || err != nil {
			t.Errorf("%s is %v (%v), want %v", c.text, got, err, c.want)
		}
	}
	token, v := argument(t, math.NaN())
	if x, err := v.Share(token); err == nil {
		t.Errorf("NaN is a share of %v", x)
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		kind    syntax.Kind
		text    string
		want    time.Time
		message string
	}{
		{syntax.Duration, "2d", now.AddDate(0, 0, -2), ""},
		{syntax.String, "'90m'", now.Add(-90 * time.Minute), ""},
		{syntax.String, "'2026-01-02'", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), ""},
		{syntax.String, "'2026-01-02T03:04:05+01:00'", time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC), ""},
		{syntax.String, "'2 January'", time.Time{}, "'2 January' should be a date such as '2026-01-02' or '2026-01-02T03:04:05Z', or without quotes a duration such as 2d"},
		{syntax.Number, "2", time.Time{}, "2 needs a unit of time, write 2d for days, 2h for hours"},
		{syntax.Hex, "0xff", time.Time{}, `"0xff" should be ` + syntax.ExpectSince},
	} {
		got, err := literals.Moment(tok(c.kind, c.text), now)
		if c.message != "" {
			wantError(t, c.text, err, c.message)
		} else if !got.Equal(c.want) || err != nil {
			t.Errorf("%s is %v (%v), want %v", c.text, got, err, c.want)
		}
	}
	for arg, want := range map[any]time.Time{time.Hour: now.Add(-time.Hour), now: now} {
		token, v := argument(t, arg)
		if got, err := v.Moment(token, now); err != nil || !got.Equal(want) {
			t.Errorf("%v is %v (%v), want %v", arg, got, err, want)
		}
	}
}

// TestNoValue calls every method with a parameter that has no value.
func TestNoValue(t *testing.T) {
	named := tok(syntax.Named, "$x")
	for name, get := range map[string]func() error{
		"String":   func() error { _, err := literals.String(named, "text"); return err },
		"Integer":  func() error { _, err := literals.Integer(named, "k", 0, 1); return err },
		"Share":    func() error { _, err := literals.Share(named); return err },
		"Moment":   func() error { _, err := literals.Moment(named, time.Now()); return err },
		"Document": func() error { _, err := literals.Document(named); return err },
	} {
		err := get()
		wantError(t, name, err, "parameter $x has no value")
		if e, ok := errors.AsType[*syntax.Error](err); ok && e.Class != syntax.BadValue {
			t.Errorf("%s: the class is %d", name, e.Class)
		}
	}
}

func TestDocument(t *testing.T) {
	fp, when := uint64(0x9f3c5a0011223344), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		raw  string
		want engine.Doc
	}{
		{`{"id": "a"}`, engine.Doc{ID: "a"}},
		{`{"id": 12.50}`, engine.Doc{ID: "12.50"}},
		{`{"id": "a", "id": "b"}`, engine.Doc{ID: "b"}},
		{`{"text": "some \"words\"", "id": "a"}`, engine.Doc{ID: "a", Text: `some "words"`}},
		{`{"id": "a", "text": null, "fields": null, "fingerprint": null, "time": null}`, engine.Doc{ID: "a"}},
		{`{"id": "a", "fingerprint": "9f3c5a0011223344"}`, engine.Doc{ID: "a", Fingerprints: []engine.Fingerprint{{fp}}}},
		{`{"id": "a", "fingerprint": 11474144906967135044}`, engine.Doc{ID: "a", Fingerprints: []engine.Fingerprint{{fp}}}},
		{`{"id": "a", "time": "2026-01-02T03:04:05Z"}`, engine.Doc{ID: "a", Time: when}},
		{`{"id": "a", "fields": {"n": 1}}`, engine.Doc{ID: "a", Fields: []byte(`{"n": 1}`)}},
		{`{"id": "a", "text": "x", "n": 1, "m": [2]}`, engine.Doc{ID: "a", Text: "x", Fields: []byte(`{"m":[2],"n":1}`)}},
	} {
		got, err := literals.Document(tok(syntax.JSON, c.raw))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is %+v (%v), want %+v", c.raw, got, err, c.want)
		}
		for _, arg := range []any{c.raw, json.RawMessage(c.raw), []byte(c.raw), c.want, &c.want} {
			token, v := argument(t, arg)
			if got, err := v.Document(token); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%T %s is %+v (%v), want %+v", arg, c.raw, got, err, c.want)
			}
		}
	}
}

// TestDocumentErrors puts wrong documents. The ^ marks the place of the error and is removed first.
func TestDocumentErrors(t *testing.T) {
	for marked, message := range map[string]string{
		`^[1]`:                               "the JSON should be an object",
		`^null`:                              "the JSON should be an object",
		`{"id": "a"^]`:                       "the JSON is not well-formed: invalid character ']' after object key:value pair, write {\"id\": \"a\", \"text\": \"...\"}",
		`^{"text": "x"}`:                     `the document has no "id", as in {"id": "a", "text": "..."}`,
		`^{"id": ""}`:                        `the document has no "id", as in {"id": "a", "text": "..."}`,
		`{"text": "x", ^"ids": "a"}`:         `the document has no "id", as in {"id": "a", "text": "..."}, did you mean "id" where it says "ids"?`,
		`{^"id": null}`:                      `"id" should be a string or a number, not null`,
		`{^"id": [1]}`:                       `"id" should be a string or a number, not [1]`,
		`{"id": "a", ^"text": 1}`:            `"text" should be a string, not 1`,
		`{"id": "a", ^"fields": [1]}`:        `"fields" should be an object, not [1]`,
		`{"id": "a", "fields": {}, ^"n": 1}`: `the document has "fields" and other keys beside it: put them into "fields"`,
		`{"id": "a", ^"time": "yesterday"}`:  `"time" should be written as in "2026-01-02T03:04:05Z", not "yesterday"`,
		`{"id": "a", ^"time": "0001-01-01T00:00:00Z"}`: `"time" is "0001-01-01T00:00:00Z", which means no time: leave it out`,
		`{"id": "a", ^"time": 5}`:                      `"time" should be written as in "2026-01-02T03:04:05Z", not 5`,
		`{"id": "a", ^"tex": "x"}`: `the document has neither "text" nor "fingerprint", did you mean "text" where it says "tex"?` +
			` (a field of another name goes into "fields")`,
		`{"id": "a", ^"text": [` + strings.Repeat("1,", 40) + `1]}`: `"text" should be a string, not [` + strings.Repeat("1,", 19) + `1…`,
	} {
		at := strings.IndexByte(marked, '^')
		raw := marked[:at] + marked[at+1:]
		_, err := literals.Document(tok(syntax.JSON, raw))
		if e, ok := errors.AsType[*syntax.Error](err); !ok || e.Msg != message || e.Offset != tokenAt || e.Within != at {
			t.Errorf("%s: %#v, want %s", marked, err, message)
		}
		token, v := argument(t, raw)
		_, err = v.Document(token)
		wantError(t, raw+" as a parameter", err, message)
	}
	_, err := literals.Document(tok(syntax.JSON, `{"id": "a", "fingerprint": "ghost"}`))
	if err == nil || !strings.HasPrefix(err.Error(), `"fingerprint": `) {
		t.Errorf("a fingerprint of letters: %v", err)
	}
	_, err = literals.Document(tok(syntax.Number, "3"))
	wantError(t, "a number", err, `"3" should be a document`)
}
