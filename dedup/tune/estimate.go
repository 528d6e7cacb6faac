package tune

import (
	"fmt"
	"math"

	"github.com/simdb/simdb/internal/quantity"
)

// An Estimate is a figure for all documents, estimated from the sample. In 19 of 20 samples it is
// within Error of the truth. Error is 0 if the sample has all documents, and NaN if it cannot be
// estimated.
type Estimate struct{ Value, Error float64 }

// sure is the half-width, in standard errors, of an interval that is right in 19 of 20 samples.
const sure = 1.96

// criterion returns the estimates for a criterion; matches returns numbers of matches of a document,
// which add up.
func (r *Report) criterion(matches func(*sampled) []int32) (c Criterion) {
	var some, pairs, squares, removed float64
	for i := range r.sample {
		n, of := 0.0, float64(r.sample[i].count)
		for _, m := range matches(&r.sample[i]) {
			n += float64(m)
		}
		if n == 0 {
			continue
		}
		some, pairs, squares = some+of, pairs+of*n, squares+of*n*n
		removed += of * n / (n + 1) // documents of a cluster: a document and its matches
	}
	n := max(float64(r.count), 1)
	c.Share = Estimate{some / n, r.shareError(some / n)}
	c.Pairs = Estimate{r.scaled(pairs), float64(r.Documents) / 2 * r.meanError(pairs, squares)}
	c.Removes = Estimate{removed / n, r.shareError(removed / n)} // no values from 0 to 1 have a larger variance than 0 and 1
	if r.rest() > 0 && some == 0 {
		c.Pairs.Error = math.NaN() // a sample may miss a few documents with very many matches
	}
	return c
}

// scaled estimates the number of pairs in the corpus from the number found: a search for all
// documents finds each pair from both ends.
func (r *Report) scaled(found float64) float64 {
	return found / 2 * float64(r.Documents) / max(float64(r.count), 1)
}

// A Bin counts the pairs whose scores, or distances in bits, are from From up to To.
type Bin struct {
	From, To float64
	Found    float64 // pairs found for documents of the sample
	Pairs    float64 // estimate for the corpus
}

// Scores returns the pairs by score, from MinScore up.
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

// Chance estimates how many pairs of unrelated documents are within some steps.
func (r *Report) Chance(steps int) float64 {
	share, ways, width := 0.0, 1.0, r.Bits(64)
	for d := range r.Bits(steps) + 1 {
		share += ways
		ways = ways * float64(width-d) / float64(d+1)
	}
	return math.Ldexp(share, -width) * float64(r.Documents) * float64(r.Documents-1) / 2
}

// Sizes estimates the number of clusters of each size by the proposed criterion, where a cluster
// is a document and all its matches.
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

// rest returns the share of documents that are not in the sample. Errors scale with its square
// root.
func (r *Report) rest() float64 {
	if r.Documents <= 1 {
		return 0
	}
	return max(0, float64(r.Documents-r.Sampled())/float64(r.Documents-1))
}

// meanError returns the Error of a mean, given the sum and the sum of squares.
func (r *Report) meanError(sum, squares float64) float64 {
	n := float64(r.count)
	if n < 2 {
		return 0
	}
	variance := max(0, (squares-sum*sum/n)/(n-1))
	return sure * math.Sqrt(variance/n*r.rest())
}

// shareError returns the Error of a share: the larger side of the Wilson interval, which is not 0
// even if the share in the sample is 0 or 1.
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

// Sureness says how many documents were searched for, and how precise the estimates are.
func (r *Report) Sureness() string {
	said := fmt.Sprintf("%s of %s sampled", quantity.Number(r.Sampled()), quantity.Count(r.Documents, "document"))
	if r.rest() == 0 {
		return said
	}
	return fmt.Sprintf("%s, drawn at random: in 19 of 20 samples a share is accurate within %.2g points, small shares more closely", said, 100*r.shareError(0.5))
}

// Percent formats the estimate in percent, with its error if there is one.
func (e Estimate) Percent() string {
	if e.Error == 0 {
		return fmt.Sprintf("%.1f %%", 100*e.Value)
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*e.Value, 100*e.Error)
}
