// Package errs has the errors that the rooms of the engine return, and that package engine shows
// to callers under the names Err... . Each is wrapped with what it is about where it arises.
package errs

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// The errors, as package engine documents them.
var (
	NotFound    = errors.New("not found")
	Exists      = errors.New("already exists")
	Locked      = errors.New("database is locked")
	ReadOnly    = errors.New("database is read-only")
	Closed      = errors.New("database is closed")
	Params      = errors.New("parameters do not fit")
	Invalid     = errors.New("invalid argument")
	TooLarge    = errors.New("too large")
	NotDatabase = errors.New("not a simdb database")
	NoSketches  = errors.New("the database has no sketches")
	Failed      = errors.New("no more writes until reopened")
)

// NoDocument is the NotFound for a document's ID. Its text is made only when it is read: a load
// looks up every ID and mostly drops the error.
type NoDocument string

// Error says which document there is not.
func (id NoDocument) Error() string {
	return fmt.Sprintf("no document %s: %v", QuoteID(string(id)), NotFound)
}

// Unwrap returns NotFound.
func (id NoDocument) Unwrap() error { return NotFound }

// QuoteID writes an ID for an error message: quoted, and cut when it is long.
func QuoteID(id string) string {
	const most = 80
	if len(id) <= most {
		return fmt.Sprintf("%q", id)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(id[cut]) {
		cut--
	}
	return fmt.Sprintf("%q...", id[:cut])
}
