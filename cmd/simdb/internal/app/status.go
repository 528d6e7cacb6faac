package app

import (
	"errors"
	"fmt"
	"io"
)

// Exit statuses.
const (
	ExitOK        = 0
	ExitNo        = 1
	ExitError     = 2
	ExitInterrupt = 130
)

// Status is an error that ends the program with an exit status and no message.
type Status int

// Error is never shown.
func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// FoundOr turns "nothing was found" into the exit status for it.
func FoundOr(found bool, err error) error {
	if err == nil && !found {
		return Status(ExitNo)
	}
	return err
}

// ReaderGone reports whether an error of Write says that the process which read a pipe has exited,
// as head does after ten lines.
func ReaderGone(err error) bool { return closedBySystem(err) || errors.Is(err, io.ErrClosedPipe) }
