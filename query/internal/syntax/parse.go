package syntax

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// parser reads any statement. queryParser reads a statement that starts with a predicate: it is
// faster, as it tries no other rule first. They are built for the first statement: most commands
// read none.
var (
	parser      = sync.OnceValue(build[Statement])
	queryParser = sync.OnceValue(build[queryStatement])
)

func build[T any]() *participle.Parser[T] {
	return participle.MustBuild[T](participle.Lexer(definition{}), participle.UseLookahead(2))
}

// Rules returns the grammar, in EBNF. Keywords are in double quotes.
func Rules() string { return parser().String() }

// Parsed is a well-formed statement. Statements of one form share its tree, in which the offset of
// a token is its number, and literals have no Value: see Written and Locate.
type Parsed struct {
	*form
	Text   string
	tokens []Token
}

// Parse reads one statement; a semicolon may end it. Its errors are of type *Error.
func (l *Language) Parse(text string) (*Parsed, error) {
	tokens, err := l.lex(text)
	if err != nil {
		return nil, cmp.Or(l.checkWords(tokens), err)
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

// Written returns a token of the tree as it is in the text, except for its place.
func (p *Parsed) Written(t Token) Token {
	if t.Value == "" {
		t.Value = p.tokens[t.Pos.Offset].Value
	}
	return t
}

// Offset returns where the nth token of the tree is in the text, the last of which is at its end.
func (p *Parsed) Offset(n int) int { return p.tokens[n].Pos.Offset }

// End returns the number of the token at the end of the text.
func (p *Parsed) End() int { return len(p.tokens) - 1 }

// Locate returns an error about the tree as one about the text.
func (p *Parsed) Locate(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	at := *e
	at.Offset, at.Within = p.Offset(e.Offset)+e.Within, 0
	return &at
}

func (l *Language) parseForm(text string, tokens []Token) (f *form, err error) {
	if err := l.checkWords(tokens); err != nil {
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

// definition tells participle the names of the kinds. Tokens come from Language.lex.
type definition struct{}

// Symbols returns the kinds of tokens by name.
func (definition) Symbols() map[string]Kind {
	return map[string]Kind{
		"EOF": lexer.EOF, "Keyword": Keyword, "Predicate": Predicate, "Ident": Ident, "String": String, "Bool": Bool, "Hex": Hex, "Number": Number, "Percent": Percent,
		"Duration": Duration, "JSON": JSON, "Param": Param, "Named": Named, "Punct": Punct,
	}
}

// Lex is never called: Parse passes the tokens itself.
func (definition) Lex(string, io.Reader) (lexer.Lexer, error) { return &tokenList{}, nil }

// tokenList gives tokens to participle.
type tokenList struct{ tokens []Token }

// Next returns the next token, and at the end EOF each time.
func (l *tokenList) Next() (Token, error) {
	t := l.tokens[0]
	if !t.EOF() {
		l.tokens = l.tokens[1:]
	}
	return t, nil
}
