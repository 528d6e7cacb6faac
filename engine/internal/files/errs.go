package files

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Package engine documents these errors.
var (
	ErrNotFound    = errors.New("not found")
	ErrExists      = errors.New("already exists")
	ErrLocked      = errors.New("database is locked")
	ErrReadOnly    = errors.New("database is read-only")
	ErrClosed      = errors.New("database is closed")
	ErrParams      = errors.New("parameters do not match")
	ErrInvalid     = errors.New("invalid argument")
	ErrTooLarge    = errors.New("too large")
	ErrNotDatabase = errors.New("not a simdb database")
	ErrNoSketches  = errors.New("the database has no sketches")
	ErrExpired     = errors.New("it has expired")
	ErrConflict    = errors.New("others have changed what the transaction has read")
	ErrFailed      = errors.New("no more writes until reopened")
)

// NoDocument is the ErrNotFound for a document's ID. It formats its message only when Error is
// called: a load looks up every ID and mostly drops the error.
type NoDocument string

// Error names the missing document.
func (id NoDocument) Error() string {
	return fmt.Sprintf("there is no document %s", QuoteID(string(id)))
}

// Unwrap returns ErrNotFound.
func (id NoDocument) Unwrap() error { return ErrNotFound }

// QuoteID formats an ID for an error message: quoted, and truncated if it is long.
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

// A Conflict says that a precondition of a write is not met.
type Conflict struct {
	ID      string
	Version uint64 // the number of the write that stored the document; 0 if there is none
}

// Error describes the stored document.
func (e *Conflict) Error() string {
	if e.Version == 0 {
		return NoDocument(e.ID).Error()
	}
	return fmt.Sprintf("document %s exists, from write %d", QuoteID(e.ID), e.Version)
}

// Is reports whether target is ErrExists and there is a document, or target is ErrNotFound and
// there is none.
func (e *Conflict) Is(target error) bool {
	return target == ErrExists && e.Version != 0 || target == ErrNotFound && e.Version == 0
}
