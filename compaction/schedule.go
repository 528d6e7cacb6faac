package compaction

import "iter"

// A Schedule records which tables are being merged, and says what may be merged meanwhile. The
// zero value has no running merges. It may be used by one goroutine at a time.
type Schedule struct {
	Slots   int // merges of any size at a time; 0 means 1
	running []*Job
	taken   map[uint64]bool // by Take
}

// nestedShare is how much smaller than every running merge, as a divisor, a merge is that may start
// although all slots are taken: it will have ended long before them, and what waits for it are
// searches that meet many small tables.
const nestedShare = 8

// nestedSlots is how many merges may run for that reason.
const nestedSlots = 2

// Running returns the merges that are running, in the order in which they were started.
func (s *Schedule) Running() []*Job { return s.running }

// Free reports whether no merge is running and no table is taken.
func (s *Schedule) Free() bool { return len(s.running)+len(s.taken) == 0 }

// Take keeps a table out of merges until GiveBack; it returns false if it is taken already.
func (s *Schedule) Take(number uint64) bool {
	if s.Taken(number) {
		return false
	}
	if s.taken == nil {
		s.taken = map[uint64]bool{}
	}
	s.taken[number] = true
	return true
}

// GiveBack ends what Take began.
func (s *Schedule) GiveBack(number uint64) { delete(s.taken, number) }

// Taken reports whether a running merge, or a caller of Take, has the table with a number.
func (s *Schedule) Taken(number uint64) bool {
	if s.taken[number] {
		return true
	}
	for _, j := range s.running {
		for _, n := range j.Tables {
			if n == number {
				return true
			}
		}
	}
	return false
}

// MayStart reports whether a merge of that many bytes may start.
func (s *Schedule) MayStart(bytes int64) bool {
	slots := max(s.Slots, 1)
	if len(s.running) < slots {
		return true
	}
	for _, j := range s.running {
		if bytes > j.Bytes/nestedShare {
			return false
		}
	}
	return len(s.running) < slots+nestedSlots
}

// Next returns the most urgent merge, of at most most bytes, of tables that are not being merged
// for which there is room; nil if there is none. The caller calls Start before it begins.
func (s *Schedule) Next(tables []Table, most int64, o Options) *Job {
	for j := range s.candidates(tables, o) {
		if j.Reason == ReasonDrop || j.Bytes <= most && s.MayStart(j.Bytes) { // dropping reads and writes nothing
			return j
		}
	}
	return nil
}

// Due is Next without the check for room.
func (s *Schedule) Due(tables []Table, o Options) *Job {
	for j := range s.candidates(tables, o) {
		return j
	}
	return nil
}

// candidates yields what is to be done of tables that are not being merged.
func (s *Schedule) candidates(tables []Table, o Options) iter.Seq[*Job] {
	var free []Table
	for _, t := range tables {
		if !s.Taken(t.Number) {
			free = append(free, t)
		}
	}
	return candidates(free, o.withDefaults(), len(s.running))
}

// Start notes that a merge is running. None of its tables may be taken.
func (s *Schedule) Start(j *Job) { s.running = append(s.running, j) }

// End notes that a merge that was started has ended.
func (s *Schedule) End(j *Job) {
	var left []*Job // Running may have been called
	for _, r := range s.running {
		if r != j {
			left = append(left, r)
		}
	}
	s.running = left
}
