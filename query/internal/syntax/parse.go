package syntax

import (
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

// Parsed is a well-formed statement.
type Parsed struct {
	Text      string
	Statement *Statement
	Word      string      // that the statement starts with; "" for a query
	Params    map[int]int // the offset of each ? in Text -> its number, from 0
}

// Parse reads one statement; a semicolon may end it. Its errors are of type *Error.
func (l *Language) Parse(text string) (*Parsed, error) {
	tokens, err := l.lex(text)
	if werr := l.checkWords(tokens); werr != nil {
		return nil, werr // it precedes the lexer's error
	}
	if err != nil {
		return nil, err
	}
	p := &Parsed{Text: text, Params: make(map[int]int)}
	for _, t := range tokens {
		if t.Type == Param {
			p.Params[t.Pos.Offset] = len(p.Params)
		}
	}
	peeking, err := lexer.Upgrade(&tokenList{tokens})
	if err != nil {
		return nil, err
	}
	if tokens[0].Type == Predicate {
		var q *queryStatement
		if q, err = queryParser().ParseFromLexer(peeking); err == nil {
			p.Statement = &Statement{Select: q.Select}
		}
	} else {
		p.Statement, err = parser().ParseFromLexer(peeking)
	}
	if err != nil {
		return nil, l.syntaxError(text, tokens, err)
	}
	if first := tokens[0]; isKeyword(first) && slices.Contains(l.statements, first.Value) {
		p.Word = first.Value
	}
	return p, nil
}

// definition tells participle the names of the kinds. Tokens come from Language.lex.
type definition struct{}

// Symbols returns the kinds of tokens by name.
func (definition) Symbols() map[string]Kind {
	return map[string]Kind{
		"EOF": lexer.EOF, "Keyword": Keyword, "Predicate": Predicate, "Bare": Bare, "TwoIDs": TwoIDs,
		"Ident": Ident, "String": String, "Hex": Hex, "Number": Number, "Percent": Percent,
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
