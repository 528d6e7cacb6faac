// Package predicate implements the predicates of the language: what each means, how it finds
// documents, how it tests one, and the cost of either.
//
// [Definitions] is the table of predicates. A [Definition] binds a call in the syntax tree to a
// [Predicate]: it resolves the arguments against one snapshot of the database, in a [Scope]. A
// predicate tests documents one by one; a [Driver] is a predicate that can also list the documents
// for which it holds.
//
// # To add a predicate
//
// A predicate that is written as a call, such as CONTAINS('a', 0.5), needs one file of this package
// and one row:
//
//  1. In a file of its own, a type with the methods of [Predicate], and those of [Driver] if an
//     index can list its documents, and a function bindX that creates one from a call. near.go is
//     an example.
//  2. In [Definitions] a row. The lexer, the grammar, error messages, Tab completion and .help read
//     the row, so no other code has to know the word.
//  3. In docs/query.md the row of the table that TestDocumentation prints, and the word in the
//     sentences that it prints, which list the predicates with a distance or a score.
//  4. In query/table_test.go, foundByExamples: the documents that its example finds. 5. go test
//
// ./query -run TestGolden -update, because an error message lists the predicates with a
//
//	score.
//
// TestPredicateTable, TestDocumentation and TestGolden of package query fail for each step that is
// left out, and say which. A predicate with another syntax also needs a rule in
// internal/syntax/grammar.go and a call of its binding in query/bind.go; TestKeywords compares the
// words of the grammar with the table.
package predicate
