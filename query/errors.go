package query

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// Classes of a ParseError. docs/query.md lists their causes.
const (
	ClassParse     = "Parse error"     // the text is not a statement, or has an unknown word
	ClassParameter = "Parameter error" // a value is out of range, of another type or missing
	ClassNotFound  = "Not found error" // a document does not exist
)

// Classes of other errors, with which front ends begin their messages.
const (
	classReadOnly   = "Read-only error"  // a write to a database opened read-only
	classLocked     = "Locked error"     // another process has the database open
	classCorruption = "Corruption error" // a file is damaged
	classCancelled  = "Cancelled"        // the context ended; at a prompt, by Ctrl-C
	classIO         = "I/O error"        // the operating system returned an error
	classOther      = "Error"            // anything else
)

// ParseError is an error at a place in a statement. Its class says whether the text, a value, or a
// document that the statement names is wrong. Err is the engine's error, if any, for errors.Is.
type ParseError struct {
	Class string // one of the Class constants
	Msg   string // the sentence
	Hint  string // what to do about it, or ""
	Err   error  // the cause, or nil

	Line   int // line of the text, from 1
	Column int // in runes, from 1
	Offset int // in bytes, from 0

	place value.Place
}

// Error returns the class, the sentence and the hint on one line, such as `Parse error: unknown
// predicate "NEER", did you mean NEAR?`.
func (e *ParseError) Error() string {
	s := e.Class + ": " + e.Msg
	if e.Hint != "" {
		s += ", " + e.Hint
	}
	return s
}

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

// Source returns the line of the statement, indented by two, and below it a caret under the column
// of the error; "" if there is no line. The caret is where a terminal shows the column: a wide rune
// is two columns wide, and tabs are copied to the line of the caret. A long line is cut around the
// caret.
func (e *ParseError) Source() string { return e.place.Pointer() }

// detail is front.Language.Detail.
func detail(err error) string {
	e, ok := errors.AsType[*ParseError](err)
	if !ok {
		return class(err) + ": " + err.Error()
	}
	if src := e.Source(); src != "" {
		return e.Error() + "\n" + src
	}
	return e.Error()
}

// class returns the class of any error: the one in a ParseError, or else the one that fits the
// cause.
func class(err error) string {
	if e, ok := errors.AsType[*ParseError](err); ok {
		return e.Class
	}
	for _, c := range []struct {
		err   error
		class string
	}{
		{context.Canceled, classCancelled},
		{context.DeadlineExceeded, classCancelled},
		{engine.ErrCorruption, classCorruption},
		{engine.ErrNotFound, ClassNotFound},
		{engine.ErrReadOnly, classReadOnly},
		{engine.ErrLocked, classLocked},
		{engine.ErrParams, ClassParameter},
		{engine.ErrInvalid, ClassParameter},
		{engine.ErrTooLarge, ClassParameter},
		{engine.ErrNoSketches, ClassParameter},
	} {
		if errors.Is(err, c.err) {
			return c.class
		}
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return classIO
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return classIO
	}
	return classOther
}

// placed turns an error of an internal package into a *ParseError with its place in text. It
// returns other errors unchanged.
func placed(text string, err error) error {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err
	}
	class := [...]string{syntax.Malformed: ClassParse, syntax.BadValue: ClassParameter, syntax.NotFound: ClassNotFound}[e.Class]
	at := value.PlaceOf(text, e.Offset)
	return &ParseError{Class: class, Msg: value.Brief(e.Msg), Hint: value.Brief(e.Hint), Err: e.Err, Line: at.Line, Column: at.Column, Offset: at.Offset, place: at}
}
