package syntax

import "fmt"

// Class says what kind of mistake an Error is.
type Class int

// The classes of errors.
const (
	Malformed Class = iota // the text is not a statement
	BadValue               // a value does not fit its place
	NotFound               // a document does not exist
)

// Error is a mistake at one place of a statement.
type Error struct {
	Class  Class
	Offset int    // in the text, in bytes from 0; for an error about a tree, the number of a token
	Within int    // bytes from Offset to the mistake
	Msg    string // one sentence
	Hint   string // what the user can do about it, or ""
	Err    error  // the cause, or nil
}

// Error returns the sentence and the hint on one line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + ", " + e.Hint
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error of class Malformed at an offset of the text.
func Errorf(offset int, hint, format string, args ...any) *Error {
	return &Error{Offset: offset, Msg: fmt.Sprintf(format, args...), Hint: hint}
}
