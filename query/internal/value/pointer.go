package value

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// contextWidth is how many terminal columns of a long line are shown on either side of the caret.
const contextWidth = 60

// widths measures text as terminals show it. Ambiguous runes are narrow, whatever the locale.
var widths = func() *runewidth.Condition {
	c := runewidth.NewCondition()
	c.EastAsianWidth = false
	return c
}()

// Pointer returns a line, indented by two and cut around its part before the place of an error, and
// a caret under that place.
func Pointer(line, before string) string {
	after := strings.TrimPrefix(line, before)
	if widths.StringWidth(before) > 2*contextWidth {
		cut := len(before)
		for w := 0; cut > 0 && w < contextWidth; {
			r, n := utf8.DecodeLastRuneInString(before[:cut])
			w += widths.RuneWidth(r)
			cut -= n
		}
		before = "…" + before[cut:]
	}
	if widths.StringWidth(after) > 2*contextWidth {
		after = widths.Truncate(after, contextWidth, "…")
	}
	before = Visible(before)
	var caret strings.Builder
	start := 0
	for i, r := range before {
		if r == '\t' {
			caret.WriteString(strings.Repeat(" ", widths.StringWidth(before[start:i])))
			caret.WriteByte('\t')
			start = i + 1
		}
	}
	caret.WriteString(strings.Repeat(" ", widths.StringWidth(before[start:])))
	return "  " + before + Visible(after) + "\n  " + caret.String() + "^"
}
