package query

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/internal/fptext"
)

// The kinds of tokens. Strings and JSON keep their quotes and braces in the token, so no data ever equals a keyword.
const (
	tokKeyword   lexer.TokenType = iota + 1 // AND, GET, ...: in capitals, however it was written
	tokPredicate                            // NEAR, ...: a keyword that starts a predicate of the form of a call
	tokBare                                 // STATS, ...: a keyword that is a statement
	tokTwoIDs                               // WHY, ...: a keyword that starts a statement, two ids follow
	tokIdent                                // a word that is no keyword
	tokString                               // 'it''s'
	tokHex                                  // 0x9f3c5a0011223344, 9f3c5a0011223344
	tokNumber                               // 3, 0.8, -1
	tokPercent                              // 80%
	tokDuration                             // 2d, 1h30m
	tokJSON                                 // {...}
	tokParam                                // ?
	tokNamed                                // $name
	tokPunct                                // ( ) , = ; != <>
)

var symbols = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Keyword": tokKeyword, "Predicate": tokPredicate, "Bare": tokBare, "TwoIDs": tokTwoIDs, "Ident": tokIdent, "String": tokString, "Hex": tokHex,
	"Number": tokNumber, "Percent": tokPercent, "Duration": tokDuration, "JSON": tokJSON,
	"Param": tokParam, "Named": tokNamed, "Punct": tokPunct,
}

// maxNesting bounds parentheses: the parser recurses into them.
const maxNesting = 200

// scanner cuts the text of one or more statements into tokens.
type scanner struct {
	text string
	at   int
	pos  lexer.Position // of text[at]
}

// lex returns the tokens of text with an EOF token at the end, or those before the place where it can't be cut, and why.
func lex(text string) ([]lexer.Token, error) {
	s := &scanner{text: text, pos: lexer.Position{Line: 1, Column: 1}}
	var tokens []lexer.Token
	depth := 0
	for {
		s.skipBlank()
		start, pos := s.at, s.pos
		if start == len(text) {
			return append(tokens, lexer.EOFToken(pos)), nil
		}
		kind, err := s.scan()
		if err != nil {
			return tokens, err
		}
		value := text[start:s.at]
		switch value {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth > maxNesting {
			return tokens, errorAt(text, start, "", "parentheses nest deeper than %d", maxNesting)
		}
		if kind == tokIdent {
			if upper := strings.ToUpper(value); keywords[upper] != 0 {
				kind, value = keywords[upper], upper
			}
		}
		tokens = append(tokens, lexer.Token{Type: kind, Value: value, Pos: pos})
		s.pos.Advance(text[start:s.at])
	}
}

// skipBlank skips white space and comments. It stops at a comment that has no end.
func (s *scanner) skipBlank() {
	start := s.at
	for s.at < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.at:])
		switch {
		case unicode.IsSpace(r) || r == '\ufeff':
			s.at += n
		case strings.HasPrefix(s.text[s.at:], "--"):
			if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
				s.at += i + 1
			} else {
				s.at = len(s.text)
			}
		case strings.HasPrefix(s.text[s.at:], "/*") && strings.Contains(s.text[s.at+2:], "*/"):
			s.at += 2 + strings.Index(s.text[s.at+2:], "*/") + 2
		default:
			s.pos.Advance(s.text[start:s.at])
			return
		}
	}
	s.pos.Advance(s.text[start:s.at])
}

// scan moves past the token at s.at and returns its kind.
func (s *scanner) scan() (lexer.TokenType, error) {
	start := s.at
	rest := s.text[start:]
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\'':
		return tokString, s.scanString()
	case r == '{':
		return tokJSON, s.scanJSON()
	case r == '$':
		s.at++
		s.while(isWord)
		if s.at == start+1 {
			return 0, errorAt(s.text, start, "as in $name", "a parameter needs a name after $")
		}
		return tokNamed, nil
	case r == '?':
		s.at++
		return tokParam, nil
	case r >= '0' && r <= '9', r == '-' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9',
		r == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return s.scanNumber()
	case unicode.IsDigit(r):
		return 0, errorAt(s.text, start, asciiDigits, "unexpected %q", r)
	case isWord(r):
		s.while(isWord)
		if isHexWord(s.text[start:s.at]) {
			return tokHex, nil
		}
		return tokIdent, nil
	case strings.HasPrefix(rest, "/*"):
		return 0, errorAt(s.text, start, "it ends with */", "the comment that starts here has no end")
	case strings.ContainsRune("(),=;", r):
		s.at++
		return tokPunct, nil
	case strings.HasPrefix(rest, "!="), strings.HasPrefix(rest, "<>"):
		s.at += 2
		return tokPunct, nil
	case r == '"' || r == '`' || r == '‘' || r == '’' || r == '“' || r == '”':
		return 0, errorAt(s.text, start, "as in 'it''s'", "strings are written in single quotes")
	case r == utf8.RuneError && n == 1:
		return 0, errorAt(s.text, start, "", "the text is not valid UTF-8")
	}
	return 0, errorAt(s.text, start, "", "unexpected %q", r)
}

func (s *scanner) while(f func(rune) bool) {
	for s.at < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.at:])
		if !f(r) || r == utf8.RuneError && n == 1 {
			return
		}
		s.at += n
	}
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// asciiDigits is the hint for digits of other scripts, which may look like ours.
const asciiDigits = "numbers are written with the digits 0 to 9"

// scanString moves past a string; two quotes within stands for one quote.
func (s *scanner) scanString() error {
	for i := s.at + 1; ; i++ {
		j := strings.IndexByte(s.text[i:], '\'')
		if j < 0 {
			return errorAt(s.text, s.at, "a quote within is written twice, as in 'it''s'", "the string that starts here has no end")
		}
		if i += j + 1; i == len(s.text) || s.text[i] != '\'' {
			s.at = i
			return nil
		}
	}
}

// scanJSON moves past a JSON object; whether it is well-formed within is seen when it is decoded.
func (s *scanner) scanJSON() error {
	var j jsonState
	for i := s.at; i < len(s.text); i++ {
		if j.next(s.text[i]) {
			s.at = i + 1
			return nil
		}
	}
	return errorAt(s.text, s.at, "", "the JSON object that starts here has no end")
}

// jsonState follows brackets and strings through JSON text.
type jsonState struct {
	depth            int
	quoted, escaping bool
}

// next takes one byte and says whether it closes the outermost bracket.
func (j *jsonState) next(c byte) bool {
	switch {
	case j.escaping:
		j.escaping = false
	case j.quoted:
		j.escaping = c == '\\'
		j.quoted = c != '"'
	case c == '"':
		j.quoted = true
	case c == '{' || c == '[':
		j.depth++
	case c == '}' || c == ']':
		j.depth--
		return j.depth <= 0
	}
	return false
}

// scanNumber moves past a number of any kind: what starts with a digit extends as far as letters, digits and points
// go, and must then be one as a whole.
func (s *scanner) scanNumber() (lexer.TokenType, error) {
	start := s.at
	if s.text[s.at] == '-' {
		s.at++
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		exponent := (c == '+' || c == '-') && (s.text[s.at-1]|0x20) == 'e' && !strings.HasPrefix(s.text[start:], "0x")
		if r, _ := utf8.DecodeRuneInString(s.text[s.at:]); c != '.' && !exponent && !isWord(r) || r == utf8.RuneError {
			break
		}
		_, n := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += n
	}
	word := s.text[start:s.at]
	kind := numberKind(word)
	if kind == tokNumber && strings.HasPrefix(s.text[s.at:], "%") {
		s.at++
		kind = tokPercent
	}
	if kind == 0 {
		if i := strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }); i >= 0 {
			r, _ := utf8.DecodeRuneInString(word[i:])
			return 0, errorAt(s.text, start+i, asciiDigits, "unexpected %q", r)
		}
		return 0, errorAt(s.text, start, "numbers are written 3, 0.8, 80%, 0xff, and durations 2d, 48h or 30m", "%q is not a number", word)
	}
	return kind, nil
}

// numberKind returns the kind of token that the word is, 0 if none.
func numberKind(word string) lexer.TokenType {
	if hex, ok := cutHex(word); ok {
		if hex == "" || strings.Trim(hex, "0123456789abcdefABCDEF") != "" {
			return 0
		}
		return tokHex // of any length, so that its value can say that it is too long
	}
	if isHexWord(word) {
		return tokHex
	}
	if isDecimal(word) {
		return tokNumber
	}
	if _, ok := ParseDuration(word); ok {
		return tokDuration
	}
	return 0
}

// isHexWord says whether word is a fingerprint for its 16 hexadecimal digits. One of 16 decimal digits is left to its place in the
// statement: to NEAR it is a fingerprint, to LIMIT a number.
func isHexWord(word string) bool {
	_, notation, err := fptext.Parse(word, fptext.Auto)
	return err == nil && notation == fptext.Hex && !isDigits(word)
}

func cutHex(word string) (digits string, ok bool) {
	if strings.HasPrefix(word, "0x") || strings.HasPrefix(word, "0X") {
		return word[2:], true
	}
	return "", false
}

// isDecimal says whether word is -?digits[.digits][e[+-]digits], with digits on at least one side of the point.
func isDecimal(word string) bool {
	word = strings.TrimPrefix(word, "-")
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(word), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if hasExponent {
		exponent = strings.TrimLeft(exponent, "+-")
		if exponent == "" || len(exponent) > 3 || !isDigits(exponent) {
			return false
		}
	}
	return whole+fraction != "" && isDigits(whole+fraction)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// definition lets participle know the symbols; the tokens come from lex.
type definition struct{}

// Symbols returns the kinds of tokens by name.
func (definition) Symbols() map[string]lexer.TokenType { return symbols }

// Lex cuts a whole text into tokens.
func (definition) Lex(_ string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	tokens, err := lex(string(text))
	return &tokenList{tokens}, err
}

// tokenList hands tokens to participle.
type tokenList struct{ tokens []lexer.Token }

// Next returns the next token, at the end EOF for ever.
func (l *tokenList) Next() (lexer.Token, error) {
	t := l.tokens[0]
	if !t.EOF() {
		l.tokens = l.tokens[1:]
	}
	return t, nil
}
