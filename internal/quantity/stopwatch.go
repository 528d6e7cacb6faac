//go:build !windows

package quantity

import "time"

// A Moment is a moment of this process, to a microsecond or less.
type Moment struct{ at time.Time }

// Start returns the present moment.
func Start() Moment { return Moment{time.Now()} }

// Elapsed returns how long ago m was.
func (m Moment) Elapsed() time.Duration { return time.Since(m.at) }
