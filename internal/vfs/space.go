package vfs

import (
	"errors"
	"slices"
)

// A NoSpaceError says that the disk is full or a quota exhausted, and that the failed operation has
// changed nothing: it can be retried once there is space.
type NoSpaceError struct{ Err error }

// Error returns the message of Err.
func (e *NoSpaceError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *NoSpaceError) Unwrap() error { return e.Err }

// IsNoSpace reports whether err is, or wraps, a *NoSpaceError.
func IsNoSpace(err error) bool {
	_, ok := errors.AsType[*NoSpaceError](err)
	return ok
}

// IsFull reports whether err is the system's error for a full disk or an exhausted quota. The
// operation may have changed something.
func IsFull(err error) bool {
	return slices.ContainsFunc(fullErrors, func(full error) bool { return errors.Is(err, full) })
}
