package grouping

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/records"
)

// A Value is the value of a document in a field. Equal values are ==.
type Value struct {
	Kind   Kind
	Number quantity.Decimal
	Text   string // for a string
}

// Kind is the type of a Value. Values of a lesser type sort before those of a greater one.
type Kind uint8

// The types of values.
const (
	Absent  Kind = iota // also null, arrays and objects
	Boolean             // false, true
	Number
	Text
)

// Compare defines a total order: by type, then by number, or by the bytes of a string.
func (v *Value) Compare(w *Value) int {
	switch {
	case v.Kind != w.Kind:
		return cmp.Compare(v.Kind, w.Kind)
	case v.Kind == Text:
		return cmp.Compare(v.Text, w.Text)
	}
	return v.Number.Compare(w.Number)
}

// numeral matches strings that represent numbers.
var numeral = regexp.MustCompile(`^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$`)

// IsNumeral reports whether a value is a string that represents a number.
func (v *Value) IsNumeral() bool { return v.Kind == Text && numeral.MatchString(v.Text) }

func valueOf(raw json.RawMessage) Value {
	var s string
	switch raw = json.RawMessage(strings.TrimSpace(string(raw))); {
	case len(raw) == 0:
		return Value{}
	case raw[0] == '"':
		if json.Unmarshal(raw, &s) != nil {
			return Value{}
		}
		return Value{Kind: Text, Text: s}
	case raw[0] == 't':
		return Value{Kind: Boolean, Number: quantity.ParseDecimal("1")}
	case raw[0] == 'f':
		return Value{Kind: Boolean}
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return Value{Kind: Number, Number: quantity.ParseDecimal(string(raw))}
	}
	return Value{}
}

// A Field reads the values of documents in a field.
type Field struct {
	Name string
	Flag string          // the flag that names it, with its value
	seen map[string]bool // fields of documents without a value
}

// maxFields limits the names in seen, which a message lists.
const maxFields = 1000

// Of returns the value of a document in the field, which may also be the id or the text.
func (f *Field) Of(rec *records.Record) Value {
	var all map[string]json.RawMessage
	if len(rec.Doc.Fields) > 0 {
		json.Unmarshal(rec.Doc.Fields, &all)
	}
	raw, has := all[f.Name]
	switch {
	case has:
		if v := valueOf(raw); v.Kind != Absent {
			return v
		}
	case f.Name == "id":
		return Value{Kind: Text, Text: rec.Doc.ID}
	case f.Name == "text":
		return Value{Kind: Text, Text: rec.Doc.Text}
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	for name := range all {
		if len(f.seen) < maxFields || name == f.Name {
			f.seen[name] = true
		}
	}
	return Value{}
}

// Unknown returns the error for a field in which no document has a value.
func (f *Field) Unknown() error {
	names := slices.Sorted(maps.Keys(f.seen))
	if f.seen[f.Name] || len(names) == 0 {
		return fmt.Errorf("%s: no document has a number, a string or a boolean in the field %q", f.Flag, f.Name)
	}
	hint := "the fields are " + strings.Join(names[:min(len(names), 20)], ", ")
	if name, ok := spelling.Closest(f.Name, names); ok {
		hint = fmt.Sprintf("did you mean %q? %s", name, hint)
	}
	return fmt.Errorf("%s: no document has a field %q; %s", f.Flag, f.Name, hint)
}
