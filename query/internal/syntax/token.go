package syntax

import (
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// Token is a token of a statement: Type is its Kind, Value its text, and Pos where it starts. The
// Value of a keyword is in capitals, however the user wrote it. Strings and JSON keep their quotes
// and braces in Value, so that data never equals a keyword.
type Token = lexer.Token

// Kind is the kind of a token.
type Kind = lexer.TokenType

// The kinds of tokens.
const (
	Keyword   Kind = iota + 1 // AND, GET, ...: a word with a rule in the grammar
	Predicate                 // NEAR, ...: a word that starts a predicate written as a call
	Ident                     // a word that is not a keyword, or a path: meta.lang
	String                    // 'it''s'
	Bool                      // TRUE, FALSE
	Hex                       // 0x9f3c5a0011223344, 9f3c5a0011223344
	Number                    // 3, 0.8, -1
	Percent                   // 80%
	Duration                  // 2d, 1h30m
	JSON                      // {...}
	RuleText                  // a rule of pairs, or the part of one before or after a parameter
	Param                     // ?
	Named                     // $name
	Punct                     // ( ) , ; * = != <> < <= > >=
)

// isLiteral reports whether a token is a value written in the statement.
func isLiteral(t *Token) bool { return String <= t.Type && t.Type <= RuleText }

// isKeyword reports whether a token is a word of the language.
func isKeyword(t Token) bool {
	return t.Type == Keyword || t.Type == Predicate
}

// Quote returns the name of a token for messages.
func Quote(t Token) string {
	switch t.Type {
	case JSON:
		return "JSON object"
	case RuleText:
		return "rule"
	case String:
		if utf8.RuneCountInString(t.Value) > 40 {
			return "string"
		}
		return t.Value
	}
	return `"` + t.Value + `"`
}
