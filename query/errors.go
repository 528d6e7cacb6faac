package query

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/text"
)

// Classes of errors, the first words of what a user reads. docs/query.md lists them with their causes.
const (
	ClassParse      = "Parse error"      // the text is not a statement, or names what does not exist
	ClassParameter  = "Parameter error"  // a value that does not fit: k over 64, a placeholder without value, ErrParams
	ClassNotFound   = "Not found error"  // a document that is not there
	ClassReadOnly   = "Read-only error"  // a write to a database opened read-only
	ClassLocked     = "Locked error"     // the database is open elsewhere
	ClassCorruption = "Corruption error" // a damaged file
	ClassCancelled  = "Cancelled"        // Ctrl-C, or the caller's context
	ClassIO         = "I/O error"        // the operating system refused
	ClassOther      = "Error"            // anything else
)

// ParseError is an error that has a place in a statement: its text is wrong, or what it refers to is (a document that
// is not there); then Err is the engine's error, which errors.Is finds.
type ParseError struct {
	Class string // one of the Class constants
	Msg   string // the sentence
	Hint  string // what to do about it, or ""
	Err   error  // the cause, or nil

	Line   int // of the text, from 1
	Column int // in runes, from 1
	Offset int // in bytes, from 0

	source string // the line, without its end
	before string // the part of it before the column
}

// Error is class, sentence and hint, on one line: `Parse error: unknown predicate "NEER", did you mean NEAR?`.
func (e *ParseError) Error() string {
	s := e.Class + ": " + e.Msg
	if e.Hint != "" {
		s += ", " + e.Hint
	}
	return s
}

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

// contextWidth is how many terminal columns of a long line are shown on either side of the caret.
const contextWidth = 60

// widths measures text as terminals show it; ambiguous runes are taken as narrow wherever we run.
var widths = func() *runewidth.Condition {
	c := runewidth.NewCondition()
	c.EastAsianWidth = false
	return c
}()

// Source is the line that the error is in, indented by two, and below it a caret under the column; "" if there is no
// such line. The caret stands where a terminal shows the column: below wide runes it is two columns wide, and tabs
// are repeated before it. Of a long line only the part around the caret is shown.
func (e *ParseError) Source() string {
	if e.source == "" {
		return ""
	}
	before, after := e.before, strings.TrimPrefix(e.source, e.before)
	if widths.StringWidth(before) > 2*contextWidth {
		cut := len(before)
		for w := 0; cut > 0 && w < contextWidth; {
			r, n := utf8.DecodeLastRuneInString(before[:cut])
			w += widths.RuneWidth(r)
			cut -= n
		}
		before = "…" + before[cut:]
	}
	if widths.StringWidth(after) > 2*contextWidth {
		after = widths.Truncate(after, contextWidth, "…")
	}
	before = text.Visible(before)
	var caret strings.Builder
	start := 0
	for i, r := range before {
		if r == '\t' {
			caret.WriteString(strings.Repeat(" ", widths.StringWidth(before[start:i])))
			caret.WriteByte('\t')
			start = i + 1
		}
	}
	caret.WriteString(strings.Repeat(" ", widths.StringWidth(before[start:])))
	return "  " + before + text.Visible(after) + "\n  " + caret.String() + "^"
}

// Detail is what to show a user for err: class, sentence and hint, and for an error with a place in a statement the
// line with a caret below its column. It has no line end.
func Detail(err error) string {
	e, ok := errors.AsType[*ParseError](err)
	if !ok {
		return Class(err) + ": " + err.Error()
	}
	if src := e.Source(); src != "" {
		return e.Error() + "\n" + src
	}
	return e.Error()
}

// Class returns the class of any error: of a ParseError its own, of another one that fits its cause.
func Class(err error) string {
	if e, ok := errors.AsType[*ParseError](err); ok {
		return e.Class
	}
	for _, c := range []struct {
		err   error
		class string
	}{
		{context.Canceled, ClassCancelled},
		{context.DeadlineExceeded, ClassCancelled},
		{engine.ErrCorruption, ClassCorruption},
		{engine.ErrNotFound, ClassNotFound},
		{engine.ErrReadOnly, ClassReadOnly},
		{engine.ErrLocked, ClassLocked},
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
		return ClassIO
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return ClassIO
	}
	return ClassOther
}

// placed turns an error of a package below into a *ParseError with its place in text. It returns
// other errors as they are.
func placed(text string, err error) error {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return err
	}
	class := [...]string{syntax.Malformed: ClassParse, syntax.BadValue: ClassParameter, syntax.NotFound: ClassNotFound}[e.Class]
	p := &ParseError{Class: class, Msg: e.Msg, Hint: e.Hint, Err: e.Err}
	p.place(text, e.Offset)
	return p
}

// place sets where in text the error is. An offset at or past the end of a text that ends in blank lines is moved back
// to the end of the last line that has something on it.
func (e *ParseError) place(text string, offset int) {
	if trimmed := strings.TrimRightFunc(text, unicode.IsSpace); offset > len(trimmed) {
		offset = len(trimmed)
	}
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	e.Offset = offset
	e.Line = 1 + strings.Count(text[:start], "\n")
	e.before = text[start:offset]
	e.Column = 1 + utf8.RuneCountInString(e.before)
	e.source = strings.TrimSuffix(text[start:end], "\r")
	if len(e.before) > len(e.source) {
		e.before = e.source
	}
}
