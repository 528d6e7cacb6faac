package rulejoin

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup/internal/corpus"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/pairrule"
)

// recursIn says for models whether the difference of two documents in a field recurs.
var recursIn func(field string, a, b *doc) bool

// wordsOf returns how often a text has each word.
func wordsOf(text string) map[string]int {
	n := map[string]int{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) }) {
		n[w]++
	}
	if text = strings.TrimSpace(text); len(n) == 0 && text != "" {
		n[text]++ // a text without words is one
	}
	return n
}

// differ returns the words that only one of two texts has, with how often it has them more often.
func differ(x, y string) (lacks, adds map[string]int) {
	less := func(one, other map[string]int) map[string]int {
		d := map[string]int{}
		for w, n := range one {
			if n > other[w] {
				d[w] = n - other[w]
			}
		}
		return d
	}
	return less(wordsOf(x), wordsOf(y)), less(wordsOf(y), wordsOf(x))
}

// named names what is different, the same for both orders; "" if it is nothing, or too much.
func named(lacks, adds map[string]int) string {
	total := 0
	for _, d := range []map[string]int{lacks, adds} {
		for _, n := range d {
			total += n
		}
	}
	if total == 0 || total > 12 {
		return ""
	}
	sides := []string{fmt.Sprint(lacks), fmt.Sprint(adds)}
	slices.Sort(sides)
	return strings.Join(sides, " against ")
}

// countRecurring sets recursIn by brute force: it counts the pairs of documents, with other words in
// both, that match by the rule if the differences in each field either recur or do not.
func countRecurring(docs []doc, rule model) {
	fields := []string{"", "text", "name"}
	pairs, each := map[string]map[string]map[string]bool{}, map[string]map[string]map[string]bool{}
	for _, f := range fields {
		pairs[f], each[f] = map[string]map[string]bool{}, map[string]map[string]bool{}
	}
	note := func(of map[string]map[string]bool, key, pair string) {
		if of[key] == nil {
			of[key] = map[string]bool{}
		}
		of[key][pair] = true
	}
	for i := range docs {
		for j := i + 1; j < len(docs); j++ {
			a, b := &docs[i], &docs[j]
			matches := false
			for set := range 1 << len(fields) {
				recursIn = func(field string, _, _ *doc) bool { return set>>slices.Index(fields, field)&1 > 0 }
				s, _ := rule(a, b)
				matches = matches || s >= 0
			}
			for _, f := range fields {
				lacks, adds := differ(a.field(f), b.field(f))
				name, both := named(lacks, adds), []string{fmt.Sprint(wordsOf(a.field(f))), fmt.Sprint(wordsOf(b.field(f)))}
				if slices.Sort(both); !matches || name == "" {
					continue
				}
				note(pairs[f], name, strings.Join(both, "|"))
				for _, d := range []map[string]int{lacks, adds} {
					for w := range d {
						note(each[f], w, strings.Join(both, "|"))
					}
				}
			}
		}
	}
	recursIn = func(f string, a, b *doc) bool {
		lacks, adds := differ(a.field(f), b.field(f))
		name := named(lacks, adds)
		if name == "" || len(pairs[f][name]) >= 3 {
			return name != ""
		}
		for w := range maps.Keys(lacks) {
			if len(each[f][w]) < 5 {
				return false
			}
		}
		for w := range maps.Keys(adds) {
			if len(each[f][w]) < 5 {
				return false
			}
		}
		return true
	}
}

// TestRecurring compares the pairs of catalogues with brute force: a few things, each in some
// variants, where a variant occurs about as often as a difference must to recur.
func TestRecurring(t *testing.T) {
	rule, err := pairrule.Parse("a.year = b.year AND NOT DIFFERS(name, RECURRING)")
	if err != nil {
		t.Fatal(err)
	}
	year := func(a, b *doc) (float64, float64) { return equal(a.year == b.year) }
	left, none := 0, 0
	seed := exhaustive.Seed(t)
	for i := range 400 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		var docs []doc
		for n := range 1 + rng.IntN(6) {
			for range 1 + rng.IntN(3) {
				name := fmt.Sprintf("thing%d", n)
				for range rng.IntN(3) {
					name += " " + []string{"left", "right", "rear", "left rear"}[rng.IntN(4)]
				}
				docs = append(docs, doc{name: name, year: fmt.Sprint(n)})
			}
		}
		rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		c := build(t, rule, docs, rng.IntN(2) == 0)
		countRecurring(docs, year)
		o := JoinOptions{JoinOptions: corpus.JoinOptions{Memory: 1 << 20, Progress: func(engine.Progress) {}}}
		got := map[pair]bool{}
		if err := c.Pairs(context.Background(), o, func(a, b uint32, _ float64) bool { got[pair{a, b}] = true; return true }); err != nil {
			t.Fatal(err)
		}
		for a := range docs {
			for b := a + 1; b < len(docs); b++ {
				x, y := &docs[a], &docs[b]
				want := x.year == y.year && !recursIn("name", x, y)
				if got[pair{uint32(a), uint32(b)}] != want {
					t.Fatalf("%v: %d and %d: want %v", docs, a, b, want)
				}
				if x.year == y.year && want {
					left++
				} else if x.year == y.year {
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
