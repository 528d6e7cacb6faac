// Package mutants tests the tests. Its test breaks the program in one place at a time, where that loses data, shows wrong data or
// hides damage: it drops an fsync, the comparison of a checksum, or a step, or swaps two. Each time a named test must fail.
//
// A break is made with the go command's -overlay, so that the sources stay as they are. The table of breaks gives the text to be
// replaced; when that is not in its file exactly once any more, the plain go test fails, so that the table cannot go stale unnoticed.
// The breaks themselves are made if SIMDB_MUTANTS=1 is set.
package mutants
