package memindex

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/features"
)

// kinSet returns a variant of one of two base sets, or an unrelated set.
func kinSet(r *rand.Rand, which uint64) (set features.Hashes) {
	for i := range uint64(60) {
		if set = append(set, which<<32|i<<16); which > 1 || r.IntN(8) == 0 {
			set[i] = r.Uint64()
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// TestFamilies learns documents, some twice, and checks that exactly the matching members
// of families are not excluded, and that an exclusion does not change when more is learned.
func TestFamilies(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const room = 64 << 20
	b := NewBudget(room)
	var f Families
	var n Notes
	var sets []features.Hashes
	note := func(doc int) {
		if n.Note(uint32(doc), sets[doc]) {
			f.Learn(b, &n)
		}
	}
	const threshold = 0.8
	excluded, matches := 0, 0
	for len(sets) < 4000 {
		doc := len(sets)
		which := uint64(doc / 100 % 2)
		if r.IntN(10) == 0 {
			which = 2
		}
		sets = append(sets, kinSet(r, which))
		note(doc)
		note(r.IntN(doc/50+1) + doc/50*49)
		if doc%50 != 49 {
			continue
		}
		f.Learn(b, &n)
		mine := kinSet(r, which)
		x := f.Exclude(mine, threshold)
		var had []uint32
		for other := range sets {
			similar := new(features.SetHasher).Jaccard(mine, sets[other]) >= threshold
			if has := x.Has(uint32(other)); has && similar {
				t.Fatalf("document %d of %d matches, and is excluded", other, doc)
			} else if has {
				had = append(had, uint32(other))
			}
		}
		if len(had)+x.Matches() != x.N {
			t.Fatalf("%d excluded, %d match, of %d", len(had), x.Matches(), x.N)
		}
		excluded, matches = excluded+len(had), matches+x.Matches()
		for range 50 {
			sets = append(sets, kinSet(r, which))
			note(len(sets) - 1)
		}
		f.Learn(b, &n)
		for other := range sets {
			if _, before := slices.BinarySearch(had, uint32(other)); x.Has(uint32(other)) != before {
				t.Fatalf("document %d of %d: excluded %v, by then %v", other, doc, x.Has(uint32(other)), before)
			}
		}
	}
	if len(f.all) != 2 || excluded < 10000 || matches < 100 {
		t.Errorf("%d families; %d excluded, %d match", len(f.all), excluded, matches)
	}
	if left := b.left.Load(); left > room-1<<20 || left != room-f.bytes {
		t.Errorf("%d of %d bytes left, %d taken", left, room, f.bytes)
	}
	f.GiveBack()
	note(0)
	if f.Learn(b, &n); b.left.Load() != room || !f.Empty() {
		t.Errorf("%d of %d bytes given back", b.left.Load(), room)
	}
}

// TestFamiliesBudget checks that learning stays within the budget, and learns nothing without one.
func TestFamiliesBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const room = 1 << 20
	for _, b := range []*Budget{nil, NewBudget(room)} {
		var f Families
		var n Notes
		for doc := range uint32(5000) {
			if n.Note(doc, kinSet(r, 0)) {
				f.Learn(b, &n)
			}
		}
		if b == nil {
			if !f.Empty() {
				t.Error("learned without a budget")
			}
			continue
		}
		if x := f.Exclude(kinSet(r, 0), 1); x.N > 4000 || b.left.Load() < 0 || b.left.Load() > room/2 {
			t.Errorf("%d members, %d of %d bytes left", x.N, b.left.Load(), room)
		}
	}
}

// TestFamiliesInVain learns documents that have nothing in common: their memory must be returned,
// and finally no more attempts are made.
func TestFamiliesInVain(t *testing.T) {
	b := NewBudget(1 << 20)
	var f Families
	var n Notes
	for doc := range uint32(1000) {
		set := make(features.Hashes, 50)
		for i := range set {
			set[i] = uint64(doc)<<32 | uint64(i)
		}
		if n.Note(doc, set) {
			f.Learn(b, &n)
		}
	}
	if f.Learn(b, &n); !f.Empty() || f.vain != mostVain || b.left.Load() != 1<<20 {
		t.Errorf("%d families, %d in vain, %d bytes left", len(f.all), f.vain, b.left.Load())
	}
}
