package syntax

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/front"
)

func split(s *Splitter, chunks ...string) (pieces []front.Piece) {
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
		want []front.Piece
	}{
		{"", nil},
		{" ;; \n;-- nothing;\n", nil},
		{"A;B", []front.Piece{{Text: "A", Line: 1}, {Text: "B", Line: 1}}},
		{"A\n;\n\nB", []front.Piece{{Text: "A\n", Line: 1}, {Text: "B", Line: 4}}},
		{"-- one;\nA ';' ;B", []front.Piece{{Text: "A ';' ", Line: 2}, {Text: "B", Line: 2}}},
		{"A 'it''s;';", []front.Piece{{Text: "A 'it''s;'", Line: 1}}},
		{"A -- it's;\n;B", []front.Piece{{Text: "A -- it's;\n", Line: 1}, {Text: "B", Line: 2}}},
		{`PUT {"a": ";}\";", "b": [{";":1}]}; B`, []front.Piece{{Text: `PUT {"a": ";}\";", "b": [{";":1}]}`, Line: 1}, {Text: " B", Line: 1}}},
		{"A '\n;\n", []front.Piece{{Text: "A '\n;\n", Line: 1}}},
		{"A /* ; ' */ ;B/*/;*/;C /* ;", []front.Piece{{Text: "A /* ; ' */ ", Line: 1}, {Text: "B/*/;*/", Line: 1}, {Text: "C /* ;", Line: 1}}},
		{"/* ;\n */ ;\nA", []front.Piece{{Text: "A", Line: 3}}},
		{"A - ;B", []front.Piece{{Text: "A - ", Line: 1}, {Text: "B", Line: 1}}},
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
