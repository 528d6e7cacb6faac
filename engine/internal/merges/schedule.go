package merges

import (
	"iter"
	"slices"

	"github.com/simdb/simdb/compaction"
)

// A Schedule records which tables are being merged, and decides which merges may start meanwhile.
// The zero value has no running merges. Only one goroutine at a time may use it.
type Schedule struct {
	Slots   int // merges of any size at a time; 0 means 1
	running []*compaction.Job
	taken   map[uint64]bool // tables reserved by Take
}

// nestedShare: a merge may start although all slots are in use if every running merge is at least
// nestedShare times as large. It will end long before them, and until then searches have to read
// many small tables.
const nestedShare = 8

// nestedSlots is the maximum number of such additional merges.
const nestedSlots = 2

// Running returns the running merges, oldest first.
func (s *Schedule) Running() []*compaction.Job { return s.running }

// Free reports whether no merge is running and no table is reserved by Take.
func (s *Schedule) Free() bool { return len(s.running)+len(s.taken) == 0 }

// Take excludes a table from merges until GiveBack. It returns false if a merge or an earlier Take
// has the table.
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

// GiveBack ends a Take.
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

// MayStart reports whether a merge of the given size may start.
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

// Next returns the most urgent merge that may start, with at most most bytes, of tables that are
// not being merged; nil if there is none. The caller must call Start before the merge begins.
func (s *Schedule) Next(tables []compaction.Table, most int64, o compaction.Options) *compaction.Job {
	for j := range s.candidates(tables, o) {
		if j.Reason == compaction.ReasonDrop || j.Bytes <= most && s.MayStart(j.Bytes) { // dropping reads and writes nothing
			return j
		}
	}
	return nil
}

// Due is Next for merges of any size, whether or not they may start now.
func (s *Schedule) Due(tables []compaction.Table, o compaction.Options) *compaction.Job {
	for j := range s.candidates(tables, o) {
		return j
	}
	return nil
}

// candidates yields the jobs for the tables that are not being merged.
func (s *Schedule) candidates(tables []compaction.Table, o compaction.Options) iter.Seq[*compaction.Job] {
	var free []compaction.Table
	for _, t := range tables {
		if !s.Taken(t.Number) {
			free = append(free, t)
		}
	}
	return func(yield func(*compaction.Job) bool) {
		for j := range compaction.Jobs(free, o, len(s.running)) {
			if j.Reason == compaction.ReasonDead && slices.ContainsFunc(s.running, func(r *compaction.Job) bool { return r.Reason == j.Reason }) {
				continue // each needs space before it frees any
			}
			if !yield(j) {
				return
			}
		}
	}
}

// Start records that a merge is running. None of its tables may be Taken.
func (s *Schedule) Start(j *compaction.Job) { s.running = append(s.running, j) }

// End records that a merge has ended.
func (s *Schedule) End(j *compaction.Job) {
	var left []*compaction.Job // a new slice, since a caller of Running may have the old one
	for _, r := range s.running {
		if r != j {
			left = append(left, r)
		}
	}
	s.running = left
}
