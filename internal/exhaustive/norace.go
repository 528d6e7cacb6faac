//go:build !race

package exhaustive

import "math/bits"

// Race reports whether the race detector is enabled.
const Race = false

// Slower is the slowdown of a program under the race detector, or on 32 bits, where no kernel is
// in assembly.
const Slower = 128/bits.UintSize - 1
