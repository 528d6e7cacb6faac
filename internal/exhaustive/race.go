//go:build race

package exhaustive

// Race tells whether the race detector looks on. It makes pools drop items.
const Race = true

// Slower is how many times as long a program takes for the race detector. Shares of cases are as
// much smaller.
const Slower = 8
