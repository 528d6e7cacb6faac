package pairrule

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/jsonfield"
)

// An Error is a mistake at one place of a rule.
type Error struct {
	Text   string // of the rule
	Offset int    // in Text, in bytes
	Msg    string
	Hint   string // what to write instead, or ""
}

// Error returns the sentence, and the line with a caret below the place.
func (e *Error) Error() string {
	from := strings.LastIndexByte(e.Text[:e.Offset], '\n') + 1
	line, _, _ := strings.Cut(e.Text[from:], "\n")
	return fmt.Sprintf("%s\n  %s\n  %s^", e.Sentence(), line, strings.Repeat(" ", utf8.RuneCountInString(e.Text[from:e.Offset])))
}

// Sentence returns the message and the hint, without the line.
func (e *Error) Sentence() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + ": " + e.Hint
}

// Position returns the line and the column of the mistake, from 1. Columns are characters.
func (e *Error) Position() (line, column int) {
	before := e.Text[:e.Offset]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

func (r *Rule) errorf(at int, hint, format string, args ...any) error {
	return &Error{Text: r.Text, Offset: min(at, len(r.Text)), Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// kind is the kind of a token.
type kind uint8

const (
	end kind = iota
	word
	path // of several parts
	number
	text
	sign
	param // ? or $name, for Extent
)

// A token is a word or a sign of a rule.
type token struct {
	kind  kind
	value string   // of word: as written; of text: without quotes
	parts []string // of word and path
	at    int
}

// is reports whether a token is a sign or a keyword.
func (t *token) is(value string) bool {
	return t.kind == sign && t.value == value || t.kind == word && strings.EqualFold(t.value, value)
}

// quote returns a token for messages.
func (t *token) quote() string {
	switch t.kind {
	case end:
		return "the end of the rule"
	case text:
		return quoted(t.value)
	case path:
		return `"` + field(t.parts) + `"`
	}
	return `"` + t.value + `"`
}

// scan returns the tokens of a rule, with one of kind end.
func (r *Rule) scan() (tokens []token, err error) {
	for at := 0; ; {
		t, after, err := r.next(at)
		if err == nil && t.kind == param {
			err = r.errorf(t.at, "", "unexpected %q", t.value)
		}
		if err != nil {
			return nil, err
		}
		tokens, at = append(tokens, t), after
		if t.kind == end {
			return tokens, nil
		}
	}
}

// next returns the first token from a place on, and where it ends.
func (r *Rule) next(at int) (t token, after int, err error) {
	s := r.Text
	at = SkipBlank(s, at)
	t.at = at
	if at == len(s) {
		return t, at, nil
	}
	rest := s[at:]
	length := func(in func(c rune) bool) int {
		if n := strings.IndexFunc(rest, func(c rune) bool { return !in(c) }); n >= 0 {
			return n
		}
		return len(rest)
	}
	c, n := utf8.DecodeRuneInString(rest)
	switch {
	case c == '\'':
		t.kind = text
		t.value, n, err = r.scanText(at)
		return t, at + n, err
	case c == '?':
		t.kind = param
	case c == '$':
		t.kind, n = param, length(func(c rune) bool { return c == '$' || jsonfield.IsWord(c) })
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		t.kind, n = number, length(func(c rune) bool { return c == '.' || c == '%' || jsonfield.IsWord(c) })
	case jsonfield.IsWord(c):
		t.kind = word
		parts, left := jsonfield.Cut(rest)
		if t.parts, n = parts, len(rest)-len(left); len(parts) > 1 {
			t.kind = path
		}
	case len(rest) > 1 && strings.Contains(" <= >= <> != ", " "+rest[:2]+" "):
		t.kind, n = sign, 2
	case strings.ContainsRune("(),=<>:", c):
		t.kind = sign
	case strings.ContainsRune("\"`‘’“”", c):
		return t, at, r.errorf(at, "as in 'it''s'", "strings are written in single quotes")
	default:
		return t, at, r.errorf(at, "", "unexpected %q", c)
	}
	t.value = rest[:n]
	return t, at + n, nil
}

// Extent returns the end of the rule with which text begins: it is before a semicolon, or before one
// of the words after which other clauses of a statement follow. params are the places of ? and
// $name. is is false for a text that compares nothing, such as NEAR 3.
func Extent(text string, after []string) (params [][2]int, end int, is bool) {
	r, depth := &Rule{Text: text}, 0
	for {
		t, next, err := r.next(end)
		switch {
		case err != nil && strings.HasPrefix(text[t.at:], ";"):
			return params, end, is
		case err != nil: // Parse will say so
			return params, len(strings.TrimRight(text, "; \n")), true
		case t.kind == sign && t.value == "(":
			depth++
		case t.kind == sign && t.value == ")":
			depth--
		case t.kind == sign && strings.ContainsAny(t.value, "<>="), t.is("AND"), t.is("OR"), t.is("NOT"), t.is("IS"):
			is = true
		case t.kind == param:
			params = append(params, [2]int{t.at, next})
		}
		if t.kind == 0 || depth <= 0 && t.kind == word && slices.ContainsFunc(after, t.is) {
			return params, end, is
		}
		end = next
	}
}

// SkipBlank returns the end of the white space and comments from at on. A comment that is not closed
// is none.
func SkipBlank(s string, at int) int {
	for at < len(s) {
		c, n := utf8.DecodeRuneInString(s[at:])
		switch {
		case unicode.IsSpace(c) || c == '\ufeff':
			at += n
		case strings.HasPrefix(s[at:], "--"):
			length := strings.IndexByte(s[at:], '\n')
			if length < 0 {
				return len(s)
			}
			at += length
		case strings.HasPrefix(s[at:], "/*") && strings.Contains(s[at+2:], "*/"):
			at += 2 + strings.Index(s[at+2:], "*/") + 2
		default:
			return at
		}
	}
	return at
}

// scanText returns the string at a place, in which two quotes stand for one, and its length there.
func (r *Rule) scanText(at int) (value string, length int, err error) {
	for i := at + 1; i < len(r.Text); i++ {
		if r.Text[i] != '\'' {
			continue
		}
		if i+1 == len(r.Text) || r.Text[i+1] != '\'' {
			return strings.ReplaceAll(r.Text[at+1:i], "''", "'"), i + 1 - at, nil
		}
		i++
	}
	return "", 0, r.errorf(at, "write a quote inside twice, as in 'it''s'", "the string that starts here has no end")
}

// isLetter reports whether a rune may be part of a word of a text.
func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsNumber(c) }

// isWord reports whether a text is one word.
func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !isLetter(c) })
}
