package merges

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/simdb/simdb/compaction"
)

// A fakeStore has tables of equal size.
type fakeStore struct {
	tables  int
	bytes   int64 // of each table
	crowded bool
	read    func() // called after the tables are read; may be nil
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
	if s.read != nil {
		s.read()
	}
	return tables, compaction.Options{MaxDocs: math.MaxUint32, MaxBytes: 4 << 30}, nil
}

// TestMergeWaitsForAge has a due merge with an expected duration of a minute: it must start only
// when the database has been open for that long, or when there are many tables.
func TestMergeWaitsForAge(t *testing.T) {
	s := &fakeStore{tables: 4, bytes: SmallWork}
	g := NewScheduler(s, 0, 0)
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

// TestWantedMeanwhile has a load publish its last table, and request the merge of all its tables,
// after the scheduler has read the list of tables. The next call must merge all four.
func TestWantedMeanwhile(t *testing.T) {
	for name, take := range map[string]func(*Scheduler) (*Merge, error){
		"next": func(g *Scheduler) (*Merge, error) { return g.Next(false) },
		"due":  func(g *Scheduler) (*Merge, error) { return g.TakeDue(t.Context()) },
	} {
		s := &fakeStore{tables: 3, bytes: 1}
		g := NewScheduler(s, 0, 0)
		all := []uint64{1, 2, 3, 4}
		for _, n := range all {
			g.Reserve(n)
		}
		s.read = func() {
			s.tables, s.read = 4, nil
			g.Want(all)
		}
		if m, err := take(g); m != nil || err != nil {
			t.Errorf("%s: a merge of %+v, %v", name, m, err)
			continue
		}
		if m, err := take(g); err != nil || m == nil || len(m.Tables) != 4 {
			t.Errorf("%s: not all tables are merged: %+v, %v", name, m, err)
		}
	}
}

// TestFinish closes while merges run in the background: one that is expected to last longer than
// Close waits must be cancelled at once, and one that does last longer after that time.
func TestFinish(t *testing.T) {
	for _, c := range []struct {
		limit, lasts time.Duration // lasts is the expected duration
		after        time.Duration // when it is looked at
		cancelled    bool
	}{
		{time.Second, 2 * time.Second, 0, true}, {2 * time.Second, time.Second, 0, false}, {2 * time.Second, time.Second, time.Second, false},
		{2 * time.Second, time.Second, 3 * time.Second, true}, {-1, time.Millisecond, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := NewScheduler(&fakeStore{}, 0, 0)
			g.speed.bytes = c.lasts
			m := g.start(&compaction.Job{Bytes: 1 << 30}, true)
			g.Close()
			go g.Finish(c.limit)
			synctest.Wait() // until Finish waits for the merge to end
			time.Sleep(c.after)
			synctest.Wait()
			if got := m.Ctx.Err() != nil; got != c.cancelled {
				t.Errorf("a merge of %v, after %v of %v: cancelled %v", c.lasts, c.after, c.limit, got)
			}
			g.End(m, nil) // so that Finish returns, as the bubble requires
		})
	}
}

// TestShortLived has thirteen tables, and processes that are open for a second: the first four
// tables need two seconds, so that a merge of two must start first.
func TestShortLived(t *testing.T) {
	s := &fakeStore{tables: 13, bytes: 64 << 20, crowded: true}
	g := NewScheduler(s, 0, 0)
	g.speed.bytes = time.Duration(float64(500*time.Millisecond) * (1 << 30) / float64(s.bytes))
	g.opened = time.Now().Add(-1100 * time.Millisecond)
	if m, err := g.Next(false); err != nil || m == nil || len(m.Tables) != 2 {
		t.Errorf("the merge that is due is %+v, %v", m, err)
	}
}

// TestRemaining estimates the remaining time of merges.
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
