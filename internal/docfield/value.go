// Package docfield reads the values of documents in a field.
package docfield

import (
	"cmp"
	"encoding/json"
	"regexp"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
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
	switch {
	case raw == nil:
		return Value{}
	case raw[0] == '"':
		return Value{Kind: Text, Text: jsonfield.Text(raw)}
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
	Path   jsonfield.Path
	Seen   map[string]bool // fields of the first documents without a value
	looked int             // number of these documents
}

// NewField returns the field with a path. Each document has one value, so a path with [] or * is
// only the name of a field.
func NewField(path string) Field { return Field{Path: jsonfield.Parse(path)} }

// maxLooked limits the documents whose fields a message lists.
const maxLooked = 1000

// Of returns the value of a document in the field, which may also be the id or the text.
func (f *Field) Of(d *engine.Doc) Value {
	name := f.Path.String()
	switch raw := f.Path.Of(d.Fields); {
	case raw != nil:
		v := valueOf(raw)
		if v.Kind == Absent {
			f.see(name)
		}
		return v
	case name == "id":
		return Value{Kind: Text, Text: d.ID}
	case name == "text":
		return Value{Kind: Text, Text: d.Text}
	}
	if f.looked++; f.looked <= maxLooked {
		f.see(jsonfield.Names(d.Fields)...)
	}
	return Value{}
}

// see adds the names of fields.
func (f *Field) see(names ...string) {
	if f.Seen == nil {
		f.Seen = map[string]bool{}
	}
	for _, name := range names {
		f.Seen[name] = true
	}
}
