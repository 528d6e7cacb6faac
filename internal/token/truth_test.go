package token

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
)

// jaccardPairs returns "a TAB b TAB jaccard TAB intersection TAB union" for every pair with at
// least half of its shingles in common. It counts common shingles with an inverted index.
func jaccardPairs(ids []string, sets [][]uint64) []string {
	postings := map[uint64][]int32{}
	var pairs []string
	common := make([]int, len(sets))
	for b, set := range sets {
		clear(common[:b])
		for _, h := range set {
			for _, a := range postings[h] {
				common[a]++
			}
			postings[h] = append(postings[h], int32(b))
		}
		for a, n := range common[:b] {
			union := len(set) + len(sets[a]) - n
			if n > 0 && 2*n >= union {
				x, y := min(ids[a], ids[b]), max(ids[a], ids[b])
				pairs = append(pairs, fmt.Sprintf("%s\t%s\t%.6f\t%d\t%d", x, y, float64(n)/float64(union), n, union))
			}
		}
	}
	slices.Sort(pairs)
	return pairs
}

// testTruth compares the pairs of the documents of a corpus exactly with those in its truth file.
func testTruth(t *testing.T, corpus, truth string) {
	s := New(Config{Shingle: 3, Version: 2}) // which the truth files follow
	var ids []string
	var sets [][]uint64
	for _, d := range corpora.Docs(t, corpus) {
		var c collect
		s.Text(d.Text, &c)
		set := c.hashes
		slices.Sort(set)
		ids, sets = append(ids, d.ID), append(sets, slices.Compact(set))
	}
	var want []string
	for line := range corpora.Lines(t, truth) {
		if !strings.HasPrefix(line, "#") {
			want = append(want, line)
		}
	}
	slices.Sort(want)
	got := jaccardPairs(ids, sets)
	if !slices.Equal(got, want) {
		n := 0
		for i := 0; i < min(len(got), len(want)) && n < 5; i++ {
			if got[i] != want[i] {
				t.Logf("got %q, want %q", got[i], want[i])
				n++
			}
		}
		t.Errorf("%d pairs, want %d", len(got), len(want))
	}
	t.Logf("%d documents, %d pairs", len(ids), len(want))
}

// TestTruth compares all corpora in the folder SIMDB_DATA.
func TestTruth(t *testing.T) {
	for _, name := range []string{"spdx", "licenseclassifier", "npmdocs", "poetry_tang20k", "udhr", "bible"} {
		t.Run(name, func(t *testing.T) {
			testTruth(t, corpora.Real(t, name+".jsonl.gz"), corpora.Real(t, name+".truth.tsv.gz"))
		})
	}
}

// TestSample compares a sample in testdata: SPDX licences (CC0-1.0), Tang poems, and translations
// of the Universal Declaration of Human Rights into languages written without spaces, with marks,
// or with many capitals.
func TestSample(t *testing.T) {
	testTruth(t, "testdata/sample.jsonl.gz", "testdata/sample.truth.tsv.gz")
}
