//go:build unix

package repl

import (
	"os"

	"golang.org/x/sys/unix"
)

// giveSize sets the size of a terminal that reports none, as in some containers, to 80 columns and
// 24 rows: liner edits no lines without a size.
func giveSize() {
	fd := int(os.Stdout.Fd())
	if size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil && size.Col == 0 {
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
}
