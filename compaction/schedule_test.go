package compaction

import (
	"math"
	"testing"
)

// TestTake excludes tables from merges.
func TestTake(t *testing.T) {
	var s Schedule
	tables := sized(mib, mib, mib, mib)
	if !s.Free() || !s.Take(2) || s.Take(2) || s.Free() {
		t.Fatal("table 2 is not taken once")
	}
	if j := s.Next(tables, math.MaxInt64, Options{}); j != nil {
		t.Fatalf("%+v is merged although 2 is taken", j)
	}
	s.GiveBack(2)
	j := s.Next(tables, math.MaxInt64, Options{})
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
