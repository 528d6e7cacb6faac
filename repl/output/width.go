package output

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// widths measures text as terminals show it: an emoji of several runes is one character. Ambiguous
// runes are narrow, whatever the locale.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns how many columns of a terminal s takes.
func Width(s string) int { return widths.StringWidth(s) }

// Cut returns s cut to width terminal columns, ending in "…" if anything was cut.
func Cut(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return widths.Truncate(s, width, "…")
}

// Wrap cuts s into lines of at most width columns, between words.
func Wrap(s string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
