// Package value converts the literals and parameters of a statement to Go values, and checks that
// they have the type and the range that their place needs. Its errors are of type *syntax.Error.
//
// It also handles texts for statements: the patterns of LIKE, the values of fields in JSON, the
// differences between two texts word by word, and how messages show a text.
package value
