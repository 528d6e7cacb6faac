package tune

import (
	"fmt"
	"math"

	"github.com/simdb/simdb/internal/quantity"
)

// An Estimate is a figure of all documents by those of the sample. In 19 of 20 samples it is right
// within Error, which is 0 if the sample has all documents, and NaN if a sample cannot tell.
type Estimate struct{ Value, Error float64 }

// sure is how many standard errors 19 of 20 samples are within.
const sure = 1.96

// criterion returns the figures of what count counts: matches of a document.
func (r *Report) criterion(count func(*sampled) int64) (c Criterion) {
	var some, pairs, squares, removed float64
	for i := range r.sample {
		n, of := float64(count(&r.sample[i])), float64(r.sample[i].count)
		if n == 0 {
			continue
		}
		some, pairs, squares = some+of, pairs+of*n, squares+of*n*n
		removed += of * n / (n + 1) // of a cluster of a document and its matches
	}
	n := max(float64(r.count), 1)
	c.Share = Estimate{some / n, r.shareError(some / n)}
	c.Pairs = Estimate{r.scaled(pairs), float64(r.Documents) / 2 * r.meanError(pairs, squares)}
	c.Removes = Estimate{removed / n, r.shareError(removed / n)} // no shares from 0 to 1 vary more than those of 0 and 1
	if r.rest() > 0 && some == 0 {
		c.Pairs.Error = math.NaN() // a few documents with very many matches would not be in the sample
	}
	return c
}

// scaled is about how many pairs the corpus has, where the sample has that many: a pair is found
// from both its ends if all documents are searched for.
func (r *Report) scaled(found float64) float64 {
	return found / 2 * float64(r.Documents) / max(float64(r.count), 1)
}

// A Bin is pairs whose scores, or distances in bits, lie from From up to To.
type Bin struct {
	From, To float64
	Found    float64 // by documents of the sample
	Pairs    float64 // about, in the corpus
}

// Scores returns the pairs by score, from MinScore on.
func (r *Report) Scores() (all []Bin) {
	for b, n := range r.byScore {
		all = append(all, Bin{edge(b), edge(b + 1), n, r.scaled(n)})
	}
	return all
}

// Distances returns the pairs by distance, one for each step up to MaxDistance.
func (r *Report) Distances() (all []Bin) {
	for d, n := range r.byBits {
		all = append(all, Bin{float64(r.Bits(d)), float64(r.Bits(d)), n, r.scaled(n)})
	}
	return all
}

// Chance is how many of the pairs of unrelated documents are within some steps.
func (r *Report) Chance(steps int) float64 {
	share, ways, width := 0.0, 1.0, r.Bits(64)
	for d := range r.Bits(steps) + 1 {
		share += ways
		ways = ways * float64(width-d) / float64(d+1)
	}
	return math.Ldexp(share, -width) * float64(r.Documents) * float64(r.Documents-1) / 2
}

// Sizes estimates how many clusters have each size at the criterion that is proposed: a cluster is
// a document and all that are like it.
func (r *Report) Sizes(k int) map[int64]float64 {
	sizes := map[int64]float64{}
	for i := range r.sample {
		s, size := &r.sample[i], int64(1)
		if r.Scored {
			for _, n := range s.alike[r.threshold():] {
				size += int64(n)
			}
		} else {
			for _, n := range s.within[:k+1] {
				size += int64(n)
			}
		}
		if size > 1 {
			sizes[size] += float64(s.count) / float64(size) * float64(r.Documents) / float64(r.count)
		}
	}
	return sizes
}

// rest is which share of the documents is not in the sample. Errors are smaller by its root.
func (r *Report) rest() float64 {
	if r.Documents <= 1 {
		return 0
	}
	return max(0, float64(r.Documents-r.Sampled())/float64(r.Documents-1))
}

// meanError is the Error of a mean, given the sum and the sum of squares.
func (r *Report) meanError(sum, squares float64) float64 {
	n := float64(r.count)
	if n < 2 {
		return 0
	}
	variance := max(0, (squares-sum*sum/n)/(n-1))
	return sure * math.Sqrt(variance/n*r.rest())
}

// shareError is the Error of a share: the larger part of the interval of Wilson, which is not 0
// where none or all of the sample have what is counted.
func (r *Report) shareError(p float64) float64 {
	rest := r.rest()
	if rest == 0 || r.count == 0 {
		return 0
	}
	n := float64(r.count) / rest
	z := sure * sure / n
	middle := (p + z/2) / (1 + z)
	half := sure / (1 + z) * math.Sqrt(p*(1-p)/n+z/(4*n))
	return math.Abs(middle-p) + half
}

// Sureness says how many documents were searched for, and how sure the figures are.
func (r *Report) Sureness() string {
	said := fmt.Sprintf("%s of %s searched for", quantity.Number(r.Sampled()), quantity.Count(r.Documents, "document"))
	if r.rest() == 0 {
		return said
	}
	return fmt.Sprintf("%s, drawn at random: a share is right within %.2g points in 19 of 20 samples, a small one more closely", said, 100*r.shareError(0.5))
}

// Percent is the estimate in percent, with its error if it has one.
func (e Estimate) Percent() string {
	if e.Error == 0 {
		return fmt.Sprintf("%.1f %%", 100*e.Value)
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*e.Value, 100*e.Error)
}
