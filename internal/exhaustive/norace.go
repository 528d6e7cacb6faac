//go:build !race

package exhaustive

import "math/bits"

// Race tells whether the race detector looks on.
const Race = false

// Slower is how many times as long a program takes for the race detector, or on 32 bits, where no
// kernel is in assembly.
const Slower = 128/bits.UintSize - 1
