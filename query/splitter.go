package query

import "github.com/simdb/simdb/query/internal/syntax"

// Piece is a statement cut from a longer text: its Text, without the semicolon, and the Line of the
// whole text on which that starts, from 1.
type Piece = syntax.Piece

// Splitter cuts text that arrives in chunks into statements, at the semicolons that end them: not
// those within strings, comments and JSON. It looks at every byte once.
//
//	var s query.Splitter
//	s.Write(text)
//	for p, ok := s.Next(); ok; p, ok = s.Next() { ... }
//
// Rest returns the last statement, which no semicolon ended, and Pending reports whether there is
// one. Reset drops the text that Next has not returned.
type Splitter = syntax.Splitter
