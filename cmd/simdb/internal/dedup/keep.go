package dedup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

// keepRule says which document of a cluster is kept. Of equal documents it is always the first.
type keepRule struct {
	name  string // first, last, longest, shortest, max or min
	field string // of max and min
}

// UnmarshalText parses a rule.
func (k *keepRule) UnmarshalText(text []byte) error {
	name, field, _ := strings.Cut(string(text), ":")
	switch {
	case name == "max" || name == "min":
		if field == "" {
			return fmt.Errorf("%q needs the name of a field, such as %s:score", text, name)
		}
	case name != "first" && name != "last" && name != "longest" && name != "shortest" || field != "":
		return fmt.Errorf("%q is not one of first, last, longest, shortest, max:FIELD, min:FIELD", text)
	}
	*k = keepRule{name, field}
	return nil
}

// String is the rule as it is written.
func (k keepRule) String() string {
	if k.field == "" {
		return k.name
	}
	return k.name + ":" + k.field
}

// A value is what a rule compares: a length, or what a document has in the field of the rule.
type value struct {
	kind   valueKind
	number float64
	text   string // of a string, or of a number whose digits a float64 may not hold
}

// valueKind is the type of a value. Values of a lesser type come before those of a greater one.
type valueKind uint8

const (
	absent  valueKind = iota // also null, arrays and objects; the last by both max and min
	boolean                  // false, true
	number
	text
)

// ranking has the values of all documents by which the rule of --keep compares them.
type ranking struct {
	rule    keepRule
	values  []value         // by ordinal; empty for first and last
	missing int64           // documents without a value
	strings bool            // a string of the field is not a number, so all compare as strings
	fields  map[string]bool // that documents have
}

// maxFields is how many names of fields are remembered for a message.
const maxFields = 1000

// add adds the value of the next document.
func (r *ranking) add(rec *input.Record) {
	switch r.rule.name {
	case "first", "last":
		return
	case "longest", "shortest":
		r.values = append(r.values, value{kind: number, number: float64(utf8.RuneCountInString(rec.Doc.Text))})
		return
	}
	v := r.field(rec)
	if v.kind == absent {
		r.missing++
	}
	if v.kind == text && !numeral.MatchString(v.text) {
		r.strings = true
	}
	r.values = append(r.values, v)
}

// field returns what a document has in the field of the rule. The id and the text can be that
// field, too.
func (r *ranking) field(rec *input.Record) value {
	var all map[string]json.RawMessage
	if len(rec.Doc.Fields) > 0 {
		json.Unmarshal(rec.Doc.Fields, &all)
	}
	raw, has := all[r.rule.field]
	switch {
	case has:
		if v := valueOf(raw); v.kind != absent {
			return v
		}
	case r.rule.field == "id":
		return value{kind: text, text: rec.Doc.ID}
	case r.rule.field == "text":
		return value{kind: text, text: rec.Doc.Text}
	}
	if r.fields == nil {
		r.fields = map[string]bool{}
	}
	for name := range all {
		if len(r.fields) < maxFields || name == r.rule.field {
			r.fields[name] = true
		}
	}
	return value{}
}

// numeral matches strings that are numbers.
var numeral = regexp.MustCompile(`^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$`)

// exactDigits is how many digits a float64 holds exactly.
const exactDigits = 15

// valueOf returns the value of JSON text.
func valueOf(raw json.RawMessage) value {
	var s string
	switch raw = json.RawMessage(strings.TrimSpace(string(raw))); {
	case len(raw) == 0:
		return value{}
	case raw[0] == '"':
		if json.Unmarshal(raw, &s) != nil {
			return value{}
		}
		return value{kind: text, text: s}
	case raw[0] == 't':
		return value{kind: boolean, number: 1}
	case raw[0] == 'f':
		return value{kind: boolean}
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return numberOf(string(raw))
	}
	return value{}
}

// numberOf returns the value of a number.
func numberOf(digits string) value {
	digits = strings.TrimSpace(digits)
	v := value{kind: number}
	v.number, _ = strconv.ParseFloat(digits, 64) // a number that is too large is infinite
	// A number with an exponent may have too many digits to write out.
	if len(digits) > exactDigits && !math.IsInf(v.number, 0) && !strings.ContainsAny(digits, "eE") {
		v.text = digits
	}
	return v
}

// decide decides how values compare, once all are known. It returns an error if no document has a
// value.
func (r *ranking) decide() error {
	if len(r.values) > 0 && r.missing == int64(len(r.values)) {
		return r.unknown()
	}
	if r.strings {
		return nil
	}
	for i, v := range r.values {
		if v.kind == text {
			r.values[i] = numberOf(v.text)
		}
	}
	return nil
}

// unknown is the error for a field that no document has, or has a value in.
func (r *ranking) unknown() error {
	names := slices.Sorted(maps.Keys(r.fields))
	if r.fields[r.rule.field] || len(names) == 0 {
		return fmt.Errorf("--keep %v: no document has a number, a string or a boolean in the field %q", r.rule, r.rule.field)
	}
	hint := "the fields are " + strings.Join(names[:min(len(names), 20)], ", ")
	if name, ok := query.Closest(r.rule.field, names); ok {
		hint = fmt.Sprintf("did you mean %q? %s", name, hint)
	}
	return fmt.Errorf("--keep %v: no document has a field %q; %s", r.rule, r.rule.field, hint)
}

// ruleFor returns the rule by which a document is kept. A document without a value is kept only if
// its whole cluster has none, and then because it is the first.
func (r *ranking) ruleFor(keeper int64) string {
	if len(r.values) > 0 && r.values[keeper].kind == absent {
		return "first"
	}
	return r.rule.String()
}

// before returns the order of preference for engine.Clusters, whose documents are called by
// ordinal. It is nil for the order of writing.
func (r *ranking) before() func(a, b engine.Entry) bool {
	sign := 1
	switch r.rule.name {
	case "first":
		return nil // the loader has written them in this order
	case "last":
		return func(a, b engine.Entry) bool { return a.ID > b.ID }
	case "min", "shortest":
		sign = -1
	}
	return func(a, b engine.Entry) bool {
		x, y := &r.values[ordinalOf(a.ID)], &r.values[ordinalOf(b.ID)]
		if (x.kind == absent) != (y.kind == absent) {
			return y.kind == absent
		}
		c := sign * x.compare(y)
		return c > 0 || c == 0 && a.ID < b.ID
	}
}

// compare is a total order: by type, then by number, or by the bytes of a string.
func (v *value) compare(w *value) int {
	switch {
	case v.kind != w.kind:
		return cmp.Compare(v.kind, w.kind)
	case v.kind == text:
		return cmp.Compare(v.text, w.text)
	case v.number != w.number || v.text == "" && w.text == "":
		return cmp.Compare(v.number, w.number)
	}
	return compareDigits(v.digits(), w.digits())
}

// digits are those of a number.
func (v *value) digits() string {
	if v.text != "" {
		return v.text
	}
	return strconv.FormatFloat(v.number, 'f', -1, 64)
}

// compareDigits compares numbers that are the same float64.
func compareDigits(a, b string) int {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if !okX || !okY {
		return 0
	}
	return x.Cmp(y)
}

// An ordinal is the number of a document among those read, from 0. As an ID it has a fixed width,
// so that IDs are in the order of the ordinals:
//
//	5 bytes, big-endian: room for 10^12 documents
const ordinalBytes = 5

func ordinalID(n int64) string {
	return string([]byte{byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

func ordinalOf(id string) int64 {
	n := int64(0)
	for i := range ordinalBytes {
		n = n<<8 | int64(id[i])
	}
	return n
}
