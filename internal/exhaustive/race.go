//go:build race

package exhaustive

// Race reports whether the race detector is enabled. It makes pools drop items.
const Race = true

// Slower is the slowdown of a program under the race detector. Shares of cases are smaller by
// this factor.
const Slower = 8
