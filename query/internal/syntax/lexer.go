package syntax

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/quantity"
)

// maxNesting limits the depth of parentheses: the parser recurses once per level.
const maxNesting = 200

// maxTokens limits the tokens of a statement: each occupies several hundred bytes once parsed.
const maxTokens = 1 << 18

// scanner cuts the text of one or more statements into tokens.
type scanner struct {
	text string
	at   int
}

// lex returns the tokens of text, then an EOF token. Their positions hold only offsets. On an error
// it also returns the tokens before the error.
func (l *Language) lex(text string) ([]Token, error) {
	s := &scanner{text: text}
	tokens := make([]Token, 0, min(len(text)/3+4, 64))
	depth := 0
	for {
		s.skipBlank()
		start := s.at
		if start == len(text) {
			return append(tokens, lexer.EOFToken(lexer.Position{Offset: start})), nil
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
			return tokens, Errorf(start, "", "parentheses nest deeper than %d", maxNesting)
		}
		if len(tokens) == maxTokens {
			return tokens, Errorf(start, "split it", "a statement of more than %d words", maxTokens)
		}
		if kind == Ident {
			if upper := strings.ToUpper(value); upper == "TRUE" || upper == "FALSE" {
				kind, value = Bool, upper
			} else if l.kinds[upper] != 0 {
				kind, value = l.kinds[upper], upper
			}
		}
		tokens = append(tokens, Token{Type: kind, Value: value, Pos: lexer.Position{Offset: start}})
		if beforeRule(tokens) {
			tokens = s.appendRule(tokens)
		}
	}
}

// beforeRule reports whether a rule of pairs may follow tokens.
func beforeRule(tokens []Token) bool {
	n := len(tokens)
	switch last := tokens[n-1]; last.Value {
	case "PAIRS", "CLUSTERS", "UNLESS":
		return last.Type == Keyword
	}
	return n > 2 && tokens[n-2].Value == "OF" && tokens[n-3].Value == "CLUSTER"
}

// afterRule are the words that may follow a rule.
var afterRule = []string{"LIMIT", "OFFSET", "SHOW", "ESTIMATE", "VERIFY", "SINCE", "ORDER", "BY"}

// appendRule appends the rule with which the rest of the text begins, if it does: its parameters, and
// the parts before, between and after them.
func (s *scanner) appendRule(tokens []Token) []Token {
	s.skipBlank()
	params, length, is := pairrule.Extent(s.text[s.at:], afterRule)
	if !is {
		return tokens
	}
	from, add := s.at, func(kind Kind, to int) {
		if to > s.at {
			tokens = append(tokens, Token{Type: kind, Value: s.text[s.at:to], Pos: lexer.Position{Offset: s.at}})
			s.at = to
		}
	}
	for _, p := range params {
		add(RuleText, from+p[0])
		kind := Param
		if s.text[s.at] == '$' {
			kind = Named
		}
		add(kind, from+p[1])
	}
	add(RuleText, from+length)
	return tokens
}

// skipBlank skips white space and comments. It stops at a comment that is not closed.
func (s *scanner) skipBlank() { s.at = pairrule.SkipBlank(s.text, s.at) }

// scan moves past the token at s.at and returns its kind.
func (s *scanner) scan() (Kind, error) {
	start := s.at
	rest := s.text[start:]
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\'':
		return String, s.scanString()
	case r == '{':
		return JSON, s.scanJSON()
	case r == '$':
		s.at++
		s.while(jsonfield.IsWord)
		if s.at == start+1 {
			return 0, Errorf(start, "as in $name", "a parameter needs a name after $")
		}
		return Named, nil
	case r == '?':
		s.at++
		return Param, nil
	case r >= '0' && r <= '9', r == '-' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9',
		r == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return s.scanNumber()
	case unicode.IsDigit(r):
		return 0, Errorf(start, asciiDigits, "unexpected %q", r)
	case jsonfield.IsWord(r):
		s.while(jsonfield.IsWord)
		if s.atPath() {
			return Ident, s.scanPath(start)
		}
		if isHexWord(s.text[start:s.at]) {
			return Hex, nil
		}
		return Ident, nil
	case strings.HasPrefix(rest, "/*"):
		return 0, Errorf(start, "it ends with */", "the comment that starts here has no end")
	case strings.ContainsRune("(),=;*", r):
		s.at++
		return Punct, nil
	case strings.HasPrefix(rest, "!="), strings.HasPrefix(rest, "<>"), strings.HasPrefix(rest, "<="), strings.HasPrefix(rest, ">="):
		s.at += 2
		return Punct, nil
	case r == '<' || r == '>':
		s.at++
		return Punct, nil
	case r == '"' || r == '`' || r == '‘' || r == '’' || r == '“' || r == '”':
		return 0, Errorf(start, "as in 'it''s'", "strings are written in single quotes")
	case r == utf8.RuneError && n == 1:
		return 0, Errorf(start, "", "the text is not valid UTF-8")
	}
	const signs = "<>=~!@#%^&|*:?+-/"
	sign := s.text[len(strings.TrimRight(s.text[:start], signs)) : len(s.text)-len(strings.TrimLeft(rest, signs))] // such as <->
	return 0, Errorf(start, cmp.Or(elsewhere()[sign], elsewhere()[string(r)]), "unexpected %q", r)
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

// atPath reports whether a word is followed by another part of a path: meta.lang,
// fields.'content-type', messages[].role, parts.*.
func (s *scanner) atPath() bool {
	rest := s.text[s.at:]
	if len(rest) < 2 || rest[0] != '.' {
		return strings.HasPrefix(rest, "[]")
	}
	r, _ := utf8.DecodeRuneInString(rest[1:])
	return r == '\'' || r == '*' || jsonfield.IsWord(r)
}

// scanPath moves past the path that begins at start.
func (s *scanner) scanPath(start int) error {
	_, rest := jsonfield.Cut(s.text[start:])
	if s.at = len(s.text) - len(rest); s.atPath() { // a quote that is not closed
		s.at++
		return s.scanString()
	}
	return nil
}

// Path returns the parts of a path, without their quotes. A single word is a path of one part.
func Path(t Token) (parts []string) {
	parts, _ = jsonfield.Cut(t.Value)
	return parts
}

// Word returns text as a token, if it is a path, or a word that the language does not reserve.
func (l *Language) Word(text string) (Token, bool) {
	tokens, err := l.lex(text)
	if err != nil || len(tokens) != 2 || tokens[0].Type != Ident {
		return Token{}, false
	}
	return tokens[0], true
}

// Literal returns text as a token, if it is a single value.
func (l *Language) Literal(text string) (Token, bool) {
	tokens, err := l.lex(text)
	if err != nil || len(tokens) != 2 || !isLiteral(&tokens[0]) {
		return Token{}, false
	}
	return tokens[0], true
}

// asciiDigits is the hint for digits of other scripts.
const asciiDigits = "numbers are written with the digits 0 to 9"

// scanString moves past a string; two quotes inside stand for one quote.
func (s *scanner) scanString() error {
	for i := s.at + 1; ; i++ {
		j := strings.IndexByte(s.text[i:], '\'')
		if j < 0 {
			return Errorf(s.at, "write a quote inside twice, as in 'it''s'", "the string that starts here has no end")
		}
		if i += j + 1; i == len(s.text) || s.text[i] != '\'' {
			s.at = i
			return nil
		}
	}
}

// scanJSON moves past a JSON object. It only matches brackets; decoding checks the rest.
func (s *scanner) scanJSON() error {
	var j jsonState
	for i := s.at; i < len(s.text); i++ {
		if j.next(s.text[i]) {
			s.at = i + 1
			return nil
		}
	}
	return Errorf(s.at, "it ends with }", "the JSON object that starts here has no end")
}

// jsonState tracks brackets and strings in JSON text.
type jsonState struct {
	depth            int
	quoted, escaping bool
}

// next processes one byte and reports whether it closes the outermost bracket.
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

// scanNumber moves past a number of any kind. It consumes all letters, digits and points that
// follow, and the whole must be a number.
func (s *scanner) scanNumber() (Kind, error) {
	start := s.at
	if s.text[s.at] == '-' {
		s.at++
	}
	for s.at < len(s.text) {
		c := s.text[s.at]
		exponent := (c == '+' || c == '-') && (s.text[s.at-1]|0x20) == 'e' && !strings.HasPrefix(s.text[start:], "0x")
		if r, _ := utf8.DecodeRuneInString(s.text[s.at:]); c != '.' && !exponent && !jsonfield.IsWord(r) || r == utf8.RuneError {
			break
		}
		_, n := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += n
	}
	word := s.text[start:s.at]
	kind := numberKind(word)
	if kind == Number && strings.HasPrefix(s.text[s.at:], "%") {
		s.at++
		kind = Percent
	}
	if kind == 0 {
		if i := strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }); i >= 0 {
			r, _ := utf8.DecodeRuneInString(word[i:])
			return 0, Errorf(start+i, asciiDigits, "unexpected %q", r)
		}
		hint := "numbers are written 3, 0.8, 80%, 0xff, and durations 2d, 48h or 30m"
		if strings.Trim(word, "0123456789abcdefABCDEF") == "" {
			hint = "a hexadecimal number is written 0x" + word
		}
		return 0, Errorf(start, hint, "%q is not a number", word)
	}
	return kind, nil
}

// numberKind returns the kind of token for a word that is a number, 0 for other words.
func numberKind(word string) Kind {
	if hex, ok := cutHex(word); ok {
		if hex == "" || strings.Trim(hex, "0123456789abcdefABCDEF") != "" {
			return 0
		}
		return Hex // of any length, so that the error can say that it is too long
	}
	if isHexWord(word) {
		return Hex
	}
	if quantity.IsDecimal(word) {
		return Number
	}
	if _, ok := quantity.ParseDuration(word); ok {
		return Duration
	}
	return 0
}

// isHexWord reports whether word is a fingerprint of 16 hexadecimal digits, or of 32, 48, .... A
// word of 16 decimal digits is a Number, because its meaning depends on its place: NEAR reads it as
// a fingerprint, LIMIT as a number.
func isHexWord(word string) bool {
	if len(word) < base.FingerprintDigits {
		return false
	}
	if _, wide := base.WidthOf(word); wide && !isDigits(word) {
		return true
	}
	_, notation, err := base.ParseFingerprint(word, base.Auto)
	return err == nil && notation == base.Hex && !isDigits(word)
}

func cutHex(word string) (digits string, ok bool) {
	if strings.HasPrefix(word, "0x") || strings.HasPrefix(word, "0X") {
		return word[2:], true
	}
	return "", false
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
