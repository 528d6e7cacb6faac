package compaction

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const mib = 1 << 20

func picked(tables []Table, o Options) []uint64 {
	if j := Pick(tables, o); j != nil {
		return j.Tables
	}
	return nil
}

func sized(sizes ...int64) (ts []Table) {
	for i, s := range sizes {
		ts = append(ts, Table{Number: uint64(i + 1), Size: s, Docs: 100, MaxTime: 1000})
	}
	return ts
}

func TestPick(t *testing.T) {
	dead := sized(mib, 900*mib)
	dead[1].Dead = 40
	empty := sized(mib, mib)
	empty[0].Dead = 100
	old := sized(mib, mib, mib)
	old[1].MaxTime = 5
	for _, c := range []struct {
		name   string
		tables []Table
		o      Options
		want   []uint64
	}{
		{"nothing", nil, Options{}, nil},
		{"three small ones", sized(mib, mib, mib), Options{}, nil},
		{"four small ones", sized(mib, 2*mib, mib, 3*mib), Options{}, []uint64{1, 2, 3, 4}},
		{"four small ones beside a large one", sized(mib, 900*mib, mib, mib, mib), Options{}, []uint64{1, 3, 4, 5}},
		{"a tier of large ones", sized(100*mib, mib, 110*mib, 120*mib, 300*mib), Options{}, []uint64{1, 3, 4, 5}},
		{"each of another tier", sized(mib, 20*mib, 100*mib, 500*mib, 3000*mib), Options{}, nil},
		{"much is dead", dead, Options{}, []uint64{2}},
		{"all is dead", empty, Options{}, []uint64{1}},
		{"expired", old, Options{Expired: 10}, []uint64{2}},
		{"a fan-out of two", sized(mib, mib), Options{Fanout: 2}, []uint64{1, 2}},
	} {
		if got := picked(c.tables, c.o); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestPickEnds merges until Pick returns nil: few tables must be left, and little may be written.
func TestPickEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var tables []Table
	next, added, written := uint64(0), int64(0), int64(0)
	for range 2000 {
		next++
		size := mib + r.Int64N(mib)
		tables = append(tables, Table{Number: next, Size: size, Docs: 100})
		added += size
		for {
			pick := picked(tables, Options{})
			if pick == nil {
				break
			}
			var merged Table
			tables = slices.DeleteFunc(tables, func(x Table) bool {
				if slices.Contains(pick, x.Number) {
					merged.Size += x.Size
					merged.Docs += x.Docs
					return true
				}
				return false
			})
			next++
			merged.Number = next
			written += merged.Size
			tables = append(tables, merged)
		}
	}
	if len(tables) > 24 {
		t.Errorf("%d tables are left", len(tables))
	}
	if amplification := float64(written) / float64(added); amplification > 8 {
		t.Errorf("every byte was written %.1f times more", amplification)
	}
	t.Logf("%d tables left, every byte written %.1f times more", len(tables), float64(written)/float64(added))
}

// merged returns the tables after a merge of some, and the resulting table.
func merged(tables []Table, pick []uint64, number uint64) ([]Table, Table) {
	m := Table{Number: number}
	tables = slices.DeleteFunc(tables, func(x Table) bool {
		if !slices.Contains(pick, x.Number) {
			return false
		}
		m.Docs += x.Docs - x.Dead
		m.Size += x.Size * (x.Docs - x.Dead) / max(x.Docs, 1)
		return true
	})
	if m.Docs == 0 {
		return tables, m
	}
	return append(tables, m), m
}

// TestPickLimit adds tables with dead documents, up to 100 times the limit of documents, and merges
// the tables that Pick returns. No result may exceed the limit, merging must end, and few tables
// must be left.
func TestPickLimit(t *testing.T) {
	const limit = 10_000
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		var tables []Table
		next, docs, written := uint64(0), int64(0), int64(0)
		most := []int64{300, 2000, limit}[r.IntN(3)]
		for docs < 100*limit {
			next++
			add := Table{Number: next, Docs: 1 + r.Int64N(most)}
			add.Size = add.Docs * (100 + r.Int64N(100)) * 100
			docs += add.Docs
			tables = append(tables, add)
			if i := r.IntN(len(tables)); r.IntN(4) == 0 { // more documents of a table die
				dead := r.Int64N(min(tables[i].Docs-tables[i].Dead, add.Docs) + 1)
				tables[i].Dead += dead
				docs -= dead
			}
			for merges := 0; ; merges++ {
				pick := picked(tables, Options{MaxDocs: limit, Smallest: 1 << 20})
				if pick == nil {
					break
				}
				next++
				var m Table
				if tables, m = merged(tables, pick, next); m.Docs > limit {
					t.Fatalf("seed %d: a merge of %d tables has %d documents", seed, len(pick), m.Docs)
				}
				written += m.Docs
				if merges > 100 {
					t.Fatalf("seed %d: merging does not end", seed)
				}
			}
		}
		least := (docs + limit - 1) / limit
		if int64(len(tables)) > 2*least+12 {
			t.Errorf("seed %d: %d tables are left of %d documents", seed, len(tables), docs)
		}
		if amplification := float64(written) / float64(docs); amplification > 6 {
			t.Errorf("seed %d: every document was written %.1f times more", seed, amplification)
		}
	}
}

// TestPickAtLimit picks from tables that just fit into one, or just do not.
func TestPickAtLimit(t *testing.T) {
	of := func(docs ...int64) (ts []Table) {
		for i, n := range docs {
			ts = append(ts, Table{Number: uint64(i + 1), Size: mib, Docs: n + 7, Dead: 7})
		}
		return ts
	}
	for _, c := range []struct {
		docs []int64
		want []uint64
	}{
		{[]int64{250, 250, 250, 250}, []uint64{1, 2, 3, 4}},
		{[]int64{250, 250, 250, 251}, []uint64{1, 2, 3}},
		{[]int64{500, 500, 500, 500}, []uint64{1, 2}},
		{[]int64{501, 500, 500, 500}, nil}, // a full table, and a tier of three
		{[]int64{501, 501, 501, 501, 501}, nil},
		{[]int64{501, 100, 100, 501, 100, 100}, []uint64{2, 3, 5, 6}},
	} {
		if got := picked(of(c.docs...), Options{MaxDocs: 1000}); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", c.docs, got, c.want)
		}
	}
	over := []Table{{Number: 1, Size: mib, Docs: 2000, Dead: 999}} // ingested, half of it dead
	if got := picked(over, Options{MaxDocs: 1000}); got != nil {
		t.Errorf("1001 documents: %v", got)
	}
	over[0].Dead++
	if got := picked(over, Options{MaxDocs: 1000}); !slices.Equal(got, []uint64{1}) {
		t.Errorf("1000 documents: %v", got)
	}
}

func TestGroup(t *testing.T) {
	const limit = 1000
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		var tables []Table
		docs, over := int64(0), 0
		living := map[uint64]int64{}
		for i := range r.IntN(60) {
			n := r.Int64N([]int64{50, 600, 1050}[r.IntN(3)])
			tables = append(tables, Table{Number: uint64(i + 1), Size: r.Int64N(100), Docs: n + 5, Dead: 5})
			living[uint64(i+1)] = n
			if docs += n; n > limit {
				over++
			}
		}
		groups := Group(tables, Options{MaxDocs: limit})
		var sums []int64
		seen := 0
		for _, g := range groups {
			sum := int64(0)
			for _, number := range g {
				sum += living[number]
			}
			if sum > limit && len(g) > 1 || !slices.IsSorted(g) {
				t.Errorf("seed %d: a group %d of %d documents", seed, g, sum)
			}
			sums, seen = append(sums, sum), seen+len(g)
		}
		slices.Sort(sums)
		if seen != len(tables) || len(sums) > 1 && sums[0]+sums[1] <= limit {
			t.Errorf("seed %d: %d tables of %d, groups of %d documents", seed, seen, len(tables), sums)
		}
		if least := max(1, int((docs+limit-1)/limit)); len(groups) > 2*least+over {
			t.Errorf("seed %d: %d groups for %d documents", seed, len(groups), docs)
		}
	}
	if got := Group(sized(1, 2, 3), Options{}); len(got) != 1 || !slices.Equal(got[0], []uint64{1, 2, 3}) {
		t.Errorf("without a limit: %d", got)
	}
}

// TestPickAtExpiry picks from tables whose newest document expires just now, or expired a
// microsecond ago.
func TestPickAtExpiry(t *testing.T) {
	for maxTime, gone := range map[int64]bool{999: true, 1000: false, 1001: false} {
		got := picked([]Table{{Number: 1, Size: 1, Docs: 1, MaxTime: maxTime}}, Options{Expired: 1000})
		if (len(got) == 1) != gone {
			t.Errorf("newest document of %d, expired before 1000: %v", maxTime, got)
		}
	}
}
