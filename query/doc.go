// Package query runs statements of simdb's query language on a database.
//
//	rows, err := query.Run(ctx, db, `NEAR(?, 3) AND lang = 'en' LIMIT 10`, fp)
//	q := query.Near(fp, 3).And(query.Field("lang").Eq("en")).Limit(10) // the same
//	rows, err := q.Run(ctx, db)
//	if err != nil {
//		return err // a *query.ParseError if the statement is wrong
//	}
//	for m, err := range query.Scan[engine.Match](rows) { ... } // or rows.All(), of slices
//
// There are few types. A [Query] is built from predicates and clauses, or parsed from text; an
// [Operand] is the part of a document that a predicate tests, and a [Key] orders rows. A [Prepared]
// is any statement, parsed once and run often. A [Session] runs statements that may be in a
// transaction, and reports their progress. All of these return [Rows], which [Scan] reads into
// structs. A [ParseError] has the place of an error in the text. EXPLAIN before a query shows its
// plan. docs/query.md is the reference of the language.
//
// # Source
//
// A statement is parsed into a tree (internal/syntax), once for all statements that differ only in
// their literals. Its row in the table of statements (statements.go) names the method that runs it.
// A query is bound (bind.go): names, parameters and documents are resolved against one snapshot of
// the database (internal/value, internal/predicate), and every NOT is pushed down to the
// predicates. Then it is planned (plan.go): for an AND, the cheapest predicate that can list
// documents becomes the driver; for an OR, each side has its own driver. The rows are computed
// while they are read (exec.go): each document that a driver lists is tested against the rest of
// the expression, and the results are sorted only if the driver does not yield them in order.
//
// Tests of texts and fields run on batches of documents (tester.go), in storage order, so that each
// block of texts is decoded once. If LIMIT may end the search early, the first batches are small.
// Predicates that scan (ID LIKE, SINCE, tests of text and fields) share one scan under an AND. The
// package uses only the public API of package engine.
//
// # Caveats
//
// Rows pin a snapshot of the database, whose files stay on disk, until they are read to the end or
// closed. Queries do their work while their rows are read, so errors may come after Run, and the
// rows end with an error when the context of Run ends.
//
// A string argument is the ID of a document; a text to compare with is a [Text]. A uint64 is a
// fingerprint. A transaction holds its writes in memory.
package query
