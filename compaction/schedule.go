package compaction

// A Schedule knows which tables are being merged, and says what may be merged beside them. The zero
// value has no merge running. It may be used by one goroutine at a time.
type Schedule struct {
	Slots   int // merges of any size at a time; 0 means 1
	running []*Job
}

// nestedShare is how much smaller than every running merge, as a divisor, a merge is that may start
// although all slots are taken: it will have ended long before them, and what waits for it are
// searches that meet many small tables.
const nestedShare = 8

// nestedSlots is how many merges may run for that reason.
const nestedSlots = 2

// Running returns the merges that are running, in the order in which they were started.
func (s *Schedule) Running() []*Job { return s.running }

// Taken reports whether a running merge has the table with a number.
func (s *Schedule) Taken(number uint64) bool {
	for _, j := range s.running {
		for _, n := range j.Tables {
			if n == number {
				return true
			}
		}
	}
	return false
}

// Room reports whether a merge of so many bytes may start.
func (s *Schedule) Room(bytes int64) bool {
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

// Next returns the most urgent merge of tables that are not being merged for which there is room,
// nil if there is none. The caller calls Start before it begins.
func (s *Schedule) Next(tables []Table, o Options) *Job {
	var free []Table
	for _, t := range tables {
		if !s.Taken(t.Number) {
			free = append(free, t)
		}
	}
	for j := range candidates(free, o.withDefaults(), len(s.running)) {
		if j.Reason == ReasonDrop || s.Room(j.Bytes) { // dropping reads and writes nothing
			return j
		}
	}
	return nil
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
