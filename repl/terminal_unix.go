//go:build unix

package repl

import (
	"os"

	"golang.org/x/sys/unix"
)

// giveSize gives a terminal that does not say its size, as in some containers, that of 80 columns
// and 24 rows: liner edits no lines without one.
func giveSize() {
	fd := int(os.Stdout.Fd())
	if size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil && size.Col == 0 {
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
}
