package output

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Printable returns s with control characters and bytes that are not UTF-8 shown as escapes: \n,
// \t, \x1b. All text that goes to a terminal must pass through it, or stored data could control
// the terminal.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unprintable) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unprintable(r) || r == utf8.RuneError && n == 1 {
			q := strconv.QuoteToASCII(s[i : i+n])
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// unprintable reports whether r controls a terminal rather than being displayed: controls, line
// separators, and the direction overrides, which make text read as another text.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Cut returns s cut to width terminal columns, ending in "…" if anything was cut.
func Cut(s string, width int) string {
	if len(s) <= width || text.StringWidth(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		used += text.RuneWidth(r)
		if used > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}
