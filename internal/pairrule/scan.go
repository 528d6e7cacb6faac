package pairrule

import (
	"fmt"
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
	s := r.Text
	for at := 0; ; {
		at = skipBlank(s, at)
		t := token{at: at}
		if at == len(s) {
			return append(tokens, t), nil
		}
		c, n := utf8.DecodeRuneInString(s[at:])
		switch {
		case c == '\'':
			length := 0
			if t.value, length, err = r.scanText(at); err != nil {
				return nil, err
			}
			t.kind, at = text, at+length
		case c >= '0' && c <= '9' || c == '.' && len(s) > at+1 && s[at+1] >= '0' && s[at+1] <= '9':
			length := strings.IndexFunc(s[at:], func(c rune) bool { return c != '.' && c != '%' && !jsonfield.IsWord(c) })
			if length < 0 {
				length = len(s) - at
			}
			t.kind, t.value, at = number, s[at:at+length], at+length
		case jsonfield.IsWord(c):
			parts, rest := jsonfield.Cut(s[at:])
			length := len(s) - at - len(rest)
			t.kind, t.value, t.parts, at = word, s[at:at+length], parts, at+length
			if len(parts) > 1 {
				t.kind = path
			}
		default:
			if len(s) > at+1 && strings.Contains(" <= >= <> != ", " "+s[at:at+2]+" ") {
				n = 2
			} else if !strings.ContainsRune("(),=<>:", c) {
				return nil, r.errorf(at, "", "unexpected %q", c)
			}
			t.kind, t.value, at = sign, s[at:at+n], at+n
		}
		tokens = append(tokens, t)
	}
}

// skipBlank returns the end of the white space and comments from at on.
func skipBlank(s string, at int) int {
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
