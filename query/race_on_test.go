//go:build race

package query

// slower is how many times as long a program takes that looks for races.
const slower = 5
