package value

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible replaces control characters other than tab, which would move the cursor, and those that
// control the direction of text, by U+FFFD.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Short cuts s to a length that fits a message.
func Short(s string) string {
	const longest = 60
	if r := []rune(s[:min(len(s), 4*longest)]); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// Label quotes an id or a text as the language does, on one line and as Short.
func Label(s string) string {
	return "'" + strings.ReplaceAll(Visible(strings.ReplaceAll(Short(s), "\t", " ")), "'", "''") + "'"
}
