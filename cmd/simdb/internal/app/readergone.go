package app

import (
	"errors"
	"io"
)

// ReaderGone reports whether an error of Write says that the process which read a pipe has exited,
// as head does after ten lines.
func ReaderGone(err error) bool { return closedBySystem(err) || errors.Is(err, io.ErrClosedPipe) }
