// Package oddsketch tells sets that cannot be similar apart by 32 bytes each: odd sketches
// (Mitzenmacher, Pagh, Pham, "Efficient Estimation for High Similarities using Odd Sketches", WWW
// 2014) with the size of the set.
//
// An odd sketch has a bit for each of a number of bins, which is 1 if the bin has an odd number of
// elements. The sketches of two sets differ in the bins that have an odd number of elements of their
// symmetric difference, so that they differ in at most as many bits as the sets do in elements. If
// the sets have a Jaccard similarity of t or more, their difference is small: at most
// (a+b)(1-t)/(1+t) elements for sizes a and b. A sketch that differs in more bits is rejected, and
// this is never wrong.
//
// Large sets would fill all bins. Their sketches have a sample of the elements, and the limit is one
// that sets of similarity t exceed with a probability of at most minhash.Miss.
package oddsketch

import (
	"math"
	"math/bits"

	"github.com/simdb/simdb/minhash"
)

// A Sketch is the odd sketch of a set:
//
//	word 3                            word 2         word 1         word 0
//	+------------------+--------------+--------------+--------------+--------------+
//	| code of size   8 | bins      56 | bins      64 | bins      64 | bins      64 |
//	+------------------+--------------+--------------+--------------+--------------+
//
// Bin i is bit i%64 of word i/64. The code c says that the set has at most 2^((c-1)/8) elements, and
// more than code c-1 says; 255 has no limit. The code 0, with which all bits are zero, is that of a
// set that is unknown or empty.
//
// Elements are 64-bit hashes h. With m = mix(h), the bin is the upper half of m times 248, divided by
// 2^32. A set has a level, which depends on its code: 0 up to the code 70, then 2 for 71 to 78, 3 for
// 79 to 86 and so on, at most 15. Its sketch has the elements for which m ends with that many zero
// bits.
type Sketch [4]uint64

const (
	bins    = 248
	maxCode = 255
	levels  = 16
	// fullCode is the greatest code of level 0, which is of sets of up to 394 elements. Sets of 500
	// would fill so many bins that at 0.8 a similarity of 0.5 would not be rejected. Sketches of larger
	// sets have 99 to 197 elements, since their limits are uncertain: TestRejects has the shares that
	// are rejected, which fall with 50 or 400 elements.
	fullCode = 70
	perLevel = 8 // codes

	codeShift = 56
	codeMask  = maxCode << codeShift
)

// ends has the maximum number of elements of a set with each code.
var ends = func() (ends [maxCode + 1]int) {
	for c := 1; c < maxCode; c++ {
		ends[c] = int(math.Exp2(float64(c-1) / 8))
	}
	ends[maxCode] = math.MaxInt
	return ends
}()

// codeOf returns the code of a set of n elements.
func codeOf(n int) int {
	if n == 0 {
		return 0
	}
	c := min(8*(bits.Len(uint(n))-1)+1, maxCode) // ends[c] is at most n, or c is the last code
	for ends[c] < n {
		c++
	}
	for ends[c-1] >= n { // several small codes have the same end
		c--
	}
	return c
}

// levelOf returns the level of a set with a code.
func levelOf(code int) int {
	if code <= fullCode {
		return 0
	}
	return min((code-fullCode-1)/perLevel+2, levels-1)
}

// mix spreads a hash over 64 bits, since not all bits of a given hash need be random.
func mix(h uint64) uint64 {
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// Of returns the sketch of a set of distinct elements.
func Of(set []uint64) Sketch {
	code := codeOf(len(set))
	s := atLevel(set, levelOf(code))
	s[3] |= uint64(code) << codeShift
	return s
}

// atLevel returns the sketch of a set at a level, without a code.
func atLevel(set []uint64, level int) (s Sketch) {
	sampled := uint64(1)<<level - 1 // the bits that are zero in elements of the sample
	for _, h := range set {
		m := mix(h)
		bit := uint64(0)
		if m&sampled == 0 {
			bit = 1
		}
		bin := (m >> 32) * bins >> 32
		s[bin>>6&3] ^= bit << (bin & 63)
	}
	return s
}

// A Query rejects sets that are not similar to the set of the query.
type Query struct {
	words [levels]Sketch
	limit [maxCode + 1]int16 // by code: bits in which the sketch of a similar set may differ; -1 if none is
}

// NewQuery returns a query for the sets with a Jaccard similarity of t or more, 0 < t <= 1, with a
// set of distinct elements.
func NewQuery(set []uint64, t float64) *Query {
	q := &Query{}
	for c := 1; c <= maxCode; c++ {
		q.limit[c] = -1
	}
	q.limit[0] = bins
	if len(set) == 0 {
		return q
	}
	least, most := leastSize(len(set), t), mostSize(len(set), t)
	made := -1
	for c := codeOf(least); c <= codeOf(most); c++ {
		if level := levelOf(c); level != made {
			q.words[level], made = atLevel(set, level), level
		}
		q.limit[c] = int16(limitOf(difference(len(set), min(ends[c], most), t), levelOf(c)))
	}
	return q
}

// Quotients and products are rounded. slack makes the limits that follow from them wide enough.
const slack = 1e-9

// leastSize returns the least size of a set with a similarity of t to a set of n elements.
func leastSize(n int, t float64) int { return max(int(math.Ceil(float64(n)*t*(1-slack))), 1) }

// mostSize returns the greatest size of a set with a similarity of t to a set of n elements.
func mostSize(n int, t float64) int {
	return int(min(float64(n)/t*(1+slack), math.MaxInt/4))
}

// difference returns in how many elements sets of a and b elements with a similarity of t can differ.
func difference(a, b int, t float64) int {
	return int(float64(a+b)*(1-t)/(1+t)*(1+slack) + slack)
}

// limitOf returns in how many bits the sketches at a level of two sets that differ in n elements may
// differ: at most n, and on higher levels a number that is exceeded with a probability of at most
// minhash.Miss.
//
// Let the number of differing elements have a Poisson distribution with mean n. Then the numbers in
// the bins are independent, and each is odd with probability p = (1-exp(-2 n/(2^level bins)))/2, so
// that the number of bits is binomial, with Chernoff's bound exp(-bins D(x||p)) for more than x bins
// of all bins. The probability that there are exactly n differing elements is more than
// 1/(e sqrt(n)), so given that there are n, no probability is more than e sqrt(n) times as large.
func limitOf(n, level int) int {
	if level == 0 || n == 0 {
		return min(n, bins)
	}
	p := (1 - math.Exp(-2*float64(n)/float64(bins*int(1)<<level))) / 2
	least := (math.Log(math.E*math.Sqrt(float64(n))) - math.Log(minhash.Miss)) / bins // of the divergence
	low, high := int(p*bins), bins
	for low < high {
		x := (low + high + 1) / 2
		if divergence(float64(x)/bins, p) < least {
			low = x
		} else {
			high = x - 1
		}
	}
	return min(low, n)
}

// divergence returns the divergence of Bernoulli distributions with the parameters x and p < x <= 1.
func divergence(x, p float64) float64 {
	d := x * math.Log(x/p)
	if x < 1 {
		d += (1 - x) * math.Log((1-x)/(1-p))
	}
	return d
}

// Differ returns in how many bits the sketch of a set differs from that of the query, and whether the
// sets may be similar.
func (q *Query) Differ(s *Sketch) (n int, ok bool) {
	code := int(s[3] >> codeShift)
	limit := int(q.limit[code])
	if limit < 0 {
		return 0, false
	}
	w := &q.words[levelOf(code)]
	n = bits.OnesCount64(w[0]^s[0]) + bits.OnesCount64(w[1]^s[1]) + bits.OnesCount64(w[2]^s[2]) +
		bits.OnesCount64((w[3]^s[3])&^codeMask)
	return n, n <= limit || code == 0
}

// Passing estimates the share of unrelated sets of the same size that are not rejected.
func (q *Query) Passing() float64 {
	// The bins of two unrelated sets agree by chance; a normal distribution approximates their number.
	total, passing := 0.0, 0.0
	for c := 1; c <= maxCode; c++ {
		if q.limit[c] < 0 {
			continue
		}
		total++
		n := 2 * float64(min(ends[c], math.MaxInt/4)) / float64(int(1)<<levelOf(c))
		p := (1 - math.Exp(-2*n/bins)) / 2
		passing += math.Erfc((p*bins-float64(q.limit[c])-0.5)/math.Sqrt(2*bins*p*(1-p))) / 2
	}
	return passing / max(total, 1)
}
