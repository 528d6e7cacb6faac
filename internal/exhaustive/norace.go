//go:build !race

package exhaustive

// Race tells whether the race detector looks on.
const Race = false

// Slower is how many times as long a program takes for the race detector.
const Slower = 1
