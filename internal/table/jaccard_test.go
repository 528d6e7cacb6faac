package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/table/internal/keytest"
	"github.com/simdb/simdb/internal/table/internal/merge"
	"github.com/simdb/simdb/internal/table/internal/write"
	"github.com/simdb/simdb/minhash"
)

// thresholds are the values of t in searches: on both sides of the MinJaccard of testParams.
var thresholds = []float64{0.05, 0.1, 0.25, 0.3, 0.5, 0.6, 0.65, 0.66, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99, 1}

// bruteJaccard returns the expected result of Jaccard, in the order of documents.
func bruteJaccard(docs []Document, q minhash.Sketch, n int, t float64) (hits []JaccardHit) {
	for i := range docs {
		if len(docs[i].Sketch) == 0 {
			continue
		}
		if s := minhash.Jaccard(q, docs[i].Sketch, n); s.Score >= t {
			hits = append(hits, JaccardHit{Doc: uint32(i), Score: s.Score, Err: s.Error, Exact: s.Exact})
		}
	}
	return hits
}

// checkJaccard compares searches with brute force.
func checkJaccard(t *testing.T, r *Reader, docs []Document, q minhash.Sketch, s *JaccardSearcher) {
	t.Helper()
	for _, at := range thresholds {
		want := bruteJaccard(docs, q, int(r.Params().Sketch), at)
		for _, s.s.ForcePostings = range []bool{false, true} {
			hits, err := s.Jaccard(r, JaccardQuery{Sketch: q, T: at}, nil)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(hits, func(a, b JaccardHit) int { return cmp.Compare(a.Doc, b.Doc) })
			if !slices.Equal(hits, want) {
				t.Fatalf("Jaccard(%v, %v) = %v, want %v", q, at, hits, want)
			}
			checkFirst(t, r, q, at, s, want)
			checkFew(t, r, q, at, s, want)
		}
		checkRange(t, r, docs, q, at, want)
	}
}

// checkFew checks JaccardFew with limits below and above the number of sketches compared. A search
// may compare fewer sketches than the same search did before, if groups have been made in between.
func checkFew(t *testing.T, r *Reader, q minhash.Sketch, at float64, s *JaccardSearcher, want []JaccardHit) {
	t.Helper()
	if _, few, err := s.JaccardFew(r, JaccardQuery{Sketch: q, T: at}, len(want)-1, nil); err != nil || few && len(want) > 0 {
		t.Fatalf("JaccardFew(%v, %v) of fewer than %d hits: %v, %v", q, at, len(want), few, err)
	}
	s.TakeStats()
	if hits, few, err := s.JaccardFew(r, JaccardQuery{Sketch: q, T: at}, math.MaxInt, nil); err != nil || !few || len(hits) != len(want) {
		t.Fatalf("JaccardFew(%v, %v): %d of %d, %v, %v", q, at, len(hits), len(want), few, err)
	}
	scored := s.TakeStats().Scored
	if _, few, err := s.JaccardFew(r, JaccardQuery{Sketch: q, T: at}, scored, nil); err != nil || !few {
		t.Fatalf("JaccardFew(%v, %v) of %d sketches: %v, %v", q, at, scored, few, err)
	}
	s.TakeStats()
	_, few, err := s.JaccardFew(r, JaccardQuery{Sketch: q, T: at}, scored-1, nil)
	if now := s.TakeStats().Scored; err != nil || few && scored > 0 && now >= scored || now > max(scored-1, 0) {
		t.Fatalf("JaccardFew(%v, %v) of %d of %d sketches: %v, %v", q, at, scored-1, scored, few, err)
	}
}

// checkRange searches a range for q, an empty sketch, and another sketch at another threshold.
func checkRange(t *testing.T, r *Reader, docs []Document, q minhash.Sketch, at float64, want []JaccardHit) {
	t.Helper()
	n := uint32(len(docs))
	other, otherAt := q[len(q)/3:], 1-at/2
	wants := [][]JaccardHit{want, nil, bruteJaccard(docs, other, int(r.Params().Sketch), otherAt)}
	for _, docRange := range [][2]uint32{{0, n}, {n / 3, n - n/5}, {0, 0}} {
		var got [3][]JaccardHit
		last := [2]int{-1, -1}
		err := r.JaccardRange(docRange[0], docRange[1], []JaccardQuery{{Sketch: q, T: at}, {T: at}, {Sketch: other, T: otherAt}}, func(i int, h JaccardHit) error {
			if now := [2]int{int(h.Doc), i}; slices.Compare(last[:], now[:]) >= 0 {
				t.Fatalf("JaccardRange: %v after %v", now, last)
			} else {
				last = now
			}
			got[i] = append(got[i], h)
			return nil
		})
		for i, all := range wants {
			in := slices.Clone(all)
			in = slices.DeleteFunc(in, func(h JaccardHit) bool { return h.Doc < docRange[0] || h.Doc >= docRange[1] })
			if err != nil || !slices.Equal(got[i], in) {
				t.Fatalf("JaccardRange(%v) of sketch %d at %v: %v, %v; want %v", docRange, i, at, got[i], err, in)
			}
		}
	}
}

// checkFirst accepts no hit, so that JaccardFirst must return all, and then the first or a middle
// one.
func checkFirst(t *testing.T, r *Reader, q minhash.Sketch, at float64, s *JaccardSearcher, want []JaccardHit) {
	t.Helper()
	for _, most := range []int{len(want) + 1, 1, len(want)/2 + 1} {
		var got []JaccardHit
		found, err := s.JaccardFirst(r, JaccardQuery{Sketch: q, T: at}, nil, func(h JaccardHit) (bool, error) {
			got = append(got, h)
			return len(got) == most, nil
		})
		if err != nil || found != (len(want) >= most) || len(got) != min(most, len(want)) {
			t.Fatalf("JaccardFirst(%v, %v): %d documents, %v, %v; want %d of %d", q, at, len(got), found, err, most, len(want))
		}
		slices.SortFunc(got, func(a, b JaccardHit) int { return cmp.Compare(a.Doc, b.Doc) })
		for i, h := range got {
			if _, ok := slices.BinarySearchFunc(want, h, func(a, b JaccardHit) int { return cmp.Compare(a.Doc, b.Doc) }); !ok || i > 0 && got[i-1].Doc == h.Doc {
				t.Fatalf("JaccardFirst(%v, %v) has %v", q, at, h)
			}
		}
	}
}

func TestJaccard(t *testing.T) {
	exhaustive.Sequential(t)
	numbers, sizes, floors := []int{3000, 0, 1, 2, 70}, []uint32{1, 2, 5, 16, 128}, []float64{0, 0.5, 0.65, 1}
	for c := range exhaustive.Every(t, 8).Of(len(numbers) * len(sizes) * len(floors)) {
		rng := rand.New(rand.NewPCG(51, uint64(c)))
		n, size := numbers[c%len(numbers)], sizes[c/len(numbers)%len(sizes)]
		p := testParams
		p.Sketch, p.MinJaccard = size, floors[c/len(numbers)/len(sizes)]
		docs := testDocs(rng, n)
		for i := range docs {
			if s := docs[i].Sketch; len(s) > int(size) {
				docs[i].Sketch = s[:size]
			}
		}
		o := WriterOptions{SegmentDocs: 1 + rng.IntN(2*n+1000)}
		if rng.IntN(3) > 0 {
			o.Hot = hotOf(docs)
		}
		data, _ := buildTable(t, p, o, docs)
		r := openTable(t, data)
		var s JaccardSearcher
		for range 8 {
			var q minhash.Sketch
			if n > 0 {
				q = keytest.Edited(rng, docs[rng.IntN(n)].Sketch, 0.5+rng.Float64()/2, int(size))
			} else {
				q = minhash.Sketch{1}
			}
			checkJaccard(t, r, docs, q, &s)
		}
	}
}

// realSketches returns the sketches of testdata/sketches.bin, of 128 hashes each, of shingles of 3
// words: 150 licences of the SPDX list (npm spdx-license-list 6.12.0, CC0-1.0), and 150 pages of
// the documentation of npm in several versions, which share much text. The file has them one after
// the other, as minhash encodes them.
func realSketches(t testing.TB) (all []minhash.Sketch) {
	data, err := os.ReadFile(filepath.Join("testdata", "sketches.bin"))
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		var s minhash.Sketch
		if s, data, err = minhash.Decode(nil, data); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// TestJaccardReal searches sketches of real texts, with lists of hot hashes that range from none to
// all hashes.
func TestJaccardReal(t *testing.T) {
	exhaustive.Sequential(t)
	all := realSketches(t)
	docs := make([]Document, len(all))
	for i, s := range all {
		docs[i] = Document{ID: fmt.Append(nil, i), HasFingerprint: true, Fingerprint: uint64(i) << 40, Sketch: s}
	}
	p := testParams
	for i, hot := range [][]hot.Hash{nil, hotOf(docs), write.HotHashes(len(docs), func(i int) []uint32 { return docs[i].Sketch })} {
		p.MinJaccard = []float64{0.5, 0.65, 0.7}[i]
		data, _ := buildTable(t, p, WriterOptions{Hot: hot, SegmentDocs: 200}, docs)
		r := openTable(t, data)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		var s JaccardSearcher
		for c := range exhaustive.Every(t, 6).Of(len(all) / 3) {
			checkJaccard(t, r, docs, all[3*c+i], &s)
		}
		t.Logf("%d hot: %+v", len(hot), s.TakeStats())
	}
}

// TestJaccardMethods checks that postings are used where they should be, and that they save work.
func TestJaccardMethods(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	docs := testDocs(rng, 12000)
	data, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs), SegmentDocs: 5000}, docs)
	r := openTable(t, data)
	var s JaccardSearcher
	var sum JaccardStats
	searches := 0
	for range 40 {
		q := minhash.Sketch(docs[rng.IntN(len(docs))].Sketch)
		if len(q) < 20 {
			continue
		}
		searches++
		s.TakeStats()
		p, err := s.JaccardPlan(r, JaccardQuery{Sketch: q, T: 0.8})
		if err != nil || p.Method != "postings" || p.Prefix != minhash.MaxMissing(len(q), 0.8)+1 || s.TakeStats() != (JaccardStats{}) {
			t.Fatalf("plan %+v, %v", p, err)
		}
		if _, err := s.Jaccard(r, JaccardQuery{Sketch: q, T: 0.8}, nil); err != nil {
			t.Fatal(err)
		}
		got := s.TakeStats()
		if got.Postings != p.Postings || got.Candidates != p.Candidates || got.Scans != p.Scans {
			t.Fatalf("plan %v, but the search did %+v", p, got)
		}
		sum.Candidates, sum.Rejected, sum.Scored = sum.Candidates+got.Candidates, sum.Rejected+got.Rejected, sum.Scored+got.Scored
		if p, err := s.JaccardPlan(r, JaccardQuery{Sketch: q, T: 0.6}); err != nil || p.Method != "scan" || p.Candidates != len(docs) {
			t.Fatalf("plan %+v below the floor, %v", p, err)
		}
	}
	if st := sum; searches == 0 || st.Candidates > searches*len(docs)/20 || st.Scored > st.Candidates || st.Candidates != st.Rejected+st.Scored {
		t.Errorf("%d searches: %+v", searches, sum)
	}
}

// unrelatedDocs returns n documents whose sketches are full and have hardly any hashes in common.
func unrelatedDocs(n int) []Document {
	rng := keytest.Rand("unrelated", n)
	docs := make([]Document, n)
	for i := range docs {
		sketch := make([]uint32, testParams.Sketch+8)
		for j := range sketch {
			sketch[j] = rng.Uint32() >> 4 // as in sketches of texts of about 2,000 shingles
		}
		slices.Sort(sketch)
		docs[i] = Document{
			ID: fmt.Append(nil, i), HasFingerprint: true, Fingerprint: uint64(i), Seq: uint64(i),
			Sketch: slices.Compact(sketch)[:testParams.Sketch],
		}
	}
	return docs
}

// TestJaccardScanCost compares the estimated cost of scans with their work: bitmaps reject all
// unrelated documents at the higher thresholds, and none at the lowest.
func TestJaccardScanCost(t *testing.T) {
	docs, p := unrelatedDocs(1000), testParams
	p.Sketch = 32
	for i := range docs {
		docs[i].Sketch = docs[i].Sketch[:p.Sketch]
	}
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	r := openTable(t, data)
	var s JaccardSearcher
	for _, at := range []float64{0.6, 0.5, 0.4, 0.3, 0.2, 0.1} {
		p, err := s.JaccardPlan(r, JaccardQuery{Sketch: docs[0].Sketch, T: at})
		if err != nil {
			t.Fatal(err)
		}
		s.TakeStats()
		if _, err := s.Jaccard(r, JaccardQuery{Sketch: docs[0].Sketch, T: at}, nil); err != nil {
			t.Fatal(err)
		}
		scored := s.TakeStats().Scored
		if want := float64(2*len(docs) + 500*scored); p.Method != "scan" || p.Cost < want/2 || p.Cost > 2*want {
			t.Errorf("t = %v: plan %v costs %.0f ns, want about %.0f for %d scored", at, p, p.Cost, want, scored)
		}
	}
}

func TestJaccardRefuses(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(55, 56)), 10)
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	r := openTable(t, data)
	var s JaccardSearcher
	for _, at := range []float64{0, -1, 1.01} {
		if _, err := s.Jaccard(r, JaccardQuery{Sketch: minhash.Sketch{1}, T: at}, nil); err == nil {
			t.Errorf("t = %v: no error", at)
		}
	}
	for _, q := range []minhash.Sketch{{2, 1}, {3, 3}, make(minhash.Sketch, 129)} {
		if _, err := s.Jaccard(r, JaccardQuery{Sketch: q, T: 0.5}, nil); err == nil {
			t.Errorf("sketch %v: no error", q)
		}
	}
	if hits, err := s.Jaccard(r, JaccardQuery{Sketch: nil, T: 0.5}, nil); err != nil || hits != nil {
		t.Errorf("empty sketch: %v, %v", hits, err)
	}
	p := testParams
	p.Sketch = 0
	without, _ := buildTable(t, p, WriterOptions{}, docs)
	if len(without) >= len(data) {
		t.Errorf("%d bytes without sketches, %d with", len(without), len(data))
	}
	r = openTable(t, without)
	if _, err := s.Jaccard(r, JaccardQuery{Sketch: minhash.Sketch{1}, T: 0.5}, nil); !errors.Is(err, ErrNoSketches) {
		t.Errorf("without sketches: %v", err)
	}
	if s, err := r.Sketch(0, nil); s != nil || err != nil {
		t.Errorf("without sketches: Sketch gives %v, %v", s, err)
	}
	for _, sketch := range [][]uint32{{2, 1}, {1, 1}, make([]uint32, 129)} {
		w, _ := NewWriter(new(discard), testParams, WriterOptions{})
		if w.Add(&Document{ID: []byte("a"), Sketch: sketch}) == nil {
			t.Errorf("Add takes sketch %v", sketch)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestHotHashes(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 60))
	docs := testDocs(rng, 3000)
	counts := map[uint32]uint32{}
	for _, d := range docs {
		for _, h := range d.Sketch {
			counts[h]++
		}
	}
	found := write.HotHashes(len(docs), func(i int) []uint32 { return docs[i].Sketch })
	for _, h := range found {
		if counts[h.Hash] != h.Documents {
			t.Errorf("%v, but it is in %d documents", h, counts[h.Hash])
		}
		delete(counts, h.Hash)
	}
	if ascend := slices.IsSortedFunc(found, func(a, b hot.Hash) int { return cmp.Compare(a.Hash, b.Hash) }); !ascend || len(found) < 2 {
		t.Errorf("%d hot hashes, in order: %v", len(found), ascend)
	}
	for h, n := range counts {
		if n >= hot.Least {
			t.Errorf("hash %d is in %d documents and not found", h, n)
		}
	}
	half := len(docs) / 2
	a, _ := buildTable(t, testParams, WriterOptions{}, docs[:half])
	b, _ := buildTable(t, testParams, WriterOptions{}, docs[half:])
	merged, err := merge.MergedHot(context.Background(), tablesOf([]*Reader{openTable(t, a), openTable(t, b)}))
	if err != nil || !slices.Equal(merged, found) {
		t.Errorf("%d hot hashes of two halves (%v), %d of both", len(merged), err, len(found))
	}
	sampled := write.HotHashes(2*hot.All+1, func(i int) []uint32 { return []uint32{7, uint32(i), uint32(i % 1000)} })
	if at, ok := slices.BinarySearchFunc(sampled, 7, func(h hot.Hash, x uint32) int { return cmp.Compare(h.Hash, x) }); !ok ||
		sampled[at].Documents < 2*hot.All {
		t.Error("a hash of all documents is not found in a sample: " + fmt.Sprint(sampled[:min(len(sampled), 5)]))
	}
}
