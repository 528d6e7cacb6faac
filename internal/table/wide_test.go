package table

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// wideParams are testParams with all optional parts: fingerprints of four words, sets, and indexed
// fields.
var wideParams = func() Params {
	p := testParams
	p.Words, p.Sets, p.Index = 4, true, "n,m.s"
	return p
}()

// wideDocs gives documents the other words of such fingerprints.
func wideDocs(docs []Document) []Document {
	for i := range docs {
		if d := &docs[i]; d.HasFingerprint {
			d.Rest = wideOf(d.Fingerprint, 4)[1:]
		}
	}
	return docs
}

// wideOf returns a fingerprint of several words, the first being fp. Of the others, some are
// uniform, some constant, and some have few values.
func wideOf(fp Fingerprint, words int) []Fingerprint {
	all := []Fingerprint{fp}
	for i := 1; i < words; i++ {
		all = append(all, []Fingerprint{fp * 0x9e3779b97f4a7c15, 7, fp >> 61 << 20}[i%3])
	}
	return all
}

// checkWide compares searches by fingerprints of several words with brute force.
func checkWide(t *testing.T, r *Reader, docs []Document) {
	t.Helper()
	words := r.Params().NumWords()
	if words == 1 || len(docs) == 0 {
		return
	}
	for word := 1; word < words; word++ {
		err := r.RestBlocks(word, func(first uint32, fps []Fingerprint) error {
			for i, fp := range fps {
				if want := docs[int(first)+i].Rest[word-1]; fp != want {
					t.Fatalf("word %d of document %d is %x, not %x", word, int(first)+i, fp, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(uint64(len(docs)), 3))
	var s NearSearcher
	for _, k := range []int{0, 1, 3, 7, 20, 31, 60, 64, 65, 100, 64 * words, 5000} {
		queries := make([][]Fingerprint, words)
		for range 6 {
			d, q := docs[rng.IntN(len(docs))], []Fingerprint{rng.Uint64()}
			if q = append(q, d.Rest...); d.HasFingerprint {
				q[0] = d.Fingerprint
			}
			q = append(q, make([]Fingerprint, words-len(q))...)
			for range rng.IntN(min(k, 64*words) + 2) {
				q[rng.IntN(words)] ^= 1 << rng.IntN(64)
			}
			for i := range q {
				queries[i] = append(queries[i], q[i])
			}
		}
		batch := make([][]Hit, len(queries[0]))
		err := s.NearBatch(t.Context(), r, queries, k, func(query int, h Hit) error {
			batch[query] = append(batch[query], h)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range queries[0] {
			q := make([]Fingerprint, words)
			for j := range q {
				q[j] = queries[j][i]
			}
			want := bruteWide(docs, q, k)
			calls, matched := 0, map[uint32]bool{}
			err := s.NearGroup([]*Reader{r, r}, q, k, func(table int, hits []Hit, work NearStats) error {
				calls++
				sameHits(t, fmt.Sprintf("NearGroup, k = %d", k), hits, want)
				return nil
			})
			if err != nil || calls != 2 {
				t.Fatal(calls, err)
			}
			sameHits(t, fmt.Sprintf("NearBatch, k = %d", k), batch[i], want)
			found, err := s.NearFirst([]*Reader{r}, q, k, func(_ int, h Hit) (bool, error) {
				matched[h.Doc] = true
				return false, nil
			})
			if err != nil || found || len(matched) != len(want) {
				t.Fatalf("NearFirst, k = %d: %v, %v, %d documents, not %d", k, found, err, len(matched), len(want))
			}
			if found, err = s.NearFirst([]*Reader{r}, q, k, func(int, Hit) (bool, error) { return true, nil }); found != (len(want) > 0) || err != nil {
				t.Fatalf("NearFirst: %v, %v", found, err)
			}
			if p, err := s.Plan(r, q, k); err != nil || p.Method == "probe" && len(p.Radii) != words*r.Params().Layout.Tables() {
				t.Fatalf("plan %v, %v", p, err)
			}
		}
	}
	if err := s.NearGroup([]*Reader{r}, make([]Fingerprint, words+1), 3, nil); err == nil {
		t.Error("a query of another width is taken")
	}
	if _, err := s.Near(r, 1, 3, nil); err == nil {
		t.Error("a query of one word is taken")
	}
}

// bruteWide returns the documents within k bits of q.
func bruteWide(docs []Document, q []Fingerprint, k int) (want []Hit) {
	for i, d := range docs {
		distance := bits.OnesCount64(d.Fingerprint ^ q[0])
		for j, fp := range d.Rest {
			distance += bits.OnesCount64(fp ^ q[j+1])
		}
		if d.HasFingerprint && distance <= k {
			want = append(want, Hit{Doc: uint32(i), Distance: uint16(distance)})
		}
	}
	return want
}

// sameHits compares hits in any order, without their fingerprints.
func sameHits(t *testing.T, what string, hits, want []Hit) {
	t.Helper()
	hits = slices.Clone(hits)
	slices.SortFunc(hits, func(a, b Hit) int { return int(a.Doc) - int(b.Doc) })
	for i := range hits {
		hits[i].Fingerprint = 0
	}
	if !slices.Equal(hits, want) {
		t.Fatalf("%s: %v, not %v", what, hits, want)
	}
}

// TestWide writes tables of all widths, with fingerprints that are uniform, in a ball, or equal in
// one word or in all, and searches them.
func TestWide(t *testing.T) {
	kinds := map[string]func(r *rand.Rand, word int) uint64{
		"uniform":       func(r *rand.Rand, _ int) uint64 { return r.Uint64() },
		"ball":          func(r *rand.Rand, _ int) uint64 { return 0xabcdef ^ 1<<r.IntN(64) ^ 1<<r.IntN(64) },
		"constant word": func(r *rand.Rand, word int) uint64 { return r.Uint64() * uint64(word&1) },
		"half":          func(r *rand.Rand, _ int) uint64 { return r.Uint64() * r.Uint64N(2) },
		"few":           func(r *rand.Rand, _ int) uint64 { return r.Uint64N(3) },
		"equal":         func(*rand.Rand, int) uint64 { return 5 },
	}
	names, widths, numbers := slices.Sorted(maps.Keys(kinds)), []uint32{2, 4, 16}, []int{0, 1, 2, 600, 3000}
	for c := range exhaustive.Some(t, 3, len(names)*len(widths)*len(numbers)) {
		name, words, n := names[c%len(names)], widths[c/len(names)%len(widths)], numbers[c/len(names)/len(widths)]
		word := kinds[name]
		t.Run(fmt.Sprintf("%s/%d/%d", name, words, n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(words), uint64(n)))
			docs := make([]Document, n)
			for i := range docs {
				d := Document{ID: fmt.Appendf(nil, "%d", i), Seq: uint64(i), HasFingerprint: r.IntN(50) > 0}
				if d.HasFingerprint {
					d.Fingerprint = word(r, 0)
					for j := 1; j < int(words); j++ {
						d.Rest = append(d.Rest, word(r, j))
					}
				}
				docs[i] = d
			}
			p := Params{Tokenizer: 1, Shingle: 3, Hash: 1, Layout: []Layout{DefaultLayout, {Blocks: 3, Lead: 1}, {Blocks: 1, Lead: 1}}[r.IntN(3)], Words: words}
			docs = sortedDocs(docs)
			data, _ := buildTable(t, p, WriterOptions{}, docs)
			table := openTable(t, data)
			if err := table.Verify(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			checkReader(t, table, p, docs)
		})
	}
}

// TestWideCrowd searches a table where half of the documents have the same value of a word: a query
// with that value, or one near it, must not compare all these documents.
func TestWideCrowd(t *testing.T) {
	const n, crowd = 100_000, 0xc0ffee
	r := rand.New(rand.NewPCG(3, 4))
	docs := make([]Document, n)
	for i := range docs {
		d := Document{ID: fmt.Appendf(nil, "%d", i), Seq: uint64(i), HasFingerprint: true, Fingerprint: r.Uint64()}
		d.Rest = []Fingerprint{r.Uint64(), r.Uint64(), r.Uint64()}
		if i%2 == 0 {
			d.Rest[1] = crowd
		}
		docs[i] = d
	}
	docs = sortedDocs(docs)
	data, _ := buildTable(t, Params{Tokenizer: 1, Shingle: 3, Hash: 1, Layout: DefaultLayout, Words: 4}, WriterOptions{}, docs)
	table := openTable(t, data)
	queries := make([][]Fingerprint, 4)
	for i := range 40 {
		q := slices.Concat([]Fingerprint{docs[i*100].Fingerprint}, docs[i*100].Rest)
		if i%4 > 0 {
			q = []Fingerprint{r.Uint64(), r.Uint64(), crowd ^ uint64(i&1)<<i, r.Uint64()}
		}
		for j := range q {
			queries[j] = append(queries[j], q[j])
		}
		var s NearSearcher
		for _, k := range []int{7, 15} {
			err := s.NearGroup([]*Reader{table}, q, k, func(_ int, hits []Hit, work NearStats) error {
				if sameHits(t, "NearGroup", hits, bruteWide(docs, q, k)); work.Candidates > n/10 {
					t.Errorf("k = %d: %d candidates of %d documents", k, work.Candidates, n)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var s NearSearcher
	found := make([][]Hit, len(queries[0]))
	err := s.NearBatch(t.Context(), table, queries, 15, func(query int, h Hit) error {
		found[query] = append(found[query], h)
		return nil
	})
	if work := s.TakeStats(); err != nil || work.Candidates > n {
		t.Errorf("a batch of %d: %d candidates of %d documents, %v", len(found), work.Candidates, n, err)
	}
	for i, hits := range found {
		sameHits(t, "NearBatch", hits, bruteWide(docs, []Fingerprint{queries[0][i], queries[1][i], queries[2][i], queries[3][i]}, 15))
	}
}
