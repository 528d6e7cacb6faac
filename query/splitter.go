package query

import "github.com/simdb/simdb/query/internal/syntax"

// Piece is a statement cut from a longer text.
type Piece struct {
	Text string // without the semicolon
	Line int    // the line of the whole text on which Text starts, from 1
}

// Splitter cuts text that arrives in chunks into statements, at the semicolons that end them: not
// those within strings, comments and JSON. It looks at every byte once.
//
//	var s query.Splitter
//	s.Write(text)
//	for p, ok := s.Next(); ok; p, ok = s.Next() { ... }
type Splitter struct{ s syntax.Splitter }

// Write adds text.
func (s *Splitter) Write(text string) { s.s.Write(text) }

// Next returns the next complete statement, or false if more text is needed. It skips empty
// statements.
func (s *Splitter) Next() (Piece, bool) {
	p, ok := s.s.Next()
	return Piece(p), ok
}

// Pending reports whether there is text after the last complete statement, other than white space
// and comments.
func (s *Splitter) Pending() bool { return s.s.Pending() }

// Rest returns the last statement of the text, which no semicolon ended, or false if there is none.
func (s *Splitter) Rest() (Piece, bool) {
	p, ok := s.s.Rest()
	return Piece(p), ok
}

// Reset drops the text that Next has not returned.
func (s *Splitter) Reset() { s.s.Reset() }
