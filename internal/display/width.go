package display

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// widths measures text in terminal columns: an emoji of several runes is one character. Ambiguous
// runes are narrow, whatever the locale.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns the width of s in terminal columns.
func Width(s string) int { return widths.StringWidth(s) }

// Cut returns s cut to width terminal columns. It ends in "…" if anything was cut.
func Cut(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return widths.Truncate(s, width, "…")
}

// Wrap splits s into lines of at most width columns, between words.
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
