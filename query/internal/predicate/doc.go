// Package predicate has the predicates of the language: what each means, how it finds documents,
// how it tests one, and what either costs.
//
// [Definitions] is the table of predicates. A [Definition] binds a call of the statement's syntax
// tree to a [Predicate]: it resolves the arguments against one snapshot of the database, in a
// [Scope]. A predicate tests documents one by one; one that can also list the documents for which
// it holds is a [Driver].
//
// # To add a predicate
//
// A predicate that is written as a call, such as CONTAINS('a', 0.5), takes one file of this package
// and one row:
//
//  1. In a file of its own, a type with the methods of [Predicate], and those of [Driver] if an
//     index can list its documents, and a function bindX that makes one of a call. near.go is an
//     example.
//  2. In [Definitions] a row. The lexer, the grammar, error messages, Tab completion and .help read
//     the row, so nothing else has to know the word.
//  3. In docs/query.md the row of the table that TestDocumentation prints, and the word in the
//     sentences that it prints, which list the predicates with a distance or a score.
//  4. In query/table_test.go, foundByExamples: what its example finds.
//  5. go test ./query -run TestGolden -update, as an error message lists the predicates with a
//     score.
//
// TestPredicateTable, TestDocumentation and TestGolden of package query fail for each step that
// is left out, and say which. A predicate with another syntax also needs a rule in
// internal/syntax/grammar.go, and its binding a call in query/bind.go; TestKeywords compares the
// words of the grammar with the table.
package predicate
