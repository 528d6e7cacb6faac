package syntax

import (
	"strings"

	"github.com/simdb/simdb/internal/front"
)

// Splitter implements front.Splitter.
type Splitter struct {
	buf     []byte // text that Next has not returned
	scanned int    // bytes of buf that the state covers
	line    int    // number of line ends before buf
	opened  int    // where the open block comment starts
	state   splitState
	json    jsonState
}

type splitState int

const (
	inCode splitState = iota
	inString
	inComment      // to the end of the line
	inBlockComment // to its closing mark
	inJSON
)

// Write adds text.
func (s *Splitter) Write(text string) { s.buf = append(s.buf, text...) }

// Next returns the next complete statement, or false if it needs more text. It skips empty
// statements.
func (s *Splitter) Next() (front.Piece, bool) {
	for ; s.scanned < len(s.buf); s.scanned++ {
		c := s.buf[s.scanned]
		switch s.state {
		case inString:
			if c == '\'' {
				s.state = inCode
			}
		case inComment:
			if c == '\n' {
				s.state = inCode
			}
		case inBlockComment:
			if c == '/' && s.buf[s.scanned-1] == '*' && s.scanned > s.opened+2 {
				s.state = inCode
			}
		case inJSON:
			if s.json.next(c) {
				s.state = inCode
			}
		case inCode:
			switch c {
			case '\'':
				s.state = inString
			case '{':
				s.state, s.json = inJSON, jsonState{depth: 1}
			case '-':
				if s.scanned > 0 && s.buf[s.scanned-1] == '-' {
					s.state = inComment
				}
			case '*':
				if s.scanned > 0 && s.buf[s.scanned-1] == '/' {
					s.state, s.opened = inBlockComment, s.scanned-1
				}
			case ';':
				if p, ok := s.cut(s.scanned, s.scanned+1); ok {
					return p, true
				}
				s.scanned = -1 // cut has dropped everything up to here
			}
		}
	}
	return front.Piece{}, false
}

// Pending reports whether anything but white space and comments follows the last complete
// statement.
func (s *Splitter) Pending() bool { return !blank(string(s.buf)) }

// Rest returns the last statement of the text, which no semicolon ended, or false if there is none.
func (s *Splitter) Rest() (front.Piece, bool) {
	p, ok := s.cut(len(s.buf), len(s.buf))
	s.Reset()
	return p, ok
}

// Reset drops the text that Next has not returned.
func (s *Splitter) Reset() {
	s.line += strings.Count(string(s.buf), "\n")
	s.buf, s.scanned, s.state = nil, 0, inCode
}

// cut returns buf[:end] as a statement and drops buf[:next].
func (s *Splitter) cut(end, next int) (front.Piece, bool) {
	text := string(s.buf[:end])
	line := 1 + s.line
	s.line += strings.Count(string(s.buf[:next]), "\n")
	s.buf, s.scanned = s.buf[next:], 0
	if blank(text) {
		return front.Piece{}, false
	}
	// Drop leading blank lines, so that Line is the line of the statement.
	for {
		first, rest, more := strings.Cut(text, "\n")
		if !more || !blank(first) {
			return front.Piece{Text: text, Line: line}, true
		}
		text = rest
		line++
	}
}

// blank reports whether text holds nothing but white space and comments.
func blank(text string) bool {
	s := scanner{text: text}
	s.skipBlank()
	return s.at == len(text)
}
