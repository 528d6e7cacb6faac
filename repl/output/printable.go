package output

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
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
// separators, annotation marks, and the marks and overrides of direction, which make text read as
// another text. All of them have four hexadecimal digits.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\ufff9' && r <= '\ufffb' || unicode.Is(unicode.Bidi_Control, r)
}

// Shown returns a writer to a terminal of lines that may hold anything: it shows them as Printable
// does, except for tabs and the ends of lines. A character that is not complete when the last Write
// ends is not shown.
func Shown(terminal io.Writer) io.Writer { return &shown{w: terminal} }

type shown struct {
	w    io.Writer
	rest []byte // the beginning of a character
	buf  []byte
}

// Write implements io.Writer.
func (s *shown) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	end := len(text)
	for i := max(end-utf8.UTFMax+1, 0); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	s.buf = s.buf[:0]
	for start := 0; start < end; {
		stop := start + bytes.IndexAny(text[start:end], "\t\n") // -1 if there is none
		if stop < start {
			stop = end
		}
		s.buf = append(s.buf, Printable(string(text[start:stop]))...)
		if stop < end {
			s.buf = append(s.buf, text[stop])
			stop++
		}
		start = stop
	}
	s.rest = append([]byte(nil), text[end:]...)
	if _, err := s.w.Write(s.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

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
