package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/engine/internal/view"
)

// TestMergeWaitsForAge has a merge due that is expected to take a minute: it starts only when the
// database has been open for that long, or when there are many tables.
func TestMergeWaitsForAge(t *testing.T) {
	db, err := Create(t.TempDir()+"/x.simdb", Options{NoText: true, NoSketch: true, NoSync: true, NoAutoCompaction: true, MemtableBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	fill := func(docs int) {
		var ops []Operation
		for i := range docs {
			ops = append(ops, Put(view.Doc{ID: fmt.Sprint(db.NextSeq(), "-", i), Fingerprint: new(uint64(i) * 0x9e3779b97f4a7c15)}))
		}
		if _, err := db.Write(ctx, ops); err != nil {
			t.Fatal(err)
		}
		if err := db.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		fill(40_000)
	}
	g := &db.merges
	next := func(age time.Duration) *merge {
		t.Helper()
		tables, _, err := db.policy()
		if err != nil {
			t.Fatal(err)
		}
		bytes := int64(0)
		for _, table := range tables {
			bytes += table.Size
		}
		if bytes <= smallWork {
			t.Fatalf("%d bytes are no test", bytes)
		}
		g.mu.Lock()
		g.speed.bytes = time.Duration(float64(time.Minute) * (1 << 30) / float64(bytes))
		g.opened = time.Now().Add(-age)
		g.mu.Unlock()
		m, err := db.nextMerge(false)
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			g.end(m, nil)
		}
		return m
	}
	if m := next(50 * time.Second); m != nil {
		t.Errorf("%v starts after 50 seconds", m.Tables)
	}
	if m := next(70 * time.Second); m == nil || len(m.Tables) != 4 {
		t.Error("no merge starts after 70 seconds")
	}
	for range 12 {
		fill(1)
	}
	if m := next(time.Second); m == nil {
		t.Error("no merge starts although there are 16 tables")
	}
}

// TestRemaining estimates how long merges go on.
func TestRemaining(t *testing.T) {
	var s speed
	m := &merge{Job: &compaction.Job{Bytes: 200 << 20}, started: time.Now().Add(-10 * time.Second)}
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
