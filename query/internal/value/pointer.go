package value

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// contextWidth is how many terminal columns of a long line are shown on either side of the caret.
const contextWidth = 60

// widths measures text in terminal columns. Ambiguous runes are narrow, whatever the locale.
var widths = func() *runewidth.Condition {
	c := runewidth.NewCondition()
	c.EastAsianWidth = false
	return c
}()

// A Place is a place in a text.
type Place struct {
	Line   int // from 1
	Column int // in runes, from 1
	Offset int // in bytes, from 0

	line   string // the line of the place, without its end
	before string // the part of line before the column
}

// PlaceOf returns the place at an offset. A place in white space at the end of the text moves back
// to the end of the last line that is not blank.
func PlaceOf(text string, offset int) (e Place) {
	if trimmed := strings.TrimRightFunc(text, unicode.IsSpace); offset > len(trimmed) {
		offset = len(trimmed)
	}
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	e.Offset = offset
	e.Line = 1 + strings.Count(text[:start], "\n")
	e.before = text[start:offset]
	e.Column = 1 + utf8.RuneCountInString(e.before)
	e.line = strings.TrimSuffix(text[start:end], "\r")
	if len(e.before) > len(e.line) {
		e.before = e.line
	}
	return e
}

// Pointer returns the line, indented by two and cut around the place, with a caret below the place;
// "" if the line is empty.
func (p *Place) Pointer() string {
	if p.line == "" {
		return ""
	}
	line, before := p.line, p.before
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
