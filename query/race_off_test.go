//go:build !race

package query

// slower is how many times as long a program takes that looks for races; this one does not.
const slower = 1
