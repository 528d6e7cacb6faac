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

// Brief returns a message, without its middle if it repeats much of what a user has written.
func Brief(message string) string {
	const head, tail = 600, 300 // bytes
	if len(message) <= head+tail {
		return message
	}
	return strings.ToValidUTF8(message[:head], "") + "…" + strings.ToValidUTF8(message[len(message)-tail:], "")
}

// Label quotes an id or a text as the language does, on one line and cut to a length that fits a
// message.
func Label(s string) string {
	const longest = 60
	if r := []rune(s[:min(len(s), 4*longest)]); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return "'" + strings.ReplaceAll(Visible(strings.ReplaceAll(s, "\t", " ")), "'", "''") + "'"
}
