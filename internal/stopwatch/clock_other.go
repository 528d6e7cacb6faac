//go:build !windows

package stopwatch

import "time"

type moment = time.Time

func now() moment { return time.Now() }

func since(m moment) time.Duration { return time.Since(m) }
