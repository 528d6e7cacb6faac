package query_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/query"
)

// statementSeeds are statements of every form, and mistakes of most kinds.
var statementSeeds = []string{
	"NEAR(0x9f3c5a0011223344, 3)", "NEAR('doc-17', 3);", "NEAR(TEXT 'some words', 3)", "NEAREST('doc-17', 10)",
	"NEAR('a', 6) AND NOT (NEAREST('a', 9) OR ID LIKE 'mirror/%' ESCAPE '!') SINCE 2d ORDER BY distance DESC, id LIMIT 20 OFFSET 40",
	"NEAR('a', 10) AND LEVENSHTEIN('a', 0.9)", "ID IN ('a', 'b') AND COSINE(TEXT 'x', 80%)", "JACCARD('a', 0.8) ESTIMATE", "JACCARD('a', 0.8) VERIFY",
	"COUNT NEAR('a', 3)", "EXPLAIN ANALYZE NEAR(0, 64)", "WHY 'a' 'b'", "GET 'it''s'", `PUT {"id":"a","text":"b {\" }"} UNLESS NEAR 3`,
	"DELETE WHERE ID = 'zz'", "PAIRS NEAR 3 LIMIT 2", "CLUSTERS NEAR 3", "COUNT",
	"-- only a comment", "near(?, $k)", "SINCE '2026-01-02'", "ID != 'a' AND NOT NOT NEAR(1, 1)",
	"NEER(0xff, 3)", "NEAR(0xff, 65)", "NEAR('日本', 3) \t@", "'no end", `PUT {"id`, strings.Repeat("(", 300), strings.Repeat("NOT ", 300) + "NEAR(1,1)", "\xff", "1e999", "",
}

// checkPlace fails if the place of an error is not in the text.
func checkPlace(t *testing.T, text string, err error) {
	e, ok := errors.AsType[*query.ParseError](err)
	if !ok {
		return
	}
	lines := strings.Split(text, "\n")
	if e.Offset < 0 || e.Offset > len(text) || e.Line < 1 || e.Line > len(lines) {
		t.Fatalf("%q: line %d, offset %d", text, e.Line, e.Offset)
	}
	if line := lines[e.Line-1]; e.Column < 1 || e.Column > utf8.RuneCountInString(line)+1 {
		t.Fatalf("%q: column %d of line %q", text, e.Column, line)
	}
	if source := e.Source(); source != "" && (strings.Count(source, "\n") != 1 || !strings.HasSuffix(source, "^")) {
		t.Fatalf("%q: shown as %q", text, source)
	}
	if e.Msg == "" || !utf8.ValidString(e.Source()) && utf8.ValidString(text) {
		t.Fatalf("%q: %q", text, front.Language.Detail(err))
	}
}

// FuzzStatement parses any text. The parser must not panic or hang, and must say where a mistake
// is.
func FuzzStatement(f *testing.F) {
	for _, s := range statementSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := query.Prepare(text)
		checkPlace(t, text, err)
	})
}

// FuzzSplitter cuts any text into statements. Only semicolons and blanks may be lost, and a text
// that parses as one statement must be cut as one.
func FuzzSplitter(f *testing.F) {
	for _, s := range statementSeeds {
		f.Add(s + ";" + s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := front.Language.Splitter()
		s.Write(text)
		var pieces []front.Piece
		for p, ok := s.Next(); ok; p, ok = s.Next() {
			pieces = append(pieces, p)
		}
		if p, ok := s.Rest(); ok {
			pieces = append(pieces, p)
		}
		at, last := 0, 1
		for _, p := range pieces {
			i := strings.Index(text[at:], p.Text)
			if i < 0 {
				t.Fatalf("%q: piece %q is not in it", text, p.Text)
			}
			at += i + len(p.Text)
			if p.Line < last || p.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("%q: piece %q on line %d", text, p.Text, p.Line)
			}
			last = p.Line
		}
		if _, err := query.Prepare(text); err == nil && len(pieces) != 1 {
			t.Fatalf("%q is one statement, cut into %+v", text, pieces)
		}
	})
}
