package merges

import (
	"fmt"
	"math"
	"testing"

	"github.com/simdb/simdb/compaction"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// sized returns tables of 100 documents each, numbered from 1.
func sized(sizes ...int64) (ts []compaction.Table) {
	for i, s := range sizes {
		ts = append(ts, compaction.Table{Number: uint64(i + 1), Size: s, Docs: 100, MaxTime: 1000})
	}
	return ts
}

// shown returns "reason [tables]", "" for nil.
func shown(j *compaction.Job) string {
	if j == nil {
		return ""
	}
	return fmt.Sprint(j.Reason, " ", j.Tables)
}

// TestNext checks which merge starts beside running ones, and which is due.
func TestNext(t *testing.T) {
	tens := sized(100*mib, 100*mib, 10*mib, 10*mib, 10*mib, 10*mib)
	dead := append(sized(100*mib, 100*mib, 10*mib, 10*mib, 10*mib, 10*mib), compaction.Table{Number: 7, Size: 17 * mib, Docs: 100, Dead: 40})
	gone := append(sized(9*mib), compaction.Table{Number: 2, Size: 9 * mib, Docs: 100, Dead: 100})
	less := append(sized(10*mib, 10*mib, 10*mib, 10*mib), compaction.Table{Number: 5, Size: 17 * mib, Docs: 100, Dead: 40})
	three := sized(9*gib, 9*gib, mib, mib, mib)
	one, each := [][]uint64{{1, 2}}, [][]uint64{{1}, {2}, {3}}
	for _, c := range []struct {
		what    string
		tables  []compaction.Table
		running [][]uint64 // the tables of each running merge
		slots   int
		most    int64 // 0 for no limit
		o       compaction.Options
		next    string
		due     string // if it is not next
	}{
		{what: "small tables start beside large ones", tables: sized(gib, gib, mib, mib, mib, mib), running: one, next: "tier [3 4 5 6]"},
		{what: "tables that are not much smaller wait, but are due", tables: tens, running: one, due: "tier [3 4 5 6]"},
		{what: "they start in another slot", tables: tens, running: one, slots: 2, next: "tier [3 4 5 6]"},
		{what: "if the most urgent merge may not start, the next may", tables: dead, running: one, next: "dead [7]", due: "tier [3 4 5 6 7]"},
		{what: "tables that are being merged do not fill a tier", tables: sized(mib, mib, mib, mib, mib), running: one, slots: 4},
		{what: "at most two merges start without a slot", tables: sized(9*gib, gib, 100*mib, mib, mib, mib, mib), running: each, due: "tier [4 5 6 7]"},
		{what: "the second starts", tables: sized(9*gib, gib, mib, mib, mib, mib), running: each[:2], next: "tier [3 4 5 6]"},
		{what: "dropping reads nothing", tables: gone, running: each[:1], next: "drop [2]"},
		{what: "a running merge leaves a table: four are allowed", tables: three, running: one, o: compaction.Options{MaxTables: 4}},
		{what: "three are allowed", tables: three, running: one, o: compaction.Options{MaxTables: 3}, next: "count [3 4 5]"},
		{what: "a merge of more bytes than most waits", tables: less, slots: 2, most: 20 * mib, next: "dead [5]", due: "tier [1 2 3 4 5]"},
	} {
		s := Schedule{Slots: c.slots}
		for _, numbers := range c.running {
			j := &compaction.Job{Tables: numbers}
			for _, n := range numbers {
				j.Bytes += c.tables[n-1].Size
			}
			s.Start(j)
		}
		if c.most == 0 {
			c.most = math.MaxInt64
		}
		if c.due == "" {
			c.due = c.next
		}
		if next, due := shown(s.Next(c.tables, c.most, c.o)), shown(s.Due(c.tables, c.o)); next != c.next || due != c.due {
			t.Errorf("%s: next %q, due %q, want %q and %q", c.what, next, due, c.next, c.due)
		}
	}
}

// TestTake excludes tables from merges.
func TestTake(t *testing.T) {
	var s Schedule
	tables := sized(mib, mib, mib, mib)
	if !s.Free() || !s.Take(2) || s.Take(2) || s.Free() {
		t.Fatal("table 2 is not taken once")
	}
	if j := s.Next(tables, math.MaxInt64, compaction.Options{}); j != nil {
		t.Fatalf("%+v is merged although 2 is taken", j)
	}
	s.GiveBack(2)
	j := s.Next(tables, math.MaxInt64, compaction.Options{})
	if j == nil || len(j.Tables) != 4 {
		t.Fatalf("%+v", j)
	}
	s.Start(j)
	if s.Take(3) || s.Free() || len(s.Running()) != 1 {
		t.Fatal("3 is taken although it is being merged")
	}
	s.End(j)
	if !s.Take(3) || len(s.Running()) != 0 {
		t.Fatal("3 can't be taken after the merge")
	}
}

// TestOneForSpace has two tables with many dead documents, and slots for both: the second one waits,
// since rewriting a table needs space before it frees any.
func TestOneForSpace(t *testing.T) {
	tables := sized(gib, gib)
	for i := range tables {
		tables[i].Dead = 50
	}
	s := Schedule{Slots: 4}
	first := s.Next(tables, math.MaxInt64, compaction.Options{})
	if shown(first) != "dead [1]" {
		t.Fatalf("first %q", shown(first))
	}
	s.Start(first)
	if next, due := s.Next(tables, math.MaxInt64, compaction.Options{}), s.Due(tables, compaction.Options{}); next != nil || due != nil {
		t.Errorf("next %q, due %q", shown(next), shown(due))
	}
	s.End(first)
	if next := s.Next(tables[1:], math.MaxInt64, compaction.Options{}); shown(next) != "dead [2]" {
		t.Errorf("then %q", shown(next))
	}
}
