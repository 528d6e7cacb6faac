package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

func fieldName(path []string) string {
	name := jsonfield.JoinPath(path)
	if t, ok := language.Word(name); ok && !slices.Contains(jsonfield.Columns, strings.ToLower(name)) {
		if back, err := predicate.FieldPath(t); err == nil && slices.Equal(back, path) {
			return name
		}
	}
	return "fields." + name
}

// survey returns the survey of all documents; of at most most of them, if that is not 0.
func (x *run) survey(most int64) (*value.Survey, error) {
	s := &value.Survey{Hold: x.Hold}
	if !x.DB.Params().Text {
		return s, nil
	}
	tested := x.Counting("list")
	r := engine.Range{Unordered: true, OnlyIDs: true, Where: func(text, fields []byte) (bool, error) {
		return true, cmp.Or(s.Look(text, fields), x.Ctx.Err())
	}}
	for _, err := range x.Snap.Range(x.Ctx, r) {
		if err != nil {
			return nil, err
		}
		tested()
		if s.Given(); s.Documents == most {
			break
		}
	}
	return s, nil
}

func (x *run) fields(s *syntax.Statement) error {
	if err := x.NeedTexts(*s.Bare); err != nil {
		return err
	}
	x.answer([]string{"name", "type", "documents", "share", "example", "indexed"}, func(yield func(Row, error) bool) {
		of, err := x.survey(0)
		if err != nil {
			yield(nil, err)
			return
		}
		switch {
		case of.Documents == 0:
			x.Doubt("the database has no documents")
		case len(of.Top.In) == 0:
			x.Doubt("no document has fields")
		}
		more, index := true, x.DB.Params().Index
		of.Top.Each(nil, func(path []string, f *value.Surveyed) {
			more = more && yield(Row{fieldName(path), f.Kind(), f.Documents, float64(f.Documents) / float64(of.Documents), f.Example, slices.Contains(index, jsonfield.Name(path))}, nil)
		})
	})
	return nil
}

// fieldsAtHand is how many documents STATS reads for the names of fields.
const fieldsAtHand = 1000

// fieldNames returns the names of the fields of the first documents, and how many these are.
func (x *run) fieldNames() (names []string, of int64, err error) {
	seen, err := x.survey(fieldsAtHand)
	if err != nil {
		return nil, 0, err
	}
	seen.Top.Each(nil, func(path []string, _ *value.Surveyed) { names = append(names, fieldName(path)) })
	return names, seen.Documents, nil
}

// fieldRows returns what STATS says of the fields of documents; nothing if they have none.
func (x *run) fieldRows() ([]Row, error) {
	names, of, err := x.fieldNames()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	all := strings.Join(names, ", ")
	if float64(of) < x.Documents() {
		all += " (of " + quantity.Count(of, "document") + "; FIELDS reads all)"
	}
	return []Row{{"fields", all}}, nil
}

// FieldNames returns the names of the fields of the first documents, as statements write them.
func FieldNames(ctx context.Context, db *engine.DB) (names []string) {
	if snap, err := db.Snapshot(); err == nil {
		defer snap.Close()
		names, _, _ = (&run{Scope: &predicate.Scope{Ctx: ctx, DB: db, Snap: snap}}).fieldNames()
	}
	return names
}
