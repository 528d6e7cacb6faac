package learn

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/worddiff"
)

// Candidates are pairs of different texts whose first measure is at least leastScore, and, if texts
// are short on average, pairs of some documents with any other whose last measure, of characters, is
// at least leastChars. Of each interval of 0.05 a sample of mostPairs is drawn. If there are more than
// mostByWords pairs of the first kind, as among pages of one template, they are those of fewer texts.
const (
	leastScore  = 0.5
	leastChars  = 0.2
	mostPairs   = 150
	mostByWords = 100_000

	shortBytes = 200 // average length of short texts
	someDocs   = 300 // documents whose neighbours by characters are looked for
	intervals  = 20
)

// A stratum is a sample of the pairs with scores in an interval.
type stratum struct {
	pairs [][2]int
	n     int
}

// add adds a pair by reservoir sampling (Vitter, "Random sampling with a reservoir", 1985).
func (s *stratum) add(r *rand.Rand, a, b int) {
	if s.n++; len(s.pairs) < mostPairs {
		s.pairs = append(s.pairs, [2]int{a, b})
	} else if i := r.IntN(s.n); i < mostPairs {
		s.pairs[i] = [2]int{a, b}
	}
}

// strata are samples of pairs by score.
type strata [intervals + 1]stratum

func (s *strata) add(r *rand.Rand, a, b int, score float64) { s[int(score*intervals)].add(r, a, b) }

// findPairs sets the candidates, and counts differences that recur.
func (c *Corpus) findPairs(ctx context.Context) (err error) {
	texts, at, bytes := []string(nil), []int(nil), 0
	seen := map[string]bool{}
	for i := range c.docs {
		if t := c.docs[i].Text; t != "" && !seen[t] {
			seen[t] = true
			texts, at, bytes = append(texts, t), append(at, i), bytes+len(t)
		}
	}
	r := rand.New(rand.NewPCG(c.o.Seed, 3))
	var strata [2]strata
	scales := [2]float64{1, 1} // how many pairs of all texts a pair stands for
	if strata[0], scales[0], err = c.byWords(ctx, r, texts, at); err != nil {
		return err
	}
	if len(texts) > 0 && bytes/len(texts) <= shortBytes {
		scales[1] = c.byChars(ctx, r, texts, func(a, b int, score float64) { strata[1].add(r, at[a], at[b], score) })
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	var found [][3]int
	for kind := range strata {
		for i := range strata[kind] {
			s := &strata[kind][i]
			for _, p := range s.pairs {
				found = append(found, [3]int{p[0], p[1], kind*len(strata[kind]) + i})
			}
		}
	}
	slices.SortFunc(found, func(x, y [3]int) int { return slices.Compare(x[:], y[:]) })
	for _, p := range found {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		x := c.traits(p[0], p[1])
		kind, i := p[2]/(intervals+1), p[2]%(intervals+1)
		s := &strata[kind][i]
		if kind == 1 && x.scores[0] >= leastScore {
			continue // it is found by words
		}
		x.weight = scales[kind] * float64(s.n) / float64(len(s.pairs))
		c.pairs = append(c.pairs, x)
	}
	r.Shuffle(len(c.pairs), func(i, j int) { c.pairs[i], c.pairs[j] = c.pairs[j], c.pairs[i] })
	return nil
}

// byWords returns samples of the pairs of texts whose first measure is at least leastScore, and how many
// pairs of all texts a pair stands for. It counts the differences that recur. With more than
// mostByWords pairs it begins again with a quarter of the texts.
func (c *Corpus) byWords(ctx context.Context, r *rand.Rand, texts []string, at []int) (found strata, scale float64, err error) {
	of := &dedup.Options{Features: engine.Features(c.params.Features), Shingle: c.params.Shingle, Unordered: true, Memory: c.o.Memory}
	bags := [2]*worddiff.Bagger{worddiff.NewBagger(c.params.Features), worddiff.NewBagger(c.params.Features)}
	some, draw := ordered.Numbers(len(texts)), rand.New(rand.NewPCG(c.o.Seed, 4))
	text := func(yield func(string) bool) {
		for _, n := range some {
			if !yield(texts[n]) {
				return
			}
		}
	}
	for {
		var lacks, adds, words worddiff.Bag
		last, pairs := -1, 0
		for p, err := range dedup.Texts(text, of).Pairs(ctx, engine.Jaccard(leastScore)) {
			if err != nil {
				return found, 0, err
			}
			if pairs++; pairs > mostByWords {
				break
			}
			a, b := some[p.A], some[p.B]
			found.add(r, at[a], at[b], p.Score)
			if p.A != last {
				last, words = p.A, bags[0].Bag(texts[a])
			}
			lacks, adds = worddiff.AppendDifference(lacks[:0], adds[:0], words, bags[1].Bag(texts[b]))
			c.recur.add(lacks, adds, float32(p.Score))
		}
		if pairs <= mostByWords {
			all := float64(len(texts)) / float64(max(len(some), 1))
			return found, all * all, nil
		}
		found, c.recur = strata{}, recurring{}
		draw.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:len(some)/4]
		slices.Sort(some)
	}
}

// byChars calls found for pairs of a sample of texts with any other text that have many runs of three
// characters in common, unless the context ends. It returns how many pairs of all texts a pair stands for.
func (c *Corpus) byChars(ctx context.Context, r *rand.Rand, texts []string, found func(a, b int, score float64)) (scale float64) {
	spec := c.params.Features
	spec.Unit, spec.RequireWords = features.Chars, nil
	hash := features.NewSetHasher(spec, 3, c.params.Seed)
	drawn := r.Perm(len(texts))
	drawn = drawn[:min(someDocs, len(drawn))]
	slices.Sort(drawn)
	with, sizes := map[uint64][]int32{}, make([]int, len(drawn)) // the drawn texts by run, and their numbers of runs
	for i, n := range drawn {
		set := hash.Brief([]byte(texts[n]))
		sizes[i] = len(set)
		for _, e := range set {
			with[e] = append(with[e], int32(i))
		}
	}
	common := make([]int, len(drawn))
	for b, text := range texts {
		if b%256 == 0 && ctx.Err() != nil {
			return 0 // the caller reports it
		}
		set := hash.Brief([]byte(text))
		for _, e := range set {
			for _, i := range with[e] {
				common[i]++
			}
		}
		_, isDrawn := slices.BinarySearch(drawn, b)
		for i, n := range common {
			common[i] = 0
			if a := drawn[i]; a != b && n > 0 && (a < b || !isDrawn) {
				if score := float64(n) / float64(len(set)+sizes[i]-n); score >= leastChars {
					found(min(a, b), max(a, b), score)
				}
			}
		}
	}
	all, some := float64(len(texts)), float64(len(drawn))
	if some == all {
		return 1
	}
	return all * (all - 1) / (some*(some-1) + 2*some*(all-some))
}
