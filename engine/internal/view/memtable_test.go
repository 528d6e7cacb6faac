package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/sstable"
)

// TestMemtableFind compares the memtable with a list of versions, as of every sequence number,
// while documents are added, replaced and deleted.
func TestMemtableFind(t *testing.T) {
	const writes = 5000
	type version struct{ born, dead uint64 }
	m := NewMemtable(sstable.Params{})
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
			m.Add(&sstable.Document{ID: id, Seq: seq})
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
