package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/jsonfield"
)

// FieldStats says what documents have in a field.
type FieldStats struct {
	Path      []string // the keys of the objects that the field is in, and its own
	Kinds     string   // of its values, such as "number, string"; "null" if it has no others
	Documents int64    // that have it, and not null
	Example   string   // a value, or its beginning
	Indexed   bool     // by Options.Index
}

// FieldsOptions are the options of DB.Fields.
type FieldsOptions struct {
	Most     int64 // read at most this many documents; 0 means all
	Progress func(Progress)
}

// Fields returns the fields of documents, those that most documents have first, and how many
// documents it read. A field that is always an object stands for its members. Errors are ErrParams
// if the database stores no texts and fields, ErrTooLarge if the names of all fields do not fit
// into Options.Memory, and those of Range.
func (db *DB) Fields(ctx context.Context, o *FieldsOptions) (fields []FieldStats, documents int64, err error) {
	p := db.Params()
	if !p.Text {
		return nil, 0, fmt.Errorf("the database stores neither texts nor fields: %w", ErrParams)
	}
	of, err := withSnapshot(db, func(s *Snapshot) (*jsonfield.Survey, error) { return s.fields(ctx, cmp.Or(o, &FieldsOptions{})) })
	if err != nil {
		return nil, 0, err
	}
	of.Top.Each(nil, func(path []string, f *jsonfield.Surveyed) {
		fields = append(fields, FieldStats{path, f.Kind(), f.Documents, f.Example, slices.Contains(p.Index, jsonfield.Name(path))})
	})
	return fields, of.Documents, nil
}

func (s *Snapshot) fields(ctx context.Context, o *FieldsOptions) (*jsonfield.Survey, error) {
	budget := s.v.Most(1)
	of := &jsonfield.Survey{Hold: func(bytes int) error {
		if budget -= bytes; budget < 0 {
			return fmt.Errorf("the names of the fields do not fit into the memory limit of a query: %w", files.ErrTooLarge)
		}
		return nil
	}}
	r := Range{Unordered: true, OnlyIDs: true, Where: func(text, fields []byte) (bool, error) {
		return true, of.Look(text, fields)
	}}
	for _, err := range s.Range(ctx, r) {
		if err != nil {
			return nil, err
		}
		if of.Given(); o.Progress != nil && of.Documents%1024 == 0 {
			o.Progress(Progress{Stage: "list", Done: of.Documents, Unit: Documents})
		}
		if of.Documents == o.Most {
			break
		}
	}
	return of, nil
}
