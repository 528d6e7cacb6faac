// Package grouping decides which documents may match: by a field, or by file.
package grouping

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// By limits matches to documents of different fields, files or folders, or of equal fields.
type By struct {
	Across      string // matches differ in this field, or come from different files or folders if it is "file" or "folder"
	WithinField string // matches are equal in this field
}

// A Grouper numbers the groups of documents. A nil Grouper has no groups.
type Grouper struct {
	Across bool // documents of two groups match; else those of one
	field  docfield.Field
	option string // that names the field, with its value
	number map[docfield.Value]uint32
}

// New returns nil for the zero By. database is the path of the documents' database, "" if there
// is none; a database cannot be grouped by files.
func (f By) New(database string) (*Grouper, error) {
	switch {
	case f == (By{}):
		return nil, nil
	case database != "" && (f.Across == "file" || f.Across == "folder"):
		return nil, fmt.Errorf("%s: %s is a database and does not record the %s of a document; %s FIELD compares a field",
			option.Set("Across", f.Across), database, f.Across, option.Name("Across"))
	case f.Across != "":
		return newGrouper(true, f.Across, "Across"), nil
	}
	return newGrouper(false, f.WithinField, "WithinField"), nil
}

func newGrouper(across bool, field, by string) *Grouper {
	return &Grouper{Across: across, field: docfield.NewField(field), option: option.Set(by, field), number: map[docfield.Value]uint32{}}
}

// Of returns the group of a document.
func (g *Grouper) Of(rec *records.Record) uint32 {
	v := docfield.Value{Kind: docfield.Text, Text: rec.File}
	switch name := g.field.Path.String(); {
	case g.Across && name == "folder":
		v.Text = filepath.Dir(rec.File)
	case !g.Across || name != "file":
		v = g.field.Of(&rec.Doc)
	}
	n, ok := g.number[v]
	if !ok {
		n = uint32(len(g.number))
		g.number[v] = n
	}
	return n
}

// Accept reports whether documents of two groups may match.
func (g *Grouper) Accept(a, b uint32) bool { return (a != b) == g.Across }

// Check returns an error if no document has the field.
func (g *Grouper) Check() error {
	if g == nil || len(g.number) != 1 {
		return nil
	}
	if _, absent := g.number[docfield.Value{}]; absent {
		return Unknown(&g.field, g.option)
	}
	return nil
}

// Unknown returns the error for a field that an option names, and in which no document has a value.
func Unknown(f *docfield.Field, option string) error {
	names, name := slices.Sorted(maps.Keys(f.Seen)), f.Path.String()
	switch {
	case f.Path.Several():
		return fmt.Errorf("%s: %q leads to several values of a document; name a field that has one", option, name)
	case f.Seen[name] || len(names) == 0:
		return fmt.Errorf("%s: no document has a number, a string or a boolean in the field %q", option, name)
	}
	return fmt.Errorf("%s: no document has a field %q%s", option, name, records.Among("the fields are", names, name))
}
