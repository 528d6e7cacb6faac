package vfs

import (
	"errors"
	"slices"
)

// A NoRoomError says that the disk is full or a quota exhausted, and that the failed operation has
// changed nothing: it can be retried once there is space.
type NoRoomError struct{ Err error }

// Error returns the message of Err.
func (e *NoRoomError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *NoRoomError) Unwrap() error { return e.Err }

// IsNoRoom reports whether err is, or wraps, a *NoRoomError.
func IsNoRoom(err error) bool {
	_, ok := errors.AsType[*NoRoomError](err)
	return ok
}

// IsFull reports whether err is the system's error for a full disk or an exhausted quota. The
// operation may have changed something.
func IsFull(err error) bool {
	return slices.ContainsFunc(fullErrors, func(full error) bool { return errors.Is(err, full) })
}
