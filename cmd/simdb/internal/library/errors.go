package library

import (
	"context"
	"errors"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/query"
)

// A Failure describes an error for another language.
type Failure struct {
	Kind    string `json:"kind"` // one of kinds, "parse", "cancelled", or ""
	Text    string `json:"text"`
	File    string `json:"file,omitempty"`    // for "corruption"
	Section string `json:"section,omitempty"` // for "corruption"
	Offset  int64  `json:"offset,omitempty"`  // for "corruption"
	Line    int    `json:"line,omitempty"`    // for "parse", from 1
	Column  int    `json:"column,omitempty"`  // for "parse", from 1
}

// kinds are the kinds of errors. The first kind that fits is used.
var kinds = []struct {
	err  error
	name string
}{
	{context.Canceled, "cancelled"},
	{errKeyword, "keyword"},
	{engine.ErrCorruption, "corruption"},
	{engine.ErrNotFound, "not_found"},
	{engine.ErrExists, "exists"},
	{engine.ErrLocked, "locked"},
	{engine.ErrReadOnly, "read_only"},
	{engine.ErrClosed, "closed"},
	{engine.ErrParams, "params"},
	{engine.ErrInvalid, "invalid"},
	{engine.ErrTooLarge, "too_large"},
	{engine.ErrNotDatabase, "not_database"},
	{engine.ErrNoSketches, "no_sketches"},
	{engine.ErrFailed, "failed"},
}

// FailureOf describes an error.
func FailureOf(err error) Failure {
	f := Failure{Text: err.Error()}
	if e, ok := errors.AsType[*query.ParseError](err); ok {
		f.Kind, f.Text, f.Line, f.Column = "parse", front.Language.Detail(err), e.Line, e.Column
	}
	if e, ok := errors.AsType[*engine.CorruptionError](err); ok {
		f.File, f.Section, f.Offset = e.File, e.Section, e.Offset
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			f.Kind = k.name
			break
		}
	}
	return f
}
