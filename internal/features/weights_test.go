package features

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/minhash"
)

// weights is the vector of a document: words and their weights.
type weights map[string]float64

// vector returns the vector of a document of three fields with the weights of a spec.
func vector(s Spec, texts []string) weights {
	v := weights{}
	for i, text := range texts {
		for w := range strings.FieldsSeq(text) {
			v[w] = max(v[w], s.Fields[i].Weight)
		}
	}
	return v
}

// similarity returns the weighted Jaccard similarity and the cosine of two vectors.
// most is the weight of their union.
func (v weights) similarity(w weights) (jaccard, cosine, most float64) {
	var least, vv, ww, vw float64
	for x, a := range v {
		least, most = least+min(a, w[x]), most+max(a, w[x])
		vv, vw = vv+a*a, vw+a*w[x]
	}
	for x, b := range w {
		ww += b * b
		if v[x] == 0 {
			most += b
		}
	}
	return least / most, vw / math.Sqrt(vv*ww), most
}

// standardError returns the standard error of the Jaccard similarity estimated from two sketches of
// n hashes. The union of their sets has this size. Both sketches together sample 2n/(1+j) different
// elements of the union.
func standardError(j, union, n float64) float64 {
	sample := 2 * n / (1 + j)
	return math.Sqrt(j * (1 - j) / sample * (1 - sample/union))
}

// TestWeightsWithinTheory compares estimates for many pairs of weighted documents, of any
// similarity, with the theory: sketches are unbiased and have the standard error of a sample of N,
// and the distances of fingerprints have the distribution that follows from the angle of the
// vectors.
func TestWeightsWithinTheory(t *testing.T) {
	for _, weights := range [][]float64{{5, 2, 1}, {4.7, 1.3, 0.6}, {0.01, 0.0021, 0.0012}, {990, 212.5, 90}} {
		testWeights(t, weights)
	}
}

func testWeights(t *testing.T, weights []float64) {
	pairs := exhaustive.Size(300, 20_000)
	spec := Spec{Fields: []Field{{Name: "title", Weight: weights[0]}, {Name: "head", Weight: weights[1]}, {Name: "body", Weight: weights[2]}}}
	const size = 128
	state := NewFingerprinter(Params{Shingle: 1, Sketch: size, Features: spec})
	r := rand.New(rand.NewPCG(20, 26))
	var bias, square, distanceBias, distanceSquare float64
	for n := range pairs {
		var a, b []string
		for i, words := range []int{40, 60, 300} {
			keep := 0.03 + 0.95*r.Float64()
			var x, y strings.Builder
			for j := range words {
				word := fmt.Sprintf("w%dx%dx%d ", n, i, j)
				x.WriteString(word)
				if r.IntN(10) == 0 { // the word moves to a field with another weight
					word = fmt.Sprintf("w%dx%dx%d ", n, 2-i, j)
				}
				if r.Float64() > keep {
					word = "y" + word
				}
				y.WriteString(word)
			}
			a, b = append(a, x.String()), append(b, y.String())
		}
		jaccard, cosine, union := vector(spec, a).similarity(vector(spec, b))
		ra := state.Text(JoinFields(a...))
		sketch := ra.Sketch.Clone()
		rb := state.Text(JoinFields(b...))
		estimate := minhash.Jaccard(sketch, rb.Sketch, size)
		if spec.Real() {
			union = math.Inf(1) // a sample of infinitely many points
		}
		if estimate.Exact || len(sketch) != size {
			t.Fatalf("weights %v: %+v from %d hashes", weights, estimate, len(sketch))
		}
		z := (estimate.Score - jaccard) / standardError(jaccard, union, size)
		bias, square = bias+z, square+z*z
		p := math.Acos(cosine) / math.Pi
		z = (float64(bits.OnesCount64(uint64(ra.Fingerprint^rb.Fingerprint))) - 64*p) / math.Sqrt(64*p*(1-p))
		distanceBias, distanceSquare = distanceBias+z, distanceSquare+z*z
	}
	n := float64(pairs)
	t.Logf("weights %v, %d pairs: Jaccard bias %.3f, RMSE %.3f standard errors; distance bias %.3f, RMSE %.3f",
		weights, pairs, bias/n, math.Sqrt(square/n), distanceBias/n, math.Sqrt(distanceSquare/n))
	// The mean of n standardised errors has a standard deviation of 1/sqrt(n), their mean square
	// one of sqrt(2/n).
	mean, spread := 4/math.Sqrt(n), 4*math.Sqrt(2/n)
	for what, v := range map[string][2]float64{"Jaccard": {bias / n, square / n}, "distance": {distanceBias / n, distanceSquare / n}} {
		if math.Abs(v[0]) > mean+0.02 || math.Abs(v[1]-1) > spread+0.05 {
			t.Errorf("weights %v, %s: bias %.3f, mean square %.3f", weights, what, v[0], v[1])
		}
	}
}
