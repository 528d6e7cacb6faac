package setjoin

import (
	"cmp"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/textsim"
)

// A threshold is the least similarity of two matching sets. The first of two sets is the one
// being compared, the second is an entry of an index.
type threshold struct {
	t     float64
	ratio float64 // lower bound of the least overlap, as a share of the total size of both sets
	Measure
}

func newThreshold(t float64) threshold { return Measure{}.threshold(t) }

func (m Measure) threshold(t float64) threshold {
	ratio := t / (1 + t)
	switch m.Kind {
	case Sketches:
		ratio = t / 2 // a share t of the larger sketch
	case Contained:
		ratio = t // of the first set only
	}
	return threshold{t, ratio, m}
}

// higher returns the same threshold with another value.
func (t threshold) higher(than float64) threshold { return t.threshold(than) }

// score returns the Jaccard similarity of sets of these sizes that share common elements.
func score(x, y, common int) float64 { return float64(common) / float64(x+y-common) }

// score returns the similarity of sets of these sizes that share common elements.
func (t threshold) score(x, y, common int) float64 {
	if t.Kind == Contained {
		return float64(common) / float64(x)
	}
	return score(x, y, common)
}

// need returns the least overlap with which sets of these sizes match. It is exact and agrees
// with score. For sketches see minhash.JaccardAtLeast.
func (t threshold) need(x, y int) int {
	if t.N > 0 && max(x, y) >= t.N {
		return int(math.Ceil(t.t*float64(t.N) - 1e-6))
	}
	c := int(math.Ceil(t.ratio * float64(t.both(x, y))))
	for c > 1 && t.score(x, y, c-1) >= t.t {
		c--
	}
	for t.score(x, y, c) < t.t && c < x+y {
		c++
	}
	return c
}

// about returns need, or one less where rounding may interfere: for filters.
func (t threshold) about(x, y int) int {
	return int(math.Ceil(t.ratio*float64(t.both(x, y)) - 1e-6))
}

// both returns the size that ratio applies to.
func (t threshold) both(x, y int) int {
	if t.Kind == Contained {
		return x
	}
	return x + y
}

// long returns the length of the prefix of a set of size n: the smallest set that can match is a
// subset.
func (t threshold) long(n int) int {
	if n == 0 {
		return 0
	}
	least := int(math.Ceil(t.t * float64(n)))
	for least > 1 && float64(least-1)/float64(n) >= t.t {
		least--
	}
	for least < n && float64(least)/float64(n) < t.t {
		least++
	}
	return n - least + 1
}

// PrefixLen returns the length of prefixes for a set of size n: if the elements of all sets are
// sorted in one order, the prefixes of two sets with a Jaccard similarity of at least t share an
// element.
func PrefixLen(t float64, n int) int { return newThreshold(t).long(n) }

// short returns the length of the first part of that prefix, which suffices for sets that are no
// smaller: a larger set requires more overlap, not less. The exception is a full sketch, for
// which the first part is the whole prefix.
func (t threshold) short(n int) int {
	if n == 0 {
		return 0
	}
	return n - t.need(n, n) + 1
}

// postings returns the approximate number of keys in the prefixes of all sets, or more.
func (t threshold) postings(s *Sets) int64 {
	switch {
	case t.Kind == Cosine || t.Kind == Contained:
		return int64(s.n)
	case t.Kind == Weighted: // half the numbers are weights
		return int64(s.n) / 2
	case t.byLength():
		return int64(s.Len())
	}
	return int64(float64(s.n)*(1-t.t)) + int64(s.Len())
}

type prefix struct {
	keys  []uint64 // ascending; for Edits, places of pieces
	look  int      // keys to look up: with Contained the index has all keys of a set
	next  int      // the key from which a search continues
	alone int      // elements that are in no other set and come before the keys: keys[i] is at position alone+i
	size  int      // of the set
	short int      // positions below this are in the first part
	rests []uint32 // Cosine, Weighted: by key, the weight from it on, as a share of restOne
	whole bool     // there is no second part

	pieces int      // Edits: pieces for the index, including those that no other text has
	runs   []uint64 // Edits: places of runs, ascending

	signature textsim.Signature // Edits by length
	signed    bool

	bitmap    bitmap
	hasBitmap bool    // not for Edits and Weighted
	length    float64 // Cosine, Weighted: sum of the weights

	few       bool                   // Cosine: only a few entries of each node that has many are wanted
	connected func(part uint32) bool // Cosine: whether the set is connected with this part; nil if irrelevant

	set     []uint64 // Jaccard, Sketches: the elements
	visited int      // number of elements of entries that it has visited
	parted  int      // part of visited: by parts
	sum     uint64   // Components: sum of the elements that other sets may have, too
}

// unique reports whether no other set has an element of the prefix: then the set matches nothing.
// For Edits it is always false, as the elements that find a text differ from those that it looks
// up.
func (p *prefix) unique() bool { return len(p.keys) == 0 && p.pieces == 0 }

// rest returns the number of elements from key i on; or the share in rests.
func (p *prefix) rest(i int) uint32 {
	if p.rests != nil {
		return p.rests[i]
	}
	return uint32(p.size - p.alone - i)
}

// node returns an index's node for key i: its tag, and the rest that candidates are checked by.
func (p *prefix) node(x *index, i int) (tag, rest uint32) {
	key := p.keys[i]
	if p.pieces > 0 {
		return place(key).tag(), uint32(p.size - place(key).position())
	}
	tag = tagOf(key)
	if !p.first(i) {
		tag = x.second(tag)
	}
	return tag, p.rest(i)
}

// first reports whether key i is in the first part.
func (p *prefix) first(i int) bool { return p.whole || p.alone+i < p.short }

// prefixer makes prefixes; it is scratch memory of one goroutine.
type prefixer struct {
	counts *counts
	t      threshold
	keys   []uint64
	words  []weighted
	signer *textsim.Signer // nil until it is used
	sums   bool            // compute prefix.sum
}

// of appends the keys of a set's prefix to dst.
func (p *prefixer) of(set, dst []uint64) (prefix, []uint64) {
	switch p.t.Kind {
	case Cosine, Weighted:
		return p.weightPrefix(set, dst)
	case Edits:
		return p.textPrefix(set, dst)
	}
	f := prefix{size: len(set), short: p.t.short(len(set)), set: set}
	n := p.t.long(len(set))
	most := n // limit of keys in the index
	if f.whole = p.t.Kind == Contained; f.whole {
		most = len(set) + 1
	}
	ok := false
	if p.keys, ok = p.counts.appendShared(p.keys[:0], set, most); !ok {
		return f, dst
	}
	f.alone = len(set) - len(p.keys)
	if p.sums {
		for _, e := range p.keys {
			f.sum += e
		}
	}
	p.counts.rank(p.keys)
	from := len(dst)
	most = min(most-f.alone, len(p.keys))
	dst = appendLeast(dst, p.keys, most)
	f.keys = dst[from:len(dst):len(dst)]
	f.look = min(max(0, n-f.alone), most)
	f.bitmap, f.hasBitmap = bitmapOf(set, 0), true
	return f, dst
}

// appendLeast appends the n smallest keys in order. The keys of each rank must be ascending, as they
// are if the elements were.
func appendLeast(dst, keys []uint64, n int) []uint64 {
	const few = 24
	from := len(dst)
	if len(keys) < few {
		dst = append(dst, keys...)
		slices.Sort(dst[from:])
		return dst[:from+n]
	}
	var next [1 << 8]uint32 // by rank: the place of its next key
	for _, k := range keys {
		next[uint8(k>>hashBits)]++
	}
	sum := uint32(0)
	for rank, c := range next {
		next[rank] = sum
		sum += c
	}
	dst = slices.Grow(dst, len(keys))[:from+len(keys)]
	to := dst[from:]
	for _, k := range keys {
		at := &next[uint8(k>>hashBits)]
		to[*at] = k
		*at++
	}
	return dst[:from+n]
}

// weightPrefix implements prefixer.of for sets with weights. Let k be the first common key of two
// matching sets. Their common keys are from k on. For Cosine, the product of their rests at k is
// therefore at least t² times the product of their squared lengths, and no rest exceeds the whole.
// For Weighted see mayBeWeighted; the first part of the prefix meets sets of no smaller sum.
func (p *prefixer) weightPrefix(set, dst []uint64) (prefix, []uint64) {
	f := prefix{size: len(set), whole: p.t.Kind == Cosine, rests: []uint32{}}
	p.keys, p.words = p.keys[:0], p.words[:0]
	left, cut, first := 0.0, p.t.t*(1-rounding), 2*p.t.t/(1+p.t.t)*(1-rounding)
	if p.t.Kind == Cosine {
		cut = cosineCut(p.t.t)
		f.length, f.bitmap, f.hasBitmap = length(set), bitmapOf(set, weightBits), true
		p.keys, _ = p.counts.appendShared(p.keys, set, len(set)+1)
		for _, e := range p.keys {
			p.words = append(p.words, weighted{weight: squareOf(e)})
		}
	} else {
		f.length = features.Weighted(set).Total()
		for i, e := range features.Weighted(set).Hashes() {
			if p.counts.shared(e) {
				p.keys, p.words = append(p.keys, e), append(p.words, weighted{weight: features.Weighted(set).Weight(i)})
			}
		}
	}
	p.counts.rank(p.keys)
	for i, key := range p.keys {
		p.words[i].key = key
		left += p.words[i].weight
	}
	slices.SortFunc(p.words, func(a, b weighted) int { return cmp.Compare(a.key, b.key) })
	from := len(dst)
	for _, w := range p.words {
		if left < cut*f.length {
			break
		}
		if left >= first*f.length {
			f.short++
		}
		dst = append(dst, w.key)
		f.rests = append(f.rests, uint32(min(left/f.length*restOne, restOne)))
		left -= w.weight
	}
	f.keys = dst[from:len(dst):len(dst)]
	f.look = len(f.keys)
	return f, dst
}

// byLength reports whether texts are found only by length.
func (t threshold) byLength() bool { return t.Q == 1 }

// A place is the place of a run in a text: the upper half is the run's tag, the lower half its
// position.
type place uint64

func placeOf(tag uint32, position int) place { return place(tag)<<32 | place(uint32(position)) }

func (p place) tag() uint32 { return uint32(p >> 32) }

func (p place) position() int { return int(uint32(p)) }

// A reach bounds the differences between a text of some length and another text.
type reach struct {
	edits         int32
	before, after int32 // how far a piece may be before or after the equal run
}
