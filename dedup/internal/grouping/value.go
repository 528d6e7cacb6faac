package grouping

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
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
	flag   string // the flag that names it, with its value
	path   jsonfield.Path
	seen   map[string]bool // fields of the first documents without a value
	looked int             // number of these documents
}

// NewField returns the field with a path. Each document has one value, so a path with [] or * is
// only the name of a field.
func NewField(path, flag string) Field { return Field{flag: flag, path: jsonfield.Parse(path)} }

// maxLooked limits the documents whose fields a message lists.
const maxLooked = 1000

// Of returns the value of a document in the field, which may also be the id or the text.
func (f *Field) Of(rec *records.Record) Value {
	name := f.path.String()
	switch raw := f.path.Of(rec.Doc.Fields); {
	case raw != nil:
		v := valueOf(raw)
		if v.Kind == Absent {
			f.see(name)
		}
		return v
	case name == "id":
		return Value{Kind: Text, Text: rec.Doc.ID}
	case name == "text":
		return Value{Kind: Text, Text: rec.Doc.Text}
	}
	if f.looked++; f.looked <= maxLooked {
		f.see(jsonfield.Names(rec.Doc.Fields)...)
	}
	return Value{}
}

// see adds the names of fields.
func (f *Field) see(names ...string) {
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	for _, name := range names {
		f.seen[name] = true
	}
}

// Unknown returns the error for a field in which no document has a value.
func (f *Field) Unknown() error {
	names, name := slices.Sorted(maps.Keys(f.seen)), f.path.String()
	switch {
	case f.path.Several():
		return fmt.Errorf("%s: %q leads to several values of a document; name a field that has one", f.flag, name)
	case f.seen[name] || len(names) == 0:
		return fmt.Errorf("%s: no document has a number, a string or a boolean in the field %q", f.flag, name)
	}
	return fmt.Errorf("%s: no document has a field %q%s", f.flag, name, records.Among("the fields are", names, name))
}
