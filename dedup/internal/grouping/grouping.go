// Package grouping reads what documents have in a field, and says which of them may match by it, or
// by the files that they are of.
package grouping

import (
	"fmt"
	"path/filepath"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// By has documents match only across fields, files or folders, or within a field.
type By struct {
	Across      string // they differ in this field, or are of two files or folders, for "file" and "folder"
	WithinField string // they are equal in this field
}

// A Grouper gives documents the numbers of their groups. A nil one has none.
type Grouper struct {
	Across bool // documents of two groups match; else those of one
	field  Field
	number map[Value]uint32
}

// New returns nil for the zero By. Grouping by files is an error for the documents of a database;
// database is "" if there is none.
func (f By) New(database string) (*Grouper, error) {
	switch {
	case f == (By{}):
		return nil, nil
	case database != "" && (f.Across == "file" || f.Across == "folder"):
		return nil, fmt.Errorf("%s: %s is a database, which does not know of which %s a document is; %s FIELD compares a field",
			option.Set("Across", f.Across), database, f.Across, option.Name("Across"))
	case f.Across != "":
		return &Grouper{Across: true, field: Field{Name: f.Across, Flag: option.Set("Across", f.Across)}, number: map[Value]uint32{}}, nil
	}
	return &Grouper{field: Field{Name: f.WithinField, Flag: option.Set("WithinField", f.WithinField)}, number: map[Value]uint32{}}, nil
}

// Of returns the group of a document.
func (g *Grouper) Of(rec *records.Record) uint32 {
	v := Value{Kind: Text, Text: rec.File}
	switch name := g.field.Name; {
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
