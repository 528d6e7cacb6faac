package tune

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/worddiff"
)

// MaxDistance is the greatest distance of 64-bit fingerprints that is examined, and MinScore the
// least similarity.
const (
	MaxDistance = 16
	MinScore    = 0.5
)

// bins is the number of equal intervals between MinScore and 1.
const bins = 10

// edge returns the least score of a bin; edge(bins) is 1.
func edge(bin int) float64 { return float64(10+bin) / 20 }

func binOf(score float64) int {
	b := int(math.Floor((score-MinScore)*2*bins + 1e-9)) // 0.8 belongs to the bin that starts there
	return min(max(b, 0), bins-1)
}

// Match is a document that resembles the sample document it was found for.
type Match struct {
	ID, Text string  // the Text may be ""
	Distance int     // of fingerprints, in bits; -1 if there are none
	Score    float64 // Jaccard similarity; negative: below MinScore, or unknown
}

// Pair is two documents with their similarity.
type Pair struct {
	A, B         string // IDs, A <= B
	Score        float64
	Distance     int
	TextA, TextB string // "" if texts are not stored
}

// Node represents the documents of a sample that are equal.
type Node = corpus.Node

// Report collects the matches of a sample. The zero Report is ready for use. Set the fields
// before reading results, and Scored before adding anything.
type Report struct {
	Documents int64  // in the corpus
	Scored    bool   // matches have scores: Jaccard similarities of the texts
	Words     int    // in a fingerprint, 64 bits each; 0 is 1. A step of distance is that many bits
	Nodes     []Node // nodes of the sample, by number

	sample  []sampled
	count   int64                      // documents in the sample
	byScore [bins]float64              // pairs of a sampled document and any other
	byBits  [MaxDistance + 1]float64   // the same, by distance
	both    [MaxDistance + 1][bins]int // pairs at exactly that distance, in that bin
	unlike  [MaxDistance + 1]int       // pairs at that distance below MinScore
	far     [bins]int                  // pairs in that bin beyond MaxDistance
	words   *worddiff.Tally            // of pairs from the default threshold of dedup up; nil if texts have no words
}

// sampled is a node of the sample (documents with equal features), with the number of matches of
// each of its documents.
type sampled struct {
	id, text string
	count    int
	within   [MaxDistance + 1]int32 // at exactly that distance
	alike    [bins]int32
	low      [bins]*Pair            // by bin: the pair with the lowest score
	high     [bins]*Pair            // by bin: the pair with the highest score
	bits     [MaxDistance + 1]*Pair // by distance: a pair at that distance, the first by ID
	symbols  bool                   // a match has the same words, but other symbols
}

// Examples is the number of pairs to show at a threshold.
const Examples = 10

// Add adds a node of count documents to the sample, and returns its number for Found, which must
// be called for all documents that resemble it, including its own. words says that a document has
// a score with itself.
func (r *Report) Add(id, text string, count int, words bool) (n int) {
	r.sample = append(r.sample, sampled{id: id, text: text, count: count})
	r.count += int64(count)
	n = len(r.sample) - 1
	itself := Match{Score: -1}
	if words {
		itself.Score = 1
	}
	r.tally(&r.sample[n], &itself, -1)
	return n
}

// Sampled returns the number of documents in the sample.
func (r *Report) Sampled() int64 { return r.count }

// Bits returns the number of bits in some steps.
func (r *Report) Bits(steps int) int { return steps * max(r.Words, 1) }

// steps converts a distance in bits to steps, rounding up; -1 if there is no distance.
func (r *Report) steps(distance int) int {
	if distance < 0 {
		return -1
	}
	words := max(r.Words, 1)
	return (distance + words - 1) / words
}

// tally adds one match to each document of a node, or removes one if one is -1.
func (r *Report) tally(s *sampled, m *Match, one int) (bin int, scored, near bool) {
	n := one * s.count
	if scored = r.Scored && m.Score >= MinScore; scored {
		bin = binOf(m.Score)
		s.alike[bin] += int32(one)
		r.byScore[bin] += float64(n)
	}
	at := r.steps(m.Distance)
	if near = at >= 0 && at <= MaxDistance; near {
		s.within[at] += int32(one)
		r.byBits[at] += float64(n)
	}
	switch {
	case near && scored:
		r.both[at][bin] += n
	case near:
		r.unlike[at] += n
	case scored:
		r.far[bin] += n
	}
	return bin, scored, near
}

// Found adds a match of node n of the sample. The caller may reuse the memory of m.
func (r *Report) Found(n int, m Match) {
	s := &r.sample[n]
	bin, scored, near := r.tally(s, &m, 1)
	if m.ID == s.id || m.Text != "" && m.Text == s.text {
		return // equal texts are not useful as an example
	}
	if scored && bin >= usual && r.words != nil && s.text != "" && m.Text != "" {
		if x, y := s.text, m.Text; len(x) < len(y) || len(x) == len(y) && x < y { // the same order for the same difference
			r.words.Add(x, y)
		} else {
			r.words.Add(y, x)
		}
	}
	p := Pair{A: s.id, B: m.ID, Score: m.Score, Distance: m.Distance, TextA: s.text, TextB: m.Text}
	if p.A > p.B {
		p.A, p.B, p.TextA, p.TextB = p.B, p.A, p.TextB, p.TextA
	}
	if scored {
		s.symbols = s.symbols || m.Score == 1 && !sameSymbols(s.text, m.Text)
		first(&s.low[bin], &p, byScore)
		first(&s.high[bin], &p, fromHighest)
	}
	if near {
		first(&s.bits[r.steps(m.Distance)], &p, byIDs)
	}
}

// sameSymbols reports whether two texts with the same words differ only in case, white space and
// ordinary punctuation.
func sameSymbols(a, b string) bool {
	symbols := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || unicode.IsSpace(r) || strings.ContainsRune(ordinary, r) {
				return -1
			}
			return r
		}, text)
	}
	return symbols(a) == symbols(b)
}

// ordinary holds the punctuation of running text.
const ordinary = ".,;:!?'\"()-–—‘’“”…"

// A Difference is the words in which pairs of similar documents differ: the shorter document has
// Lacks where the other one has Adds. Share is the share of the pairs.
type Difference struct {
	Lacks, Adds string
	Share       float64
}

// Differences returns the differences in words that three or more pairs have, of those with a score
// from the default threshold of dedup up: the most frequent ones, and the share of pairs with any.
func (r *Report) Differences(most int) (all []Difference, share float64) {
	if r.words == nil || r.words.Pairs == 0 {
		return nil, 0
	}
	recurring, pairs, _ := r.words.Recurring(3, most)
	n := float64(r.words.Pairs)
	for _, d := range recurring {
		all = append(all, Difference{d.Lacks, d.Adds, float64(d.Count) / n})
	}
	return all, float64(pairs) / n
}

// Symbols returns how many documents of the sample have a match with the same words but other
// symbols, such as operators.
func (r *Report) Symbols() (n int64) {
	for i := range r.sample {
		if r.sample[i].symbols {
			n += int64(r.sample[i].count)
		}
	}
	return n
}

// Cut returns the share of the sample's documents with at least that many matches just below the
// default threshold of dedup, and as many just above it.
func (r *Report) Cut(least int) float64 {
	var n int
	for i := range r.sample {
		if s := &r.sample[i]; min(s.alike[usual-1], s.alike[usual]) >= int32(least) {
			n += s.count
		}
	}
	return float64(n) / float64(max(r.count, 1))
}

// Unmatched reports whether a node of the sample has no match at the proposed threshold.
func (r *Report) Unmatched(n int) bool {
	for _, alike := range r.sample[n].alike[r.threshold():] {
		if alike > 0 {
			return false
		}
	}
	return true
}

// Criterion estimates the results of a threshold in the corpus: fingerprints within K bits, or
// scores from T up.
type Criterion struct {
	Share   Estimate // share of documents with a match
	Pairs   Estimate
	Removes Estimate // approximate share of documents that it would remove
	Example *Pair    // the least similar matching pair, nil if there is none
}

// Near returns the estimates for fingerprints within k bits.
func (r *Report) Near(k int) Criterion {
	c := r.criterion(func(s *sampled) []int32 { return s.within[:k+1] })
	for ; k >= 0 && c.Example == nil; k-- {
		for i := range r.sample {
			first(&c.Example, r.sample[i].bits[k], byIDs)
		}
	}
	return c
}

// AtLeast returns the estimates for scores from t up; t must be a multiple of 0.05, at least
// MinScore.
func (r *Report) AtLeast(t float64) Criterion {
	bin := binOf(t)
	c := r.criterion(func(s *sampled) []int32 { return s.alike[bin:] })
	for ; bin < bins && c.Example == nil; bin++ {
		for i := range r.sample {
			first(&c.Example, r.sample[i].low[bin], byScore)
		}
	}
	return c
}

// first sets *of to a copy of p if *of is nil or p comes before it. The copy has its own strings,
// only as much of the texts as is shown.
func first(of **Pair, p *Pair, compare func(x, y *Pair) int) {
	if p == nil || *of != nil && compare(p, *of) >= 0 {
		return
	}
	kept := *p
	kept.A, kept.B = strings.Clone(p.A), strings.Clone(p.B)
	kept.TextA, kept.TextB = excerpts(p.TextA, p.TextB)
	*of = &kept
}

// byScore orders pairs by score, then by IDs.
func byScore(x, y *Pair) int { return cmp.Or(cmp.Compare(x.Score, y.Score), byIDs(x, y)) }

// fromHighest orders pairs by score, the highest first, then by IDs.
func fromHighest(x, y *Pair) int { return cmp.Or(cmp.Compare(y.Score, x.Score), byIDs(x, y)) }

// byIDs orders pairs by their IDs.
func byIDs(x, y *Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) }

// excerpts returns as much of two texts as is shown, in new memory. For long texts this starts
// where they begin to differ.
func excerpts(x, y string) (string, string) {
	const most = 2000 // bytes
	if max(len(x), len(y)) > most {
		x, y = FromDifference(x, y)
	}
	cut := func(text string) string {
		if len(text) <= most {
			return strings.Clone(text)
		}
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return cut(x), cut(y)
}

// usual is the bin of dedup's default threshold.
const usual = 6 // the bin from 0.8 on

// Threshold returns the proposed similarity, if there are scores.
func (r *Report) Threshold() float64 { return edge(r.threshold()) }

// threshold returns the bin whose lower edge is proposed as threshold: 0.8, unless another edge
// from 0.7 to 0.9 has less than half as many pairs in the two bins around it.
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

// Distance returns the proposed distance in steps, if there are no scores: the greatest one up to
// 10 with at most 1 % accidental pairs.
func (r *Report) Distance() int {
	best, pairs := 0, 0.0
	for k := range 11 {
		pairs += r.byBits[k]
		if r.Chance(k) <= 0.01*r.scaled(pairs) {
			best = k
		}
	}
	return best
}

// Boundary returns the pairs just below and above the proposed threshold, in the order of their
// scores. Without scores it returns pairs at distance k and k+1. No document or text appears in
// two pairs.
func (r *Report) Boundary(k int) []*Pair {
	var below, above []*Pair
	used := map[string]bool{}
	add := func(to *[]*Pair, compare func(x, y *Pair) int, of func(*sampled) *Pair) {
		var all []*Pair
		for i := range r.sample {
			if p := of(&r.sample[i]); p != nil {
				all = append(all, p)
			}
		}
		slices.SortFunc(all, compare)
		for _, p := range all {
			names := []string{"id " + p.A, "id " + p.B, "text " + cmp.Or(p.TextA, p.A), "text " + cmp.Or(p.TextB, p.B)}
			if len(*to) < Examples/2 && !slices.ContainsFunc(names, func(n string) bool { return used[n] }) {
				*to = append(*to, p)
				for _, n := range names {
					used[n] = true
				}
			}
		}
	}
	if !r.Scored {
		add(&above, byIDs, func(s *sampled) *Pair { return s.bits[k] })
		if k < MaxDistance {
			add(&below, byIDs, func(s *sampled) *Pair { return s.bits[k+1] })
		}
		return append(above, below...)
	}
	t := r.threshold()
	for b := t; b < bins; b++ {
		add(&above, byScore, func(s *sampled) *Pair { return s.low[b] })
	}
	for b := t - 1; b >= 0; b-- {
		add(&below, fromHighest, func(s *sampled) *Pair { return s.high[b] })
	}
	all := append(above, below...)
	slices.SortStableFunc(all, func(x, y *Pair) int { return cmp.Compare(y.Score, x.Score) })
	return all
}

// Relation returns two shares: of the pairs within k steps, those at or above the threshold, and
// of the pairs at or above the threshold, those within k steps; NaN if there are none.
func (r *Report) Relation(k int) (precise, complete float64) {
	t := r.threshold()
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

// FromDifference drops the common beginning of two texts, except for a few words before they
// differ.
func FromDifference(x, y string) (string, string) {
	const before = 20 // bytes
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n == len(x) && n == len(y) {
		n = 0
	}
	from := strings.LastIndexByte(x[:max(n-before, 0)], ' ') + 1
	if from <= 1 {
		return x, y
	}
	return "…" + x[from:], "…" + y[from:]
}

// Brevity returns advice if the sample's documents are too short for shingles of words, else "",
// and the number of documents.
func (r *Report) Brevity(of engine.Features) (advice string, n int) {
	var few corpus.Brevity
	for _, node := range r.Nodes {
		for range node.Count {
			few.Add(node.Doc.Text)
		}
		n += node.Count
	}
	return few.Advice(features.Spec(of)), n
}
