package corpus

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/textsim"
)

// shortTexts returns texts of a few words, mostly edited copies of others. Some are equal, empty,
// or have no words, and some repeat one word many times.
func shortTexts(r *rand.Rand, n int) []string {
	words := strings.Fields("a the of phone phones great case cases blue green history kingdom atlas clouds é ü 帝 京 篇 zz")
	letters := []rune("abé帝 -\xff")
	texts := []string{"", "", "...", "...", "a", "a", "b", "ab", "the the the the", "the the", "\xff\xfe", "\xff"}
	texts = append(texts, strings.Repeat("the ", 60)+"phone", strings.Repeat("the ", 50)+"phones")
	for len(texts) < n {
		if r.IntN(3) == 0 || len(texts) < 30 {
			var some []string
			for range 1 + r.IntN(9) {
				some = append(some, words[r.IntN(len(words))])
			}
			texts = append(texts, strings.Join(some, " "))
			continue
		}
		text := []rune(texts[14+r.IntN(len(texts)-14)])
		for range r.IntN(4) {
			at := r.IntN(len(text) + 1)
			if r.IntN(2) == 0 {
				text = slices.Insert(text, at, letters[r.IntN(len(letters))])
			} else if at < len(text) {
				text = slices.Delete(text, at, at+1)
			}
		}
		if fields := strings.Fields(string(text)); r.IntN(4) == 0 && len(fields) > 1 {
			r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
			text = []rune(strings.Join(fields, " "))
		}
		texts = append(texts, string(text))
	}
	return texts
}

// textCorpus returns a corpus of texts; with little memory, many texts go to files.
func textCorpus(t *testing.T, texts []string, by Criterion, memory int64) *Corpus {
	t.Helper()
	c := New(Options{Sets: true, Measure: by.Measure, Memory: memory, Dir: t.TempDir()})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	x := NewExtractor(t.Context(), features.Params{Shingle: 3}, c)
	defer x.Stop()
	for _, text := range texts {
		if err := x.Add(&engine.Doc{Text: text}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Finish(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTextsAgainstBruteForce compares joins by edit distance and by word counts with all pairs.
func TestTextsAgainstBruteForce(t *testing.T) {
	texts := shortTexts(rand.New(rand.NewPCG(7, 8)), 150)
	for _, test := range []struct {
		by    func(float64) Criterion
		start func(string, float64) textsim.Compare
	}{{Levenshtein, textsim.Levenshtein}, {Cosine, textsim.Cosine}} {
		// The scores of all pairs.
		scores := make([][]float64, len(texts))
		for i, a := range texts {
			compare := test.start(a, math.SmallestNonzeroFloat64)
			for _, b := range texts {
				score, _ := compare(context.Background(), []byte(b))
				scores[i] = append(scores[i], score)
			}
		}
		for _, at := range []float64{1, 0.9, 0.8, 2. / 3, 0.5, 0.05} {
			like := make([][]bool, len(texts))
			for i, a := range texts {
				compare := test.start(a, at)
				for _, b := range texts {
					_, ok := compare(context.Background(), []byte(b))
					like[i] = append(like[i], ok)
				}
			}
			by := test.by(at)
			for workers, memory := range map[int]int64{3: 1 << 30, 1: 1} {
				c := textCorpus(t, texts, by, memory)
				name := fmt.Sprintf("%v at %g, %d bytes, %d workers", by.Measure, at, memory, workers)
				o := setjoin.Options{Judge: c.Judges(t.Context(), at), Workers: workers}
				checkTextPairs(t, name, c, at, o, like, scores)
				checkTextStars(t, name, c, at, o, like, scores)
			}
		}
	}
}

func checkTextPairs(t *testing.T, name string, c *Corpus, at float64, o setjoin.Options, like [][]bool, scores [][]float64) {
	t.Helper()
	found := map[[2]int]float64{}
	err := c.Sets.Pairs(t.Context(), at, o, func(a, b int, score float64) bool {
		if _, twice := found[[2]int{a, b}]; twice {
			t.Errorf("%s: %d and %d come twice", name, a, b)
		}
		found[[2]int{a, b}] = score
		return true
	})
	if err != nil {
		t.Fatal(name, err)
	}
	for b := range like {
		for a := range b {
			if score, ok := found[[2]int{a, b}]; ok != like[a][b] || ok && score != scores[a][b] {
				t.Fatalf("%s: %d and %d: found %v, %v; want %v, %v", name, a, b, ok, score, like[a][b], scores[a][b])
			}
		}
	}
}

func checkTextStars(t *testing.T, name string, c *Corpus, at float64, o setjoin.Options, like [][]bool, scores [][]float64) {
	t.Helper()
	stars, err := c.Sets.Stars(t.Context(), at, o)
	if err != nil {
		t.Fatal(name, err)
	}
	var keepers []int
	for n := range like {
		want, score := n, 1.0
		for _, k := range keepers {
			if like[n][k] && (want == n || scores[n][k] > score) {
				want, score = k, scores[n][k]
			}
		}
		if want == n {
			keepers = append(keepers, n)
		}
		if int(stars.Keeper[n]) != want || stars.Score[n] != score {
			t.Fatalf("%s: %d joins %d, %v; want %d, %v", name, n, stars.Keeper[n], stars.Score[n], want, score)
		}
	}
}
