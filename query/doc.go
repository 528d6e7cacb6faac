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
// docs/query.md is the reference of the language. [Check] checks the form of a statement,
// [Splitter] splits a longer text into statements, and [Detail] shows an error with its line and a
// caret. EXPLAIN before a query shows its plan. [Prepare] parses a statement that is run often.
//
// # Source
//
// A statement is parsed into a tree (internal/syntax), once for all statements that differ only
// in their literals. Its row in the table of statements (statements.go) says which method runs
// it. A query is bound (bind.go): names, parameters and documents are resolved against one
// snapshot of the database (internal/value, internal/predicate), and every NOT is moved down to
// the predicates. Then it is planned (plan.go): for an AND the cheapest predicate that can list
// documents becomes the driver, for an OR one on each side. Its rows are computed while they
// are read (exec.go): the rest of the expression is tested on each document of a driver, and
// the results are sorted only if the driver does not yield them in order.
//
// Tests of texts and fields are made for many documents together (tester.go), in the order
// in which their texts lie, so that each block of texts is decoded once. If LIMIT may end the
// search early, batches begin small. Predicates that scan (ID LIKE, SINCE, tests of text and
// fields) share one scan under an AND.
//
// Package engine is used through its public API alone.
package query
