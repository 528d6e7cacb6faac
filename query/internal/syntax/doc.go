// Package syntax turns the text of a statement into a tree, or into an error that says where the
// mistake is and what to write instead.
//
//	language := syntax.New(vocabulary)
//	p, err := language.Parse("NEAR('a', 3) LIMIT 10")   // p.Statement.Select.Expr ...
//
// The package does not define the words of the language: the caller passes them as a [Vocabulary].
// The lexer (lexer.go) assigns each word its [Kind], and the grammar (grammar.go) is written in
// terms of kinds and of the keywords that have a rule of their own.
//
// The grammar checks only the form. The caller decides whether a value has the right type and
// range, and can say more than "unexpected token".
//
// No other package imports the parser generator, participle.
package syntax
