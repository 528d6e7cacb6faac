// Package mutants tests the tests. Its test breaks the program in one place at a time, where this
// loses data, shows wrong data or hides damage: it drops an fsync, the comparison of a checksum
// or a step, or swaps two steps. A named test must fail each time.
//
// A mutant names the declaration that it breaks, a directory that contains it (possibly in a
// subdirectory), and the mistake:
//
//	skip("Sync")          the call of Sync never runs, and its error is nil
//	never(`n > limit`)    the condition is false; always makes it true
//	drop(`, Sum: sum`)    the code is removed
//	swap(`a < b`, `a <= b`)
//
// Code is compared token by token, so layout, comments and file names do not matter. If the code
// is not found as written, the names of parameters and variables may differ, too; if the
// declaration is not found, the code is searched in all declarations of the directory. There must
// be exactly one place for the mistake, and a named test that must fail; otherwise the plain go
// test fails, so that the table stays correct. Update an entry when that happens.
//
// Mistakes are made with the go command's -overlay, so the sources do not change. A plain go test
// only finds the places. SIMDB_MUTANTS=1 makes all the mistakes and runs the tests, and
// SIMDB_MUTANTS=0/3 every third from the first on. SIMDB_MUTANTS=build only compiles them.
package mutants
