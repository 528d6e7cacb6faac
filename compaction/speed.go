package compaction

import (
	"cmp"
	"time"
)

// SmallWork is how many bytes are flushed while a database is opened, or merged while it is
// closed: that takes milliseconds, and a database that is opened for one write at a time has no
// other time for it.
const SmallWork = 4 << 20

// largeMerge is how many bytes make a merge that Compact keeps from starting while it waits.
const largeMerge = 64 << 20

// speed remembers how fast merges were.
type speed struct {
	bytes, tables time.Duration // for a gibibyte, and for a table less; 0 before the first merge
}

// The speed of merging before any has been measured: 100 MiB a second.
const (
	firstSpeed = (1 << 30) / (100 << 20) * time.Second
	firstTable = 50 * time.Millisecond
)

// measured notes that a merge of some bytes took so long, and made the tables fewer.
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
	if bytes > SmallWork/4 { // otherwise it is syncing that takes the time
		s.bytes = mean(s.bytes, time.Duration(float64(took)*(1<<30)/float64(bytes)))
	}
	if fewer > 0 {
		s.tables = mean(s.tables, took/time.Duration(fewer))
	}
}

// of estimates how long a merge of some bytes takes.
func (s *speed) of(bytes int64) time.Duration {
	per := cmp.Or(s.bytes, firstSpeed)
	return time.Duration(float64(per) * float64(bytes) / (1 << 30))
}

// within estimates how many bytes can be merged in a time.
func (s *speed) within(d time.Duration) int64 {
	return int64(float64(d) / float64(s.of(1<<30)) * (1 << 30))
}
