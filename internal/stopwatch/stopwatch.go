// Package stopwatch measures how long something takes, to a microsecond or less on every system.
// The clock of package time advances in steps of up to 16 ms on Windows, so that a search would
// take no time there, or 16 ms.
package stopwatch

import "time"

// A Mark is a moment of this process.
type Mark struct{ at moment }

// Start returns the present moment.
func Start() Mark { return Mark{now()} }

// Elapsed returns how long ago m was.
func (m Mark) Elapsed() time.Duration { return since(m.at) }
