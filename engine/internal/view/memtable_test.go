package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/table"
)

// TestMemtableFind compares the memtable with a list of versions, at every sequence number, while
// documents are added, replaced and deleted.
func TestMemtableFind(t *testing.T) {
	const writes = 5000
	type version struct{ born, dead uint64 }
	m := NewMemtable(table.Params{})
	r := rand.New(rand.NewPCG(1, 1))
	history := make([]atomic.Pointer[[]version], 1500) // by ID
	for i := range history {
		history[i].Store(new([]version))
	}
	var published atomic.Uint64
	check := func(r *rand.Rand, i int, seq uint64) error {
		var want uint64
		for _, v := range *history[i].Load() {
			if v.born <= seq && (v.dead == 0 || v.dead > seq) {
				want = v.born
			}
		}
		var got uint64
		if d := m.Find(fmt.Append(nil, "id", i), seq); d != nil {
			got = d.Seq
		}
		if got != want {
			return fmt.Errorf("id%d at %d: version %d, want %d", i, seq, got, want)
		}
		return nil
	}
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(g)))
			for published.Load() < writes {
				if err := check(r, r.IntN(len(history)), published.Load()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for seq := uint64(1); seq <= writes; seq++ {
		i := r.IntN(len(history))
		id := fmt.Append(nil, "id", i)
		versions := slices.Clone(*history[i].Load())
		if d := m.Find(id, Latest); d != nil {
			Place{Mem: d}.Kill(seq)
			versions[len(versions)-1].dead = seq
		}
		if r.IntN(4) > 0 {
			m.Add(&table.Document{ID: id, Seq: seq})
			versions = append(versions, version{born: seq})
		}
		history[i].Store(&versions)
		published.Store(seq)
	}
	wg.Wait()
	for i := range history {
		for range 20 {
			if err := check(r, i, r.Uint64N(writes+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d := m.Find([]byte("nobody"), Latest); d != nil {
		t.Errorf("found %s", d.ID)
	}
	for i, d := range m.Cur.Docs {
		if i > 0 && d.Seq <= m.Cur.Docs[i-1].Seq {
			t.Fatalf("document %d of write %d", i, d.Seq)
		}
	}
}

// TestMemtableHotKey puts and deletes one document repeatedly. It must be found at every sequence
// number, in a time that does not grow with the number of its versions, both for the newest and for
// the oldest.
func TestMemtableHotKey(t *testing.T) {
	id := []byte("hot")
	find := func(versions int) (slowest time.Duration) {
		m := NewMemtable(table.Params{})
		for i := range uint64(versions) {
			m.Add(&table.Document{ID: id, Seq: 2*i + 1})
			Place{Mem: m.Find(id, Latest)}.Kill(2*i + 2)
		}
		for seq := range uint64(2*versions + 2) {
			if d := m.Find(id, seq); (d != nil) != (seq%2 == 1 && seq < uint64(2*versions)) || d != nil && d.Seq != seq {
				t.Fatalf("of %d versions, at %d: %+v", versions, seq, d)
			}
		}
		for _, seq := range []uint64{Latest, 1, 2} {
			fastest := time.Hour
			for range 5 {
				start := time.Now()
				for range 1000 {
					m.Find(id, seq)
				}
				fastest = min(fastest, time.Since(start))
			}
			slowest = max(slowest, fastest)
		}
		return slowest
	}
	few, many := find(500), find(32_000)
	if many > 8*few+time.Millisecond {
		t.Errorf("1,000 look-ups take %v among 500 versions, and %v among 32,000", few, many)
	}
}
