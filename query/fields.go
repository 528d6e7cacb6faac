package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/query/internal/predicate"
)

// String writes an operand as statements do.
func (o Operand) String() string { return o.name }

// fieldName returns the field with a path, as statements write it.
func fieldName(path []string) string {
	name := jsonfield.JoinPath(path)
	if t, ok := language.Word(name); ok && !slices.Contains(jsonfield.Columns, strings.ToLower(name)) {
		if back, err := predicate.FieldPath(t); err == nil && slices.Equal(back, path) {
			return name
		}
	}
	return "fields." + name
}

// survey returns a survey of the fields of all documents.
func (x *run) survey() (*jsonfield.Survey, error) {
	s := &jsonfield.Survey{Hold: x.Hold}
	if x.DB.Options().NoText {
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
		s.Given()
	}
	return s, nil
}
