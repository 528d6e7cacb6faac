// Package tuning says what each threshold would find in a corpus, by the matches of a sample of its
// documents: a distribution of their similarities, what each threshold would remove, how distances
// and similarities relate, and pairs to look at.
//
//	report.go  the figures
//	chart.go   for a terminal
//	page.go    as a page of HTML
package tuning

import (
	"cmp"
	"math"
	"slices"
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
	ID       string
	Distance int     // of fingerprints, in bits; -1 if there are none
	Score    float64 // Jaccard similarity; negative: less than MinScore, or not known
}

// Pair is two documents, and how alike they are.
type Pair struct {
	A, B         string // IDs, A < B
	Score        float64
	Distance     int
	TextA, TextB string // set by the caller; "" if texts are not kept
}

// Report is what the matches of a sample say. The zero Report is ready for use; the fields before
// Add is called are set by the caller.
type Report struct {
	Name      string // of the corpus
	Documents int64  // in the corpus
	Scored    bool   // matches have scores
	Exact     bool   // of texts, not of sketches
	Command   func(threshold string) string

	sampled  int64
	byScore  [bins]float64              // pairs of a sampled document and any other
	byBits   [MaxDistance + 1]float64   // the same, by distance
	removedT [bins]float64              // documents that would be removed at edge(bin)
	removedK [MaxDistance + 1]float64   // the same within that distance
	both     [MaxDistance + 1][bins]int // pairs at exactly that distance, in that bin
	unlike   [MaxDistance + 1]int       // pairs at that distance below MinScore
	far      [bins]int                  // pairs in that bin beyond MaxDistance
	low      [bins][]Pair               // those with the lowest scores of each bin
	high     [bins][]Pair               // those with the highest
	bits     [MaxDistance + 1][]Pair    // examples by distance, where there are no scores
}

// Examples is how many pairs at a threshold are shown.
const Examples = 10

// Add takes the matches of the next document of the sample.
func (r *Report) Add(id string, matches []Match) {
	r.sampled++
	var within [MaxDistance + 1]int // matches by distance
	var least [bins]int             // and by bin
	for _, m := range matches {
		scored := r.Scored && m.Score >= MinScore
		bin := 0
		if scored {
			bin = binOf(m.Score)
			least[bin]++
			r.byScore[bin]++
		}
		near := m.Distance >= 0 && m.Distance <= MaxDistance
		if near {
			within[m.Distance]++
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
		p := Pair{A: min(id, m.ID), B: max(id, m.ID), Score: m.Score, Distance: m.Distance}
		switch {
		case scored:
			r.low[bin] = kept(r.low[bin], p, byScore)
			r.high[bin] = kept(r.high[bin], p, func(x, y Pair) int { return byScore(y, x) })
		case near && !r.Scored:
			r.bits[m.Distance] = kept(r.bits[m.Distance], p, byScore)
		}
	}
	count := 0
	for k := range within {
		count += within[k]
		r.removedK[k] += share(count)
	}
	count = 0
	for b := bins - 1; b >= 0; b-- {
		count += least[b]
		r.removedT[b] += share(count)
	}
}

// share is what of a cluster of a document and its n matches is removed.
func share(n int) float64 { return float64(n) / float64(n+1) }

// byScore orders pairs by score, then by IDs.
func byScore(x, y Pair) int {
	return cmp.Or(cmp.Compare(x.Score, y.Score), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
}

// kept returns the first pairs of list and p, in order, each once.
func kept(list []Pair, p Pair, compare func(x, y Pair) int) []Pair {
	if len(list) == Examples && compare(p, list[len(list)-1]) >= 0 {
		return list
	}
	at, found := slices.BinarySearchFunc(list, p, compare)
	if found {
		return list
	}
	list = slices.Insert(list, at, p)
	return list[:min(len(list), Examples)]
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

// scaled is about how many pairs the corpus has, where the sample has that many: a pair is found
// from both its ends if all documents are searched for.
func (r *Report) scaled(pairs float64) float64 {
	return pairs / 2 * float64(r.Documents) / float64(max(r.sampled, 1))
}

// Boundary returns the pairs on both sides of the proposed threshold, in the order of their scores,
// for the caller to set their texts. With no scores they are those at distance k and one more.
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
