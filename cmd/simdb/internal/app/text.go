package app

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/simdb/simdb/internal/printable"
)

// Seconds writes the time elapsed since start.
func Seconds(start time.Time) string {
	d := time.Since(start)
	if d < 10*time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// OneLine returns a message with control characters escaped, which names in it may contain. The
// result is one line and cannot control the terminal.
func OneLine(s string) string { return printable.Text(s) }

// TerminalWidth returns the width of a terminal in columns, or 0 if w is not a terminal.
func TerminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Wrapped breaks a text between words, so that no line is wider than width. The text begins at
// column at, and so do the lines after the first.
func Wrapped(text string, at, width int) string {
	const least = 20 // columns; with fewer, lines are not broken
	if width-at < least {
		return text
	}
	var b strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used > 0 && used+1+n > width-at:
			b.WriteString("\n" + strings.Repeat(" ", at))
			used = 0
		case used > 0:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
