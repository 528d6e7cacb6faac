// Package mutants tests the tests. Its test breaks the program in one place at a time, where that
// loses data, shows wrong data or hides damage: it drops an fsync, the comparison of a checksum, or
// a step, or swaps two. Each time a named test must fail.
//
// A mutant names the declaration that it breaks, a directory with it (which may be moved to one
// below), and the mistake:
//
//	skip("Sync")          the call of Sync never runs, and its error is nil
//	never(`n > limit`)    the condition is false; always makes it true
//	drop(`, Sum: sum`)    the code is removed
//	swap(`a < b`, `a <= b`)
//
// Code is compared token by token, so layout, comments and file names do not count. If it is not
// found as written, the names of parameters and variables may differ too; if the declaration is not
// found, the code is looked for in all declarations of the directory. There must be exactly one
// place for the mistake, and a test with a name that must notice: otherwise the plain go test
// fails, so that the table stays true. Update an entry when it says so.
//
// A mistake is made with the go command's -overlay, so that the sources stay as they are. Plain go
// test only finds the places; SIMDB_MUTANTS=1 makes all the mistakes and runs the tests, and
// SIMDB_MUTANTS=0/3 every third from the first on. SIMDB_MUTANTS=build compiles them all.
package mutants
