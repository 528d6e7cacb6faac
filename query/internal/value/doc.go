// Package value turns the literals and parameters of a statement into Go values, and checks that
// they have the type and the range that their place needs. Its errors are of type *syntax.Error.
//
// It also has what statements do with texts: the patterns of LIKE, the values of fields in JSON,
// the differences of two texts word by word, and how messages show a text.
package value
