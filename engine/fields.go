package engine

import (
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

// Fields returns the fields of the documents that r selects, the most common first, and how many
// documents it read. progress may be nil. If a field is always an object, its members are listed
// instead. Errors are ErrParams if the database stores no texts and fields, ErrTooLarge if the
// names of all fields do not fit into Options.Memory, and those of Range.
func (db *DB) Fields(ctx context.Context, r Range, progress func(Progress)) (fields []FieldStats, documents int64, err error) {
	o := db.Options()
	if o.NoText {
		return nil, 0, fmt.Errorf("the database stores neither texts nor fields: %w", ErrParams)
	}
	of, err := read(ctx, &db.Reader, func(s *Snapshot) (*jsonfield.Survey, error) { return s.fields(ctx, r, progress) })
	if err != nil {
		return nil, 0, err
	}
	of.Top.Each(nil, func(path []string, f *jsonfield.Surveyed) {
		fields = append(fields, FieldStats{path, f.Kind(), f.Documents, f.Example, slices.Contains(o.Index, jsonfield.Name(path))})
	})
	return fields, of.Documents, nil
}

func (s *Snapshot) fields(ctx context.Context, r Range, progress func(Progress)) (*jsonfield.Survey, error) {
	budget := s.v.Most(1)
	of := &jsonfield.Survey{Hold: func(bytes int) error {
		if budget -= bytes; budget < 0 {
			return fmt.Errorf("the names of the fields do not fit into the memory limit of a query: %w", files.ErrTooLarge)
		}
		return nil
	}}
	where := r.Where
	r.OnlyIDs, r.Unordered, r.FieldsDecide = true, true, false // Unordered calls Where only for the yielded documents
	r.Where = func(text, fields []byte) (bool, error) {
		if where != nil {
			if ok, err := where(text, fields); err != nil || !ok {
				return false, err
			}
		}
		return true, of.Look(text, fields)
	}
	for _, err := range s.Range(ctx, r) {
		if err != nil {
			return nil, err
		}
		if of.Given(); progress != nil && of.Documents%1024 == 0 {
			progress(Progress{Stage: "list", Done: of.Documents, Unit: "documents"})
		}
	}
	return of, nil
}
