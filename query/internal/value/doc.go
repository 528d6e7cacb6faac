// Package value turns the literals and parameters of a statement into Go values, and checks that
// they have the type and the range that their place needs. Its errors are of type
// *syntax.Error.
package value
