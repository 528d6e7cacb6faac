package vfs

import (
	"errors"
	"slices"
)

// A NoRoomError says that the disk is full, or a quota used up, and that what failed has changed
// nothing: it can be tried again once there is room.
type NoRoomError struct{ Err error }

// Error is that of Err.
func (e *NoRoomError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *NoRoomError) Unwrap() error { return e.Err }

// IsNoRoom reports whether err is, or wraps, a *NoRoomError.
func IsNoRoom(err error) bool {
	_, ok := errors.AsType[*NoRoomError](err)
	return ok
}

// IsFull reports whether err is the system's error for a full disk or a quota that is used up. It
// says nothing about what has changed.
func IsFull(err error) bool {
	return slices.ContainsFunc(fullErrors, func(full error) bool { return errors.Is(err, full) })
}
