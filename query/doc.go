// Package query is the language of simdb: it parses a statement, plans it, and runs it on a database.
//
//	rows, err := query.Run(ctx, db, `NEAR(?, 3) AND ID LIKE 'mirror/%' LIMIT 10`, fp)
//	for row, err := range rows.All() { ... }
//
// The way of a statement:
//
//	text -> lex -> parse (participle; ast.go) -> bind -> plan -> rows
//
// lex cuts it into tokens. parse makes a tree of them. bind resolves names, parameters and documents against one
// snapshot of the database, and moves every NOT down to the predicates. plan picks the drivers: of an AND the cheapest
// predicate that can list documents, of an OR one for each side. The rows are then computed as they are read: what the
// drivers yield is tested on the rest of the expression, document by document, and sorted only if it does not come in
// the order asked for.
//
// The words of the language are in the tables of predicates.go and statements.go. The package uses nothing of package
// engine but its public API; LEVENSHTEIN and COSINE, which compare texts, are its own.
// docs/query.md is the reference of the language.
package query
