package view

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// TestTombstones kills documents and makes their deaths durable, as flushes and loads do, and
// compares with a map. A snapshot of earlier tombstones must not change.
func TestTombstones(t *testing.T) {
	const docs = 300_000
	r := rand.New(rand.NewPCG(1, 1))
	died := map[uint32]uint64{} // by document: 0 if that is in the catalog
	at := NewTombstones(nil)
	check := func(seq uint64) {
		t.Helper()
		below, n := int64(0), uint32(r.IntN(docs))
		for doc := range died {
			if doc < n {
				below++
			}
		}
		if at.Count() != int64(len(died)) || at.Below(n) != below {
			t.Fatalf("%d dead, %d below %d; want %d, %d", at.Count(), at.Below(n), n, len(died), below)
		}
		dead := at.UpTo(seq)
		for range 2000 {
			doc := uint32(r.IntN(docs))
			when, ok := died[doc]
			if want := ok && when <= seq; at.DeadAt(doc, seq) != want || dead.Contains(doc) != want {
				t.Fatalf("document %d, which died at %d, %v: dead at %d: %v, %v", doc, when, ok, seq, at.DeadAt(doc, seq), dead.Contains(doc))
			}
		}
	}
	folded, kept := 0, 0
	for seq := uint64(1); seq < 4000; {
		for range r.IntN(500) {
			if doc := uint32(r.IntN(docs)); !at.DeadAt(doc, Latest) {
				at.Kill(doc, seq)
				died[doc] = seq
				seq++
			}
		}
		check(seq - r.Uint64N(min(seq, 300)))
		old, before := at, slices.Collect(maps.Keys(died))
		flushed := seq - r.Uint64N(min(seq, 200))
		dead, younger := at.Recent(flushed)
		if r.IntN(3) == 0 { // a load kills others, and no tombstone of the log becomes durable
			dead, flushed = roaring.New(), 0
			for range r.IntN(3000) {
				if doc := uint32(r.IntN(docs)); !at.DeadAt(doc, Latest) {
					dead.Add(doc)
				}
			}
			_, younger = at.Recent(0)
		}
		at = at.With(dead, flushed)
		for it := dead.Iterator(); it.HasNext(); {
			died[it.Next()] = 0
		}
		if at.added.IsEmpty() {
			folded++
		} else {
			kept++
		}
		if got, young := at.Recent(0); !got.IsEmpty() || !maps.Equal(young, younger) || at.Durable().GetCardinality()+uint64(len(young)) != uint64(len(died)) {
			t.Fatalf("%d durable, %d young tombstones of %d", at.Durable().GetCardinality(), len(young), len(died))
		}
		if old.Count() != int64(len(before)) {
			t.Fatal("the earlier tombstones have changed")
		}
		check(seq)
	}
	if folded == 0 || kept == 0 {
		t.Errorf("folded %d times, kept %d times", folded, kept)
	}
}
