// Package tuning says what each threshold would find in a corpus, by the matches of a sample of its
// documents: a distribution of their similarities, what each threshold would remove, how distances
// and similarities relate, and pairs to look at.
//
//	report.go    the figures
//	estimate.go  what a sample says of all documents, and how sure it is
//	chart.go     for a terminal
//	page.go      as a page of HTML
package tuning

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// MaxDistance is the greatest distance that is looked at, and MinScore the least similarity.
const (
	MaxDistance = 16
	MinScore    = 0.5
)

// bins are how many equal parts scores from MinScore to 1 fall into.
const bins = 10

// edge is the least score of a bin; that of bin bins is 1.
func edge(bin int) float64 { return float64(10+bin) / 20 }

// binOf returns the bin of a score.
func binOf(score float64) int {
	b := int(math.Floor((score-MinScore)*2*bins + 1e-9)) // 0.8 is in the bin that begins there
	return min(max(b, 0), bins-1)
}

// Match is a document like the one of the sample that it was found for.
type Match struct {
	ID, Text string  // the Text may be ""
	Distance int     // of fingerprints, in bits; -1 if there are none
	Score    float64 // Jaccard similarity; negative: less than MinScore, or not known
}

// Pair is two documents, and how alike they are.
type Pair struct {
	A, B         string // IDs, A <= B
	Score        float64
	Distance     int
	TextA, TextB string // "" if texts are not kept
}

// Report is what the matches of a sample say. The zero Report is ready for use; the fields are set
// by the caller, Documents at the latest before it is read.
type Report struct {
	Name      string // of the corpus
	Documents int64  // in the corpus
	Scored    bool   // matches have scores
	Exact     bool   // of texts, not of sketches
	Command   func(threshold string) string

	sample  []sampled
	byScore [bins]float64              // pairs of a sampled document and any other
	byBits  [MaxDistance + 1]float64   // the same, by distance
	both    [MaxDistance + 1][bins]int // pairs at exactly that distance, in that bin
	unlike  [MaxDistance + 1]int       // pairs at that distance below MinScore
	far     [bins]int                  // pairs in that bin beyond MaxDistance
	low     [bins][]Pair               // those with the lowest scores of each bin
	high    [bins][]Pair               // those with the highest
	bits    [MaxDistance + 1][]Pair    // some by distance, the first ones by ID
}

// sampled is a document of the sample, and how many matches it has.
type sampled struct {
	id, text string
	within   [MaxDistance + 1]int32 // at exactly that distance
	alike    [bins]int32
}

// Examples is how many pairs at a threshold are shown.
const Examples = 10

// Add adds a document to the sample, with matches, and returns its number for Found.
func (r *Report) Add(id, text string, matches []Match) (n int) {
	r.sample = append(r.sample, sampled{id: id, text: text})
	n = len(r.sample) - 1
	for _, m := range matches {
		r.Found(n, m)
	}
	return n
}

// Sampled returns how many documents the sample has.
func (r *Report) Sampled() int64 { return int64(len(r.sample)) }

// Found takes a match of document n of the sample. What it refers to may change afterwards.
func (r *Report) Found(n int, m Match) {
	s := &r.sample[n]
	scored := r.Scored && m.Score >= MinScore
	bin := 0
	if scored {
		bin = binOf(m.Score)
		s.alike[bin]++
		r.byScore[bin]++
	}
	near := m.Distance >= 0 && m.Distance <= MaxDistance
	if near {
		s.within[m.Distance]++
		r.byBits[m.Distance]++
	}
	switch {
	case near && scored:
		r.both[m.Distance][bin]++
	case near:
		r.unlike[m.Distance]++
	case scored:
		r.far[bin]++
	}
	p := Pair{A: s.id, B: m.ID, Score: m.Score, Distance: m.Distance, TextA: s.text, TextB: m.Text}
	if p.A > p.B {
		p.A, p.B, p.TextA, p.TextB = p.B, p.A, p.TextB, p.TextA
	}
	if scored {
		r.low[bin] = kept(r.low[bin], p, byScore)
		r.high[bin] = kept(r.high[bin], p, func(x, y Pair) int { return cmp.Or(cmp.Compare(y.Score, x.Score), byIDs(x, y)) })
	}
	if near {
		r.bits[m.Distance] = kept(r.bits[m.Distance], p, byIDs)
	}
}

// Criterion is what a threshold finds in the corpus: fingerprints within K bits, or scores from T
// on.
type Criterion struct {
	Share   Estimate // of the documents, that have a match
	Pairs   Estimate
	Removes Estimate // of the documents, about the share that it would remove
	Example *Pair    // the least similar pair that meets it, nil if there is none
}

// Near returns what fingerprints within k bits find.
func (r *Report) Near(k int) Criterion {
	c := r.criterion(func(s *sampled) (n int64) {
		for _, within := range s.within[:k+1] {
			n += int64(within)
		}
		return n
	})
	for ; k >= 0 && c.Example == nil; k-- {
		c.Example = first(r.bits[k])
	}
	return c
}

// Alike returns what scores from t on find, t being a multiple of 0.05 from MinScore on.
func (r *Report) Alike(t float64) Criterion {
	bin := binOf(t)
	c := r.criterion(func(s *sampled) (n int64) {
		for _, alike := range s.alike[bin:] {
			n += int64(alike)
		}
		return n
	})
	for ; bin < bins && c.Example == nil; bin++ {
		c.Example = first(r.low[bin])
	}
	return c
}

// first returns the first of some pairs, or nil.
func first(list []Pair) *Pair {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// byScore orders pairs by score, then by IDs.
func byScore(x, y Pair) int { return cmp.Or(cmp.Compare(x.Score, y.Score), byIDs(x, y)) }

// byIDs orders pairs by their IDs.
func byIDs(x, y Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) }

// kept returns the first pairs of list and p, in order, each once, with strings of their own.
func kept(list []Pair, p Pair, compare func(x, y Pair) int) []Pair {
	if len(list) == Examples && compare(p, list[len(list)-1]) >= 0 {
		return list
	}
	at, found := slices.BinarySearchFunc(list, p, compare)
	if found {
		return list
	}
	p.A, p.B, p.TextA, p.TextB = strings.Clone(p.A), strings.Clone(p.B), Beginning(p.TextA), Beginning(p.TextB)
	list = slices.Insert(list, at, p)
	return list[:min(len(list), Examples)]
}

// Beginning returns as much of a text as is shown, in memory of its own.
func Beginning(text string) string {
	const most = 20000 // bytes
	if len(text) <= most {
		return strings.Clone(text)
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// usual is the threshold of dedup without flags.
const usual = 6 // the bin from 0.8 on

// threshold returns the bin whose lower edge is proposed as threshold: that of 0.8, unless at
// another one from 0.7 to 0.9 there are less than half as many pairs on both sides.
func (r *Report) threshold() int {
	at := func(bin int) float64 { return r.byScore[bin-1] + r.byScore[bin] }
	best := usual
	for b := usual - 2; b <= usual+2; b++ {
		if at(b) < at(best) {
			best = b
		}
	}
	if 2*at(best) < at(usual) {
		return best
	}
	return usual
}

// Distance returns the distance that is proposed where there are no scores: the greatest one up to
// 10 at which at most 1 % of the pairs are by chance.
func (r *Report) Distance(chance func(k int) float64) int {
	best, pairs := 0, 0.0
	for k := range 11 {
		pairs += r.byBits[k]
		if chance(k) <= 0.01*r.scaled(pairs) {
			best = k
		}
	}
	return best
}

// Boundary returns the pairs on both sides of the proposed threshold, in the order of their scores.
// With no scores they are those at distance k and one more.
func (r *Report) Boundary(k int) []*Pair {
	var below, above []*Pair
	add := func(to *[]*Pair, list []Pair) {
		for i := range list {
			if len(*to) < Examples/2 {
				*to = append(*to, &list[i])
			}
		}
	}
	if !r.Scored {
		add(&above, r.bits[k])
		if k < MaxDistance {
			add(&below, r.bits[k+1])
		}
		return append(above, below...)
	}
	t := r.threshold()
	for b := t; b < bins; b++ {
		add(&above, r.low[b])
	}
	for b := t - 1; b >= 0; b-- {
		add(&below, r.high[b])
	}
	all := append(above, below...)
	slices.SortStableFunc(all, func(x, y *Pair) int { return cmp.Compare(y.Score, x.Score) })
	return all
}

// distances are those that the relation of distances and similarities is shown for.
var distances = []int{0, 3, 6, 10, 16}

// relation is what of the pairs within k bits is at least as similar as the threshold, and what of
// the pairs as similar as that is within k bits; NaN of none.
func (r *Report) relation(k, t int) (precise, complete float64) {
	var within, alike, all float64
	for d := range MaxDistance + 1 {
		for b := range bins {
			n := float64(r.both[d][b])
			if b >= t {
				all += n
			}
			if d <= k {
				if within += n; b >= t {
					alike += n
				}
			}
		}
		if d <= k {
			within += float64(r.unlike[d])
		}
	}
	for b := t; b < bins; b++ {
		all += float64(r.far[b])
	}
	return alike / within, alike / all
}
