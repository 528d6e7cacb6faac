package contain

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// indexOf makes the index of sets, as a writer does.
func indexOf(t *testing.T, sets [][]uint64) *Index {
	var s Sets
	var docs []uint32 // by record: every second belongs to no document
	more := 0
	for from := 0; from < len(sets); {
		var g Group
		for ; from < len(sets) && !g.Full(); from++ {
			g.Add(sets[from])
			docs = append(docs, uint32(from))
			if !g.Full() {
				g.Add([]uint64{1, 1 << 63})
				docs, more = append(docs, NoDocument), more+2
			}
		}
		g.End()
		s.Add([]Group{g})
	}
	var keys []uint64
	const ranges = 3
	for i := range uint32(ranges) {
		from := len(keys)
		keys = s.AppendKeys(keys, docs, i<<BinBits/ranges, (i+1)<<BinBits/ranges, Width(uint32(len(sets))))
		slices.Sort(keys[from:])
	}
	if len(keys) != s.Keys()-more || s.Size(0) != uint32(len(sets[0])) || s.Size(uint32(len(docs))) != 0 {
		t.Fatalf("%d keys, of %d; a size of %d", len(keys), s.Keys(), s.Size(0))
	}
	run, err := keyrun.Open(keyrun.InMemory("sets", keys))
	if err != nil {
		t.Fatal(err)
	}
	body, dir := keyrun.EncodeColumn(sizesOf(sets))
	column, err := keyrun.OpenColumn(keyrun.Section{File: "memory", Name: "sizes", Body: body, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return &Index{Keys: run, Sizes: column}
}

func sizesOf(sets [][]uint64) (sizes []uint64) {
	for _, s := range sets {
		sizes = append(sizes, uint64(len(s)))
	}
	return sizes
}

// TestCandidates checks that all documents with the required share are candidates, and that there
// are few others, which must be due to chance, even if features share bins.
func TestCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 2))
	for _, c := range []struct{ bins, each uint64 }{{200, 7}, {3000, 7}, {3000, 1}} {
		draw := func(n int) []uint64 {
			set := make([]uint64, 0, n)
			for range n {
				v := r.Uint64N(c.bins)
				set = append(set, v<<(64-BinBits)|r.Uint64N(c.each))
			}
			slices.Sort(set)
			return slices.Compact(set)
		}
		var sets [][]uint64
		for i := range 800 {
			set := draw(r.IntN(60))
			if i > 0 && i%2 == 0 {
				other := sets[r.IntN(i)]
				set = append(set, other[:len(other)*r.IntN(5)/4%(len(other)+1)]...)
				slices.Sort(set)
				set = slices.Compact(set)
			}
			sets = append(sets, set)
		}
		x := indexOf(t, sets)
		found, candidates := 0, 0
		for i := range 60 {
			q := Query{Set: sets[i], Most: len(sets)}
			for _, q.T = range []float64{0.05, 0.1, 0.3, 1. / 3, 0.5, 0.7, 0.9, 1} {
				for _, q.Within = range []bool{false, true} {
					docs, _, ok, err := x.Candidates(nil, q)
					if err != nil || !ok || !slices.IsSorted(docs) {
						t.Fatal(docs, ok, err)
					}
					candidates += len(docs)
					for doc, set := range sets {
						of, common := len(q.Set), ordered.Common(q.Set, set, 0)
						if q.Within {
							of = len(set)
						}
						if common == 0 || float64(common)/float64(of) < q.T {
							continue
						}
						found++
						if _, known := slices.BinarySearch(docs, uint32(doc)); !known {
							t.Fatalf("document %d with %d of %d is no candidate of %v, %v", doc, common, of, q.T, q.Within)
						}
					}
				}
			}
		}
		if found == 0 || c.each == 1 && candidates > 3*found {
			t.Errorf("%d candidates, %d are right", candidates, found)
		}
	}
}

// TestNeed compares need with the least count whose share, as a float, reaches t.
func TestNeed(t *testing.T) {
	for n := range 300 {
		for i := 1; i <= 1000; i++ {
			share := float64(i) / 1000
			want := 1
			for want < n && float64(want)/float64(n) < share {
				want++
			}
			if got := need(share, n); got != want {
				t.Fatalf("%v of %d: %d, want %d", share, n, got, want)
			}
		}
	}
}

// TestCrowd has features in most documents, where reading all texts is faster: the index must not
// answer, and must not allocate memory for the candidates.
func TestCrowd(t *testing.T) {
	set := make([]uint64, 2*mostRead)
	for i := range set {
		set[i] = uint64(i) << (64 - BinBits)
	}
	x := indexOf(t, slices.Repeat([][]uint64{set}, 100))
	if _, _, ok, err := x.Candidates(nil, Query{Set: set, T: 0.5, Within: true, Most: 100}); ok || err != nil {
		t.Error(ok, err)
	}
	docs, read, ok, err := x.Candidates(nil, Query{Set: set, T: 0.9, Most: 100})
	if !ok || err != nil || len(docs) != 100 || read != 100*(2*mostRead/10+1+spareLists) {
		t.Error(len(docs), read, ok, err)
	}
	for most, want := range map[int]bool{99: false, 100: true} {
		if _, _, ok, err := x.Candidates(nil, Query{Set: set, T: 0.9, Most: most}); ok != want || err != nil {
			t.Errorf("memory for %d documents: %v, %v", most, ok, err)
		}
	}
	var c tally
	for i := range 1 << 20 {
		c.add(uint32(i%1000), 1)
	}
	if n := cap(c.counts); n > 1<<14 {
		t.Errorf("room for %d", n)
	}
	if got := c.sum(); len(got) != 1000 || got[7] != 7<<32|1049 {
		t.Errorf("%d documents, %x", len(got), got[7])
	}
}

// TestRuns checks that all documents with some consecutive features are candidates, and that the
// fewest possible keys are read.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 5))
	hash := func(v int) uint64 { return uint64(v) << (64 - BinBits) }
	var texts [][]uint64
	for i := range 400 {
		var text []uint64
		for range r.IntN(60) {
			text = append(text, hash(min(r.IntN(150), r.IntN(150))))
		}
		if i > 0 && i%2 == 0 {
			other := texts[r.IntN(i)]
			text = append(text, other[r.IntN(len(other)+1):]...)
		}
		texts = append(texts, text)
	}
	sets := make([][]uint64, len(texts))
	for i, text := range texts {
		sets[i] = slices.Compact(slices.Sorted(slices.Values(text)))
	}
	x := indexOf(t, sets)
	size := func(v uint64) int {
		lo, hi, err := x.Keys.Range(uint64(BinOf(v))<<9, uint64(BinOf(v))<<9|511)
		if err != nil {
			t.Fatal(err)
		}
		return hi - lo
	}
	found := 0
	for _, text := range texts[:80] {
		for _, number := range []int{1, 2, 5, 12, 200} {
			docs, read, ok, err := x.Runs(nil, text, number, len(texts))
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			for doc, set := range sets {
				run := 0
				for _, h := range text {
					if _, in := slices.BinarySearch(set, h); !in {
						run = 0
					} else if run++; run == number {
						found++
						if !slices.Contains(docs, uint32(doc)) {
							t.Fatalf("document %d with %d features is no candidate", doc, number)
						}
					}
				}
			}
			// The cheapest choice, found by trying all.
			best := make([]int, len(text)+1) // by number of features, the last of which is chosen
			least := 0
			for i := range best {
				least = 1 << 30
				for j := max(i-number, 0); j < i; j++ {
					least = min(least, best[j])
				}
				if i == 0 || i <= number {
					least = 0
				}
				if i > 0 {
					best[i] = least + size(text[i-1]) + 1
				}
			}
			most := 0
			if len(text) >= number {
				most = slices.Min(best[len(text)+1-number:])
			}
			if read > most {
				t.Errorf("%d keys are read where %d are enough", read, most)
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d runs", found)
	}
}
