package merges

import (
	"math"
	"testing"
	"time"

	"github.com/simdb/simdb/compaction"
)

// A fakeStore has tables of one size.
type fakeStore struct {
	tables  int
	bytes   int64 // of each
	crowded bool
	kept    []uint64
	left    int64
}

func (s *fakeStore) Writable() error                    { return nil }
func (s *fakeStore) Groups() ([]*compaction.Job, error) { return nil, nil }
func (s *fakeStore) Free() int64                        { return math.MaxInt64 }
func (s *fakeStore) Crowded() bool                      { return s.crowded }
func (s *fakeStore) WakeCompact()                       {}

func (s *fakeStore) Policy() (tables []compaction.Table, o compaction.Options, err error) {
	for i := range s.tables {
		tables = append(tables, compaction.Table{Number: uint64(i) + 1, Size: s.bytes, Docs: 40_000})
	}
	return tables, compaction.Options{MaxDocs: math.MaxUint32}, nil
}

func (s *fakeStore) Kept() ([]uint64, int64) { return s.kept, s.left }

// TestMergeWaitsForAge has a merge due that is expected to take a minute: it starts only when the
// database has been open for that long, or when there are many tables.
func TestMergeWaitsForAge(t *testing.T) {
	s := &fakeStore{tables: 4, bytes: SmallWork}
	g := New(s, 0, 0)
	g.speed.bytes = time.Duration(float64(time.Minute) * (1 << 30) / float64(4*s.bytes))
	next := func(age time.Duration) *Merge {
		t.Helper()
		g.opened = time.Now().Add(-age)
		m, err := g.Next(false)
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			g.End(m, nil)
		}
		return m
	}
	if m := next(50 * time.Second); m != nil {
		t.Errorf("%v starts after 50 seconds", m.Tables)
	}
	if m := next(70 * time.Second); m == nil || len(m.Tables) != 4 {
		t.Error("no merge starts after 70 seconds")
	}
	s.crowded = true
	if m := next(time.Second); m == nil {
		t.Error("no merge starts although there are many tables")
	}
}

// TestKeptComesFirst goes on with a merge that was interrupted before what the policy picks, once
// the database has been open for as long as what is left takes; not without one of its tables.
func TestKeptComesFirst(t *testing.T) {
	s := &fakeStore{tables: 4, bytes: 100 << 20, kept: []uint64{2, 3}, left: 10 << 20}
	g := New(s, 0, 0)
	g.speed.bytes = time.Duration(float64(time.Minute) * (1 << 30) / float64(s.left))
	for _, c := range []struct {
		age    time.Duration
		kept   []uint64
		reason compaction.Reason
	}{{50 * time.Second, []uint64{2, 3}, ""}, {70 * time.Second, []uint64{2, 3}, "resume"}, {time.Hour, []uint64{2, 5}, "tier"}} {
		s.kept, g.opened = c.kept, time.Now().Add(-c.age)
		m, err := g.Next(false)
		if err != nil {
			t.Fatal(err)
		}
		if m == nil {
			m = &Merge{Job: &compaction.Job{}}
		} else {
			g.End(m, nil)
		}
		if m.Reason != c.reason {
			t.Errorf("after %v, with %v kept: %q", c.age, c.kept, m.Reason)
		}
	}
	if m, err := g.TakeDue(t.Context()); err != nil || m.Reason != "tier" {
		t.Errorf("%v, %v", m, err)
	}
}

// TestRemaining estimates how long merges go on.
func TestRemaining(t *testing.T) {
	var s speed
	m := &Merge{Job: &compaction.Job{Bytes: 200 << 20}, started: time.Now().Add(-10 * time.Second)}
	near := func(got, want time.Duration) bool { return got > want*9/10 && got < want*11/10 }
	if d := m.remaining(&s); !near(d, 2*time.Second) {
		t.Errorf("before anything is known: %v", d)
	}
	s.measured(1<<30, 3, 60*time.Second)
	if d := m.remaining(&s); !near(d, 60*time.Second*200/1024) || s.tables != 20*time.Second {
		t.Errorf("by the speed of another: %v, %+v", d, s)
	}
	if n := s.within(time.Minute); n < 1<<30*9/10 || n > 1<<30*11/10 {
		t.Errorf("%d bytes in a minute", n)
	}
	m.done.Store(40)
	m.total.Store(100)
	m.waited.Store(int64(6 * time.Second))
	if d := m.remaining(&s); !near(d, 6*time.Second) {
		t.Errorf("by what it has done in the 4 seconds that it did not wait: %v", d)
	}
}
