package syntax

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func split(s *Splitter, chunks ...string) (pieces []Piece) {
	for _, c := range chunks {
		s.Write(c)
		for p, ok := s.Next(); ok; p, ok = s.Next() {
			pieces = append(pieces, p)
		}
	}
	if p, ok := s.Rest(); ok {
		pieces = append(pieces, p)
	}
	return pieces
}

func TestSplitter(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []Piece
	}{
		{"", nil},
		{" ;; \n;-- nothing;\n", nil},
		{"A;B", []Piece{{"A", 1}, {"B", 1}}},
		{"A\n;\n\nB", []Piece{{"A\n", 1}, {"B", 4}}},
		{"-- one;\nA ';' ;B", []Piece{{"A ';' ", 2}, {"B", 2}}},
		{"A 'it''s;';", []Piece{{"A 'it''s;'", 1}}},
		{"A -- it's;\n;B", []Piece{{"A -- it's;\n", 1}, {"B", 2}}},
		{`PUT {"a": ";}\";", "b": [{";":1}]}; B`, []Piece{{`PUT {"a": ";}\";", "b": [{";":1}]}`, 1}, {" B", 1}}},
		{"A '\n;\n", []Piece{{"A '\n;\n", 1}}},
		{"A /* ; ' */ ;B/*/;*/;C /* ;", []Piece{{"A /* ; ' */ ", 1}, {"B/*/;*/", 1}, {"C /* ;", 1}}},
		{"/* ;\n */ ;\nA", []Piece{{"A", 3}}},
		{"A - ;B", []Piece{{"A - ", 1}, {"B", 1}}},
	} {
		if got := split(new(Splitter), tc.text); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %+v, want %+v", tc.text, got, tc.want)
		}
	}
}

// The pieces must be the same however the text is cut into chunks. Text that the lexer can read
// must have a piece for each semicolon token.
func TestSplitterChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := []string{"NEAR", "(", ")", ";", ";", "'it''s'", "';'", "-- c;'\n", "/* c;'\n*/", "/*/ ;*/", "/**/", "\n", " ", `{"a":";"}`, `{"q":"\"}"}`, "-", "1", "-1", "'", "{", "é"}
	for range 20000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(words[rng.IntN(len(words))])
		}
		text := b.String()
		whole := split(new(Splitter), text)
		var bytewise []string
		for i := range len(text) {
			bytewise = append(bytewise, text[i:i+1])
		}
		if got := split(new(Splitter), bytewise...); !slices.Equal(got, whole) {
			t.Fatalf("%q: at once %+v, bytewise %+v", text, whole, got)
		}
		tokens, err := vocabulary.lex(text)
		if err != nil {
			continue
		}
		statements, empty := 0, true
		for _, tok := range tokens {
			if tok.Value == ";" || tok.EOF() {
				if !empty {
					statements++
				}
				empty = true
			} else {
				empty = false
			}
		}
		if len(whole) != statements {
			t.Fatalf("%q: %d pieces %+v, but %d statements", text, len(whole), whole, statements)
		}
	}
}

func TestSplitterPending(t *testing.T) {
	var s Splitter
	for _, step := range []struct {
		text    string
		pending bool
	}{{"\n", false}, {"-- c\n", false}, {"NEAR(", true}, {"'a', 3);", false}, {" ", false}, {"'", true}} {
		s.Write(step.text)
		for _, ok := s.Next(); ok; _, ok = s.Next() {
		}
		if s.Pending() != step.pending {
			t.Errorf("after %q: pending %v", step.text, s.Pending())
		}
	}
	s.Reset()
	if s.Pending() {
		t.Error("pending after Reset")
	}
}
