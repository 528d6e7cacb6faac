//go:build !windows

package quantity

import "time"

// A Moment is a point in time of this process, with a resolution of at most a microsecond.
type Moment struct{ at time.Time }

// Start returns the current moment.
func Start() Moment { return Moment{time.Now()} }

// Elapsed returns the time since m.
func (m Moment) Elapsed() time.Duration { return time.Since(m.at) }
