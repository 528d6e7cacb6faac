package rulejoin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
)

// TestRecurring compares the pairs of catalogues with brute force: a few things, each in some
// variants, where a variant occurs about as often as a difference must to recur.
func TestRecurring(t *testing.T) {
	rule, err := pairrule.Parse("a.year = b.year AND NOT DIFFERS(name, RECURRING)")
	if err != nil {
		t.Fatal(err)
	}
	year := func(a, b *ruletest.Doc) (score, not float64) {
		if a.Year == b.Year {
			return 1, -1
		}
		return -1, 1
	}
	left, none := 0, 0
	seed := exhaustive.Seed(t)
	for i := range 400 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		var docs []ruletest.Doc
		for n := range 1 + rng.IntN(6) {
			for range 1 + rng.IntN(3) {
				name := fmt.Sprintf("thing%d", n)
				for range rng.IntN(3) {
					name += " " + []string{"left", "right", "rear", "left rear"}[rng.IntN(4)]
				}
				docs = append(docs, ruletest.Doc{Name: name, Year: fmt.Sprint(n)})
			}
		}
		rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		c := build(t, rule, docs, rng.IntN(2) == 0)
		ruletest.CountRecurring(docs, year)
		o := JoinOptions{JoinOptions: corpus.JoinOptions{Memory: 1 << 20, Progress: func(engine.Progress) {}}}
		got := map[pair]bool{}
		if err := c.Pairs(context.Background(), o, func(a, b uint32, _ float64) bool { got[pair{a, b}] = true; return true }); err != nil {
			t.Fatal(err)
		}
		for a := range docs {
			for b := a + 1; b < len(docs); b++ {
				x, y := &docs[a], &docs[b]
				want := x.Year == y.Year && !ruletest.Recurs("name", x, y)
				if got[pair{uint32(a), uint32(b)}] != want {
					t.Fatalf("%v: %d and %d: want %v", docs, a, b, want)
				}
				if x.Year == y.Year && want {
					left++
				} else if x.Year == y.Year {
					none++
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if left < 200 || none < 200 {
		t.Errorf("%d pairs match, and %d do not, because their differences recur", left, none)
	}
}

// TestRecurringKeys compares keys that recur with counts, with different limits of memory.
func TestRecurringKeys(t *testing.T) {
	full := 0
	seed := exhaustive.Seed(t)
	for i := range 300 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		r := recurring{least: 1 + rng.IntN(5), most: 10 + rng.IntN(300)}
		keys, fits := map[uint64]map[uint64]bool{}, true
		for range 400 {
			key, pair := uint64(rng.IntN(30)), uint64(rng.IntN(8))
			if fits = fits && r.add(key, pair); keys[key] == nil {
				keys[key] = map[uint64]bool{}
			}
			keys[key][pair] = true
		}
		needed := 0
		for _, pairs := range keys {
			needed += min(len(pairs), r.least)
		}
		if !fits {
			if full++; needed <= r.most/2 {
				t.Fatalf("%d entries do not fit into %d", needed, r.most)
			}
			continue
		}
		r.finish()
		for key, pairs := range keys {
			if r.often[key] != (len(pairs) >= r.least) {
				t.Fatalf("key %d occurs in %d pairs, least is %d: %v", key, len(pairs), r.least, r.often[key])
			}
		}
	}
	if full == 0 || full == 300 {
		t.Errorf("%d of 300 did not fit", full)
	}
}
