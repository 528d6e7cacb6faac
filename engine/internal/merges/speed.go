package merges

import (
	"cmp"
	"time"
)

// SmallWork is the maximum number of bytes that are flushed while a database is opened, or merged
// while it is closed. That costs milliseconds, and a database that is opened for one write at a
// time has no other opportunity.
const SmallWork = 4 << 20

// largeMerge is the size of the largest merge that may start while TakeAll waits.
const largeMerge = 64 << 20

// speed tracks the speed of merges.
type speed struct {
	bytes, tables time.Duration // time per gibibyte, and per table saved; 0 before the first merge
}

// The assumed speed of merging before any has been measured: 100 MiB a second.
const (
	firstSpeed = (1 << 30) / (100 << 20) * time.Second
	firstTable = 50 * time.Millisecond
)

// measured records a merge of some bytes, its duration, and by how many tables it reduced the
// number.
func (s *speed) measured(bytes int64, fewer int, took time.Duration) {
	if bytes <= 0 {
		return
	}
	mean := func(old, now time.Duration) time.Duration {
		if old == 0 {
			return now
		}
		return old - old/4 + now/4
	}
	if bytes > SmallWork/4 { // otherwise most of the time is for syncing
		s.bytes = mean(s.bytes, time.Duration(float64(took)*(1<<30)/float64(bytes)))
	}
	if fewer > 0 {
		s.tables = mean(s.tables, took/time.Duration(fewer))
	}
}

// of estimates the duration of a merge of some bytes.
func (s *speed) of(bytes int64) time.Duration {
	per := cmp.Or(s.bytes, firstSpeed)
	return time.Duration(float64(per) * float64(bytes) / (1 << 30))
}

// within estimates how many bytes can be merged in a time.
func (s *speed) within(d time.Duration) int64 {
	return int64(float64(d) / float64(s.of(1<<30)) * (1 << 30))
}
