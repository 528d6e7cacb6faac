package syntax

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/internal/pairrule"
)

// parser reads any statement. queryParser reads a statement that starts with a predicate: it is
// faster, because it tries no other rule first. Both are built for the first statement, because
// most commands parse none.
var (
	parser      = sync.OnceValue(build[Statement])
	queryParser = sync.OnceValue(build[queryStatement])
)

func build[T any]() *participle.Parser[T] {
	return participle.MustBuild[T](participle.Lexer(definition{}), participle.UseLookahead(2))
}

// Rules returns the grammar, in EBNF. Keywords are in double quotes.
func Rules() string { return parser().String() }

// Parsed is a well-formed statement. Statements of the same form share its tree: the offset of a
// token in the tree is the token's number, and literals have no Value. Written and Locate translate
// to the text.
type Parsed struct {
	*form
	Text   string
	tokens []Token
}

// Parse reads one statement, which may end with a semicolon. Its errors are of type *Error.
func (l *Language) Parse(text string) (*Parsed, error) {
	tokens, err := l.lex(text)
	if err != nil {
		if len(tokens) == 1 && foreign(tokens[0]) == "" { // the word may be a field
			return nil, err
		}
		return nil, cmp.Or(l.checkWords(text, tokens), err)
	}
	if err := checkRules(tokens); err != nil {
		return nil, err
	}
	var room [512]byte
	key := appendForm(room[:0], tokens)
	f := l.forms.find(key)
	if f == nil {
		if f, err = l.parseForm(text, tokens); err != nil {
			return nil, err
		}
		l.forms.keep(key, f)
	}
	return &Parsed{f, text, tokens}, nil
}

// Written returns a token of the tree with the Value that the text has; its offset stays a number.
func (p *Parsed) Written(t Token) Token {
	if t.Value == "" {
		t.Value = p.tokens[t.Pos.Offset].Value
	}
	return t
}

// Offset returns where the nth token of the tree starts in the text. The last token is at the end
// of the text.
func (p *Parsed) Offset(n int) int { return p.tokens[n].Pos.Offset }

// End returns the number of the token at the end of the text.
func (p *Parsed) End() int { return len(p.tokens) - 1 }

// Locate converts an error about the tree to an error about the text.
func (p *Parsed) Locate(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	at := *e
	at.Offset, at.Within = p.Offset(e.Offset)+e.Within, 0
	return &at
}

// checkRules parses the rules among tokens, if they have no parameters.
func checkRules(tokens []Token) error {
	for i, t := range tokens {
		if next := tokens[min(i+1, len(tokens)-1)]; t.Type == RuleText && i > 0 && !isParam(tokens[i-1]) && !isParam(next) {
			if _, err := pairrule.Parse(t.Value); err != nil {
				return RuleError(err, func(offset int) (int, int) { return t.Pos.Offset + offset, 0 })
			}
		}
	}
	return nil
}

func isParam(t Token) bool { return t.Type == Param || t.Type == Named }

// RuleError returns an error of package pairrule as one of a statement. place returns the Offset and
// Within for an offset in the rule.
func RuleError(err error, place func(offset int) (at, within int)) error {
	e, ok := errors.AsType[*pairrule.Error](err)
	if !ok {
		return err
	}
	of := Errorf(0, e.Hint, "%s", e.Msg)
	of.Offset, of.Within = place(e.Offset)
	return of
}

func (l *Language) parseForm(text string, tokens []Token) (f *form, err error) {
	if err := l.checkWords(text, tokens); err != nil {
		return nil, err
	}
	f = &form{Params: make(map[int]int)}
	numbered := slices.Clone(tokens)
	for i := range numbered {
		t := &numbered[i]
		if t.Pos.Offset = i; t.Type == Param {
			f.Params[i] = len(f.Params)
		} else if isLiteral(t) {
			t.Value = ""
		}
	}
	peeking, err := lexer.Upgrade(&tokenList{numbered})
	if err != nil {
		return nil, err
	}
	if tokens[0].Type == Predicate {
		var q *queryStatement
		if q, err = queryParser().ParseFromLexer(peeking); err == nil {
			f.Statement = &Statement{Select: q.Select}
		}
	} else {
		f.Statement, err = parser().ParseFromLexer(peeking)
	}
	if err != nil {
		return nil, l.syntaxError(text, tokens, err)
	}
	if first := tokens[0]; isKeyword(first) && slices.Contains(l.statements, first.Value) {
		f.Word = first.Value
	}
	return f, nil
}

// definition names the token kinds for participle. The tokens come from Language.lex.
type definition struct{}

// Symbols returns the kinds of tokens by name.
func (definition) Symbols() map[string]Kind {
	return map[string]Kind{
		"EOF": lexer.EOF, "Keyword": Keyword, "Predicate": Predicate, "Ident": Ident, "String": String, "Bool": Bool, "Hex": Hex, "Number": Number, "Percent": Percent,
		"Duration": Duration, "JSON": JSON, "RuleText": RuleText, "Param": Param, "Named": Named, "Punct": Punct,
	}
}

// Lex is never called: Parse passes the tokens itself.
func (definition) Lex(string, io.Reader) (lexer.Lexer, error) { return &tokenList{}, nil }

// tokenList passes tokens to participle.
type tokenList struct{ tokens []Token }

// Next returns the next token; after the last one, EOF each time.
func (l *tokenList) Next() (Token, error) {
	t := l.tokens[0]
	if !t.EOF() {
		l.tokens = l.tokens[1:]
	}
	return t, nil
}
