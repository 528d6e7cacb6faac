package fuzz

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
)

// The measures, computed from their definitions in docs/format/fingerprints.md and docs/query.md.

var alone = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// A word of a text, with its place in bytes.
type word struct {
	text string
	at   int
}

// wordsOf returns the words that shingles are made of.
func wordsOf(text string) (words []word) {
	trimmed := strings.TrimSpace(text)
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }) {
		if trimmed != "" && !strings.ContainsRune(trimmed, unicode.ReplacementChar) {
			words = []word{{foldOf(trimmed) + "\xff", strings.Index(text, trimmed)}} // which no other word has
		}
		return words
	}
	const none, run, single = 0, 1, 2
	last := none // what the last word is, if it may continue
	for at, unfolded := range text {
		for _, r := range foldOf(string(unfolded)) {
			mark := unicode.Is(unicode.M, r)
			switch {
			case !unicode.In(r, unicode.L, unicode.M, unicode.N):
				last = none
			case !mark && unicode.In(r, alone...):
				words, last = append(words, word{string(r), at}), single
			case last == none || last == single && !mark:
				words, last = append(words, word{string(r), at}), run
			default:
				words[len(words)-1].text += string(r)
			}
		}
	}
	return words
}

// foldOf is full case folding. Package cases folds Cherokee to small letters, unlike Unicode.
func foldOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cherokee, r) {
			return unicode.ToUpper(r)
		}
		return r
	}, cases.Fold().String(text))
}

// key joins words so that no other words have the same key.
func key(words []word) (k string) {
	for _, w := range words {
		k += w.text + "\x00"
	}
	return k
}

// shinglesOf returns the set of shingles of k words.
func shinglesOf(text string, k int) map[string]bool {
	words, set := wordsOf(text), map[string]bool{}
	k = min(k, len(words))
	for i := 0; k > 0 && i+k <= len(words); i++ {
		set[key(words[i:i+k])] = true
	}
	return set
}

// common counts the elements that two sets share.
func common[E comparable](a, b map[E]bool) (n int) {
	for e := range a {
		if b[e] {
			n++
		}
	}
	return n
}

func jaccard[E comparable](a, b map[E]bool) float64 {
	n := common(a, b)
	return ratio(n, len(a)+len(b)-n)
}

// share returns the share of a that b has.
func share[E comparable](a, b map[E]bool) float64 { return ratio(common(a, b), len(a)) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// golden is the increment of SplitMix64, and mix its output function.
const golden = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashesOf returns the hashes of the shingles of k words, ascending.
func hashesOf(text string, k int) (hashes []uint64) {
	var words []uint64
	k0, k1 := mix(golden), mix(golden<<1&math.MaxUint64)|1
	for _, w := range wordsOf(text) {
		h := k1
		for bytes := append([]byte(w.text), make([]byte, -len(w.text)&15)...); len(bytes) > 0; bytes = bytes[16:] {
			high, low := bits.Mul64(binary.LittleEndian.Uint64(bytes)^k0, binary.LittleEndian.Uint64(bytes[8:])^h)
			h = high ^ low
		}
		words = append(words, h)
	}
	k = min(k, len(words))
	for i := 0; k > 0 && i+k <= len(words); i++ {
		sum := uint64(0)
		for _, h := range words[i : i+k] {
			sum = sum*0xbea225f9eb34556d + h
		}
		sum = (sum ^ sum>>32) * 0xd6e8feb86659fd93
		hashes = append(hashes, sum^sum>>29)
	}
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// estimate returns the similarity that sketches of size entries estimate: that of the hashes up to
// the end of the shorter full sketch.
func estimate(a, b string, k, size int) float64 {
	tau := uint64(math.MaxUint64)
	sets := [2]map[uint64]bool{{}, {}}
	for i, text := range []string{a, b} {
		for _, h := range hashesOf(text, k) {
			if sets[i][h>>32] = true; len(sets[i]) == size {
				tau = min(tau, h>>32)
			}
		}
	}
	maps.DeleteFunc(sets[0], func(h uint64, _ bool) bool { return h > tau })
	maps.DeleteFunc(sets[1], func(h uint64, _ bool) bool { return h > tau })
	return jaccard(sets[0], sets[1])
}

func cosine(a, b string) float64 {
	count := func(text string) map[string]int {
		n := map[string]int{}
		for _, w := range wordsOf(text) {
			n[w.text]++
		}
		return n
	}
	x, y := count(a), count(b)
	dot, xx, yy := 0, 0, 0
	for w, n := range x {
		dot, xx = dot+n*y[w], xx+n*n
	}
	for _, n := range y {
		yy += n * n
	}
	if dot == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(xx)*float64(yy))
}

// levenshtein is the textbook algorithm.
func levenshtein(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	if len(x)+len(y) == 0 {
		return 0
	}
	return 1 - ratio(row[len(y)], max(len(x), len(y)))
}

// printOf returns the fingerprint of a text, its first word first, nil for none.
func printOf(text string, shingle, words int) []uint64 {
	hashes, fp := hashesOf(text, shingle), make([]uint64, words)
	if len(hashes) == 0 {
		return nil
	}
	for j := range fp {
		votes := [64]int{}
		for _, h := range hashes {
			if j > 0 {
				h = mix(h + uint64(j)*golden)
			}
			for i := range votes {
				votes[i] += int(h >> i & 1)
			}
		}
		for i, n := range votes {
			if 2*n+i%2 > len(hashes) {
				fp[j] |= 1 << i
			}
		}
	}
	return fp
}

// distance returns the smallest distance between two of the fingerprints of documents.
func distance(a, b [][]uint64) (least int, ok bool) {
	for _, x := range a {
		for _, y := range b {
			d := 0
			for i := range x {
				d += bits.OnesCount64(x[i] ^ y[i])
			}
			if !ok || d < least {
				least, ok = d, true
			}
		}
	}
	return least, ok
}

// A relation is a list of items, in the order in which they are preferred, some of which match.
type relation struct {
	names []string
	match func(a, b int) (score float64, ok bool) // the greater the better; a distance is negative
	self  float64                                 // the score of an item with itself
	equal func(a, b int) bool                     // items that join a keeper together; nil for none
	size  func(a int) int                         // stars prefer larger items; nil for one size
	apart func(a, b int) bool                     // items that must not join each other; nil for none
}

// A pair of items, a < b.
type pair struct {
	a, b  string
	score float64
}

// A member of a cluster.
type member struct {
	cluster int
	id      string
	keep    bool
	score   float64
}

func (r *relation) pairs() (all []pair) {
	for b := range r.names {
		for a := range b {
			if score, ok := r.match(a, b); ok {
				all = append(all, pair{min(r.names[a], r.names[b]), max(r.names[a], r.names[b]), score})
			}
		}
	}
	slices.SortFunc(all, comparePairs)
	return all
}

func comparePairs(p, q pair) int {
	return cmp.Or(cmp.Compare(q.score, p.score), strings.Compare(p.a, q.a), strings.Compare(p.b, q.b))
}

func (r *relation) joins(a, b int) (float64, bool) {
	if r.apart != nil && r.apart(a, b) {
		return 0, false
	}
	return r.match(a, b)
}

// single reports whether an item is in no cluster although another one is equal.
func (r *relation) single(a int) bool {
	return r.apart != nil && slices.ContainsFunc(r.order(), func(b int) bool { return r.apart(a, b) })
}

func (r *relation) order() []int {
	order := make([]int, len(r.names))
	for i := range order {
		order[i] = i
	}
	if r.size != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.size(b), r.size(a)) })
	}
	return order
}

// stars returns the keeper of each item by the definition of false.
func (r *relation) stars() []int { return r.starsAfter(0, false) }

// starsAfter returns them if the first items, of a number, are keepers; with only, no others are
// joined.
func (r *relation) starsAfter(known int, only bool) []int {
	keeper := make([]int, len(r.names))
	var keepers, placed []int
	for _, n := range r.order() {
		keeper[n] = n
		if r.equal != nil && !r.single(n) && !only {
			if i := slices.IndexFunc(placed, func(m int) bool { return r.equal(n, m) }); i >= 0 {
				keeper[n] = keeper[placed[i]]
				continue
			}
			placed = append(placed, n)
		}
		best := math.Inf(-1)
		for _, k := range keepers {
			if score, ok := r.joins(n, k); ok && score > best && n >= known {
				keeper[n], best = k, score
			}
		}
		if keeper[n] == n && (n < known || !only) {
			keepers = append(keepers, n)
		}
	}
	return keeper
}

// components returns for each item the first one of its connected component.
func (r *relation) components() []int {
	keeper := make([]int, len(r.names))
	for n := range keeper {
		keeper[n] = n
	}
	for changed := true; changed; {
		changed = false
		for a := range keeper {
			for b := range keeper {
				if _, ok := r.joins(a, b); ok && a != b && keeper[b] < keeper[a] {
					keeper[a], changed = keeper[b], true
				}
			}
		}
	}
	return keeper
}

// clusters lists the members of the clusters of two or more items.
func (r *relation) clusters(keeper []int) (all []member) {
	of := map[int][]int{}
	for n, k := range keeper {
		of[k] = append(of[k], n)
	}
	keepers := slices.DeleteFunc(r.order(), func(k int) bool { return len(of[k]) < 2 })
	slices.SortFunc(keepers, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(of[b]), len(of[a])), strings.Compare(r.names[a], r.names[b]))
	})
	for i, k := range keepers {
		all = append(all, member{i + 1, r.names[k], true, r.self})
		slices.SortFunc(of[k], func(a, b int) int { return strings.Compare(r.names[a], r.names[b]) })
		for _, n := range of[k] {
			if n != k {
				score, _ := r.match(n, k)
				all = append(all, member{i + 1, r.names[n], false, score})
			}
		}
	}
	return all
}
