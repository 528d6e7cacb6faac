// Package printable makes text safe to show on a terminal.
package printable

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s with control characters and invalid UTF-8 replaced by escapes: \n, \t, \x1b. All
// text for a terminal must pass through it, or stored data could control the terminal.
func Text(s string) string {
	if !strings.ContainsFunc(s, Control) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if Control(r) || r == utf8.RuneError && n == 1 {
			q := strconv.QuoteToASCII(s[i : i+n])
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Control reports whether r controls a terminal rather than being displayed: control characters,
// line separators, annotation marks, and direction marks and overrides, which could disguise a
// text. All of these have at most four hexadecimal digits.
func Control(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\ufff9' && r <= '\ufffb' || unicode.Is(unicode.Bidi_Control, r)
}

// Writer returns a writer for lines of arbitrary text to a terminal. It escapes them as Text does,
// except for tabs and newlines. An incomplete character at the end is not shown.
func Writer(terminal io.Writer) io.Writer { return &shown{w: terminal} }

type shown struct {
	w    io.Writer
	rest []byte // the beginning of an incomplete character
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
		s.buf = append(s.buf, Text(string(text[start:stop]))...)
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
