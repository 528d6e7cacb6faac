// Package grouping reads the values of documents in a field, and decides which documents may
// match: by a field, or by file.
package grouping

import (
	"fmt"
	"path/filepath"

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
	field  Field
	number map[Value]uint32
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
		return &Grouper{Across: true, field: NewField(f.Across, option.Set("Across", f.Across)), number: map[Value]uint32{}}, nil
	}
	return &Grouper{field: NewField(f.WithinField, option.Set("WithinField", f.WithinField)), number: map[Value]uint32{}}, nil
}

// Of returns the group of a document.
func (g *Grouper) Of(rec *records.Record) uint32 {
	v := Value{Kind: Text, Text: rec.File}
	switch name := g.field.path.String(); {
	case g.Across && name == "folder":
		v.Text = filepath.Dir(rec.File)
	case !g.Across || name != "file":
		v = g.field.Of(rec)
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
	if _, absent := g.number[Value{}]; absent {
		return g.field.Unknown()
	}
	return nil
}
