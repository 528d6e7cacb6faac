package value

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible replaces characters by U+FFFD that would move the cursor (control characters other than
// tab) or change the direction of text.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Brief returns a message. It cuts the middle if the message repeats much of the user's text.
func Brief(message string) string {
	const head, tail = 600, 300 // bytes of the start and the end that remain
	if len(message) <= head+tail {
		return message
	}
	return strings.ToValidUTF8(message[:head], "") + "…" + strings.ToValidUTF8(message[len(message)-tail:], "")
}

// Label quotes an id or a text in the query language, on one line and cut to a length that fits a
// message.
func Label(s string) string {
	const longest = 60
	if r := []rune(s[:min(len(s), 4*longest)]); len(r) > longest {
		s = string(r[:longest]) + "…"
	}
	return "'" + strings.ReplaceAll(Visible(strings.ReplaceAll(s, "\t", " ")), "'", "''") + "'"
}
