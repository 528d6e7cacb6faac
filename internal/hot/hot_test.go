package hot

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPrefixOrder compares prefixes of many lengths with a sort by class and hash. Some cold hashes
// pass the filter.
func TestPrefixOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	passed := 0
	for range 300 {
		class := map[uint32]int{}
		var hot []Hash
		for range rng.IntN(300) {
			hot = append(hot, Hash{Hash: rng.Uint32N(1000), Documents: 1 + rng.Uint32N(100)})
		}
		slices.SortFunc(hot, func(a, b Hash) int { return cmp.Compare(a.Hash, b.Hash) })
		hot = slices.CompactFunc(hot, func(a, b Hash) bool { return a.Hash == b.Hash })
		for _, h := range hot {
			class[h.Hash] = bits.Len32(h.Documents)
		}
		var sketch []uint32
		for range rng.IntN(300) {
			sketch = append(sketch, rng.Uint32N(2000))
		}
		slices.Sort(sketch)
		sketch = slices.Compact(sketch)
		want := slices.SortedStableFunc(slices.Values(sketch), func(a, b uint32) int { return cmp.Compare(class[a], class[b]) })
		o := NewOrder(hot)
		for _, h := range sketch {
			if bit := o.filterAt(h); class[h] == 0 && o.filter[bit>>3]>>(bit&7)&1 == 1 {
				passed++
			}
		}
		for _, n := range []int{0, 1, len(sketch) / 3, prefixStep, len(sketch), len(sketch) + 5} {
			got, cold, keys := o.Prefix([]uint32{7, 8}, sketch, n, nil)
			if !slices.Equal(got, append([]uint32{7, 8}, want[:min(n, len(want))]...)) {
				t.Fatalf("the first %d of %d hashes: %v", n, len(sketch), got)
			}
			if prefix := got[2:]; cold != len(slices.DeleteFunc(slices.Clone(prefix), func(h uint32) bool { return class[h] > 0 })) {
				t.Fatalf("%d of %v are said to be cold", cold, prefix)
			} else if cold < len(prefix) && !slices.Equal(hashesOf(keys), hotOf(sketch, class)) {
				t.Fatalf("%x are said to be hot in %v", keys, sketch)
			}
		}
	}
	if passed == 0 {
		t.Error("no cold hash passes the filter")
	}
}

// TestTally compares a count in several portions with a map.
func TestTally(t *testing.T) {
	rng := rand.New(rand.NewPCG(69, 70))
	var all tally
	want := map[uint32]uint32{}
	for i := range 50_000 {
		h := rng.Uint32N(1+rng.Uint32N(20_000)) * 7
		all.add(h)
		want[h]++
		if rng.IntN(5000) == 0 || i == 49_999 {
			all.merge()
		}
	}
	if len(all.counts) != len(want) {
		t.Errorf("%d hashes, want %d", len(all.counts), len(want))
	}
	for _, h := range all.counts {
		if h.Documents != want[h.Hash] {
			t.Errorf("%v, want %d", h, want[h.Hash])
		}
	}
}

func hashesOf(keys []Key) (hashes []uint32) {
	for _, k := range keys {
		hashes = append(hashes, uint32(k))
	}
	return hashes
}

func hotOf(sketch []uint32, class map[uint32]int) (hashes []uint32) {
	for _, h := range sketch {
		if class[h] > 0 {
			hashes = append(hashes, h)
		}
	}
	return hashes
}
