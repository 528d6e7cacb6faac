package rulejoin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
)

type pair struct{ a, b uint32 }

// TestRandomRules compares pairs, stars and components by random rules with brute force.
func TestRandomRules(t *testing.T) {
	ctx := context.Background()
	ran, matched := 0, 0
	for i := range exhaustive.Some(t, 50, 20000) {
		rng := rand.New(rand.NewPCG(exhaustive.Seed(t), uint64(i)))
		text, rule := ruletest.Rule(rng, 1+rng.IntN(3), true)
		parsed, err := pairrule.Parse(text)
		if err != nil {
			if !strings.Contains(err.Error(), "only different") && !strings.Contains(err.Error(), "contradicts") {
				t.Fatal(text, err)
			}
			continue
		}
		docs := ruletest.Docs(rng, 2+rng.IntN(40))
		apart := rng.IntN(4) == 0
		c := build(t, parsed, docs, apart)
		o := JoinOptions{JoinOptions: corpus.JoinOptions{Memory: 64 << 20, Progress: func(engine.Progress) {}}}
		if strings.Contains(text, "RECURRING") {
			ruletest.CountRecurring(docs, rule)
		}
		want := map[pair]float64{}
		for a := range docs {
			for b := a + 1; b < len(docs); b++ {
				if s, _ := rule(&docs[a], &docs[b]); s >= 0 {
					want[pair{uint32(a), uint32(b)}] = s
				}
			}
		}
		got := map[pair]float64{}
		if err := c.Pairs(ctx, o, func(a, b uint32, score float64) bool {
			if _, twice := got[pair{a, b}]; twice {
				t.Errorf("%s: %d and %d twice", text, a, b)
			}
			got[pair{a, b}] = score
			return true
		}); err != nil {
			t.Fatal(err)
		}
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
		if !maps.EqualFunc(got, want, near) {
			t.Fatalf("%s\n%v\ngot  %v\nwant %v", text, docs, got, want)
		}
		if n, err := c.Count(ctx, o); err != nil || n != int64(len(want)) {
			t.Fatalf("%s: %d pairs, %v, want %d", text, n, err, len(want))
		}
		ran, matched = ran+1, matched+len(want)
		clusters(t, rng, text, c, got, o, apart)
		if !strings.Contains(text, "RECURRING") { // of these, Across counts other pairs
			across(t, uint32(rng.IntN(len(docs)+1)), text, c, got, o)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rules were valid, and matched %d pairs", ran, matched)
	if ran < 20 || matched < 200 {
		t.Errorf("only %d rules were valid, and matched %d pairs", ran, matched)
	}
}

// across compares the pairs of known documents and others with those of all documents.
func across(t *testing.T, known uint32, text string, c *Corpus, pairs map[pair]float64, o JoinOptions) {
	want, got := maps.Clone(pairs), map[pair]float64{}
	maps.DeleteFunc(want, func(p pair, _ float64) bool { return p.a >= known || p.b < known })
	err := c.Across(context.Background(), known, o, func(a, b uint32, score float64) bool {
		if _, twice := got[pair{a, b}]; twice {
			t.Errorf("%s: %d and %d twice across %d", text, a, b, known)
		}
		got[pair{a, b}] = score
		return true
	})
	if err != nil || !maps.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }) {
		t.Fatalf("%s, %v: across %d got %v, want %v", text, err, known, got, want)
	}
}

// TestAcrossCrowd compares a few documents with a crowd that resembles them: the pairs of the crowd, which
// nobody wants, are not listed, neither by a join nor by what is equal.
func TestAcrossCrowd(t *testing.T) {
	const known = 80000
	for _, text := range []string{"JACCARD >= 0.8 AND a.year != b.year", "LEVENSHTEIN >= 0.8 AND a.year != b.year", "a.name = b.name AND a.year != b.year"} {
		rule, err := pairrule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		docs := make([]ruletest.Doc, known+3)
		for i := range docs {
			docs[i] = ruletest.Doc{Text: "the same words in all documents", Name: "n", Year: fmt.Sprint(i)}
		}
		c := build(t, rule, docs, false)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // all pairs would need minutes
		o := JoinOptions{JoinOptions: corpus.JoinOptions{Memory: 64 << 20, Progress: func(engine.Progress) {}}}
		n := 0
		if err := c.Across(ctx, known, o, func(a, b uint32, _ float64) bool { n++; return a < known && b >= known }); err != nil || n != 3*known {
			t.Errorf("%s: %d pairs, %v, want %d", text, n, err, 3*known)
		}
		cancel()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// clusters compares stars and components with those of the pairs.
func clusters(t *testing.T, rng *rand.Rand, text string, c *Corpus, pairs map[pair]float64, o JoinOptions, apart bool) {
	n := uint32(c.N)
	s := StarOptions{Known: rng.IntN(int(n) + 1), OnlyKnown: rng.IntN(2) == 0}
	for _, i := range rng.Perm(int(n)) {
		s.Order = append(s.Order, uint32(i))
	}
	if apart {
		s.Accept = func(a, b uint32) bool { return (a+b)%3 > 0 }
	}
	keeper, scores, err := c.Stars(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	var keepers []uint32
	for at, doc := range s.Order {
		best, score := doc, 1.0
		for _, k := range keepers {
			match, ok := pairs[pair{min(doc, k), max(doc, k)}]
			if at >= s.Known && ok && (best == doc || match > score) && (s.Accept == nil || s.Accept(doc, k)) {
				best, score = k, match
			}
		}
		if best == doc && (at < s.Known || !s.OnlyKnown) {
			keepers = append(keepers, doc)
		}
		if keeper[doc] != best || math.Abs(scores[doc]-score) > 1e-9 {
			t.Fatalf("%s: stars: %d joins %d with %v, want %d with %v", text, doc, keeper[doc], scores[doc], best, score)
		}
	}
	component, scores, err := c.Components(context.Background(), s.Order, o)
	if err != nil {
		t.Fatal(err)
	}
	place := make([]int, n)
	for at, doc := range s.Order {
		place[doc] = at
	}
	want := make([]uint32, n)
	for i := range want {
		want[i] = uint32(i)
	}
	for changed := true; changed; {
		changed = false
		for p := range pairs {
			best := slices.MinFunc([]uint32{want[p.a], want[p.b]}, func(x, y uint32) int { return cmp.Compare(place[x], place[y]) })
			changed = changed || want[p.a] != best || want[p.b] != best
			want[p.a], want[p.b] = best, best
		}
	}
	for doc, k := range component {
		score := pairs[pair{min(uint32(doc), k), max(uint32(doc), k)}]
		if k == uint32(doc) {
			score = 1
		}
		if k != want[doc] || math.Abs(score-scores[doc]) > 1e-9 {
			t.Fatalf("%s: components: %d is in that of %d with %v, want %d with %v", text, doc, k, scores[doc], want[doc], score)
		}
	}
}

// build returns the corpus of documents.
func build(t *testing.T, rule *pairrule.Rule, docs []ruletest.Doc, apart bool) *Corpus {
	c, err := New(context.Background(), rule, Options{Params: ruletest.Params, TextFields: []string{"text"}, Memory: []int64{1, 64 << 20}[len(docs)%2], InputBytes: 1 << 20, Dir: t.TempDir(), Apart: apart})
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		if err := c.Add(&Doc{Doc: docs[i].Stored(fmt.Sprint(i)), File: docs[i].File}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	return c
}
