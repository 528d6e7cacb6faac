package hamming

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Estimate gives the costs of a layout: its space, and the work and the time of a search.
type Estimate struct {
	Layout     Layout
	Tables     int
	Bytes      float64 // of the permuted tables, per fingerprint
	Method     string  // of most searches: "probe" or "scan"
	Probes     float64 // ranges looked up per search, on average
	Candidates float64 // keys compared per search, on average
	Cost       float64 // nanoseconds on one core, by the cost model of searches
}

// Layouts are the layouts that are worth comparing: some with few tables, which need radii, the
// classic choices of Manku et al., and a nested one.
func Layouts() []Layout {
	return []Layout{{2, 1}, {3, 1}, {4, 1}, {5, 1}, {8, 1}, {5, 2}, {6, 3}, {8, 2}, {4, 0}}
}

// sampleKeys is how many keys are encoded to measure the size of a long run: some dozen blocks, so
// that the overhead of each block counts as it does in a long run.
const sampleKeys = 64 * keyrun.BlockLen

// EstimateUniform returns the cost of searches within k of n uniform fingerprints with layout l.
func EstimateUniform(l Layout, n int64, k int) (Estimate, error) {
	if err := checkEstimate(l, k); err != nil {
		return Estimate{}, err
	}
	if n < 1 || n > math.MaxInt {
		return Estimate{}, fmt.Errorf("%d fingerprints: a table has at least one, and no more than fit into memory", n)
	}
	// Runs without content: the plan for ranges of mean size reads only the sizes of runs.
	runs := make([]*keyrun.Run, l.Tables())
	for t := range runs {
		runs[t] = keyrun.Sized(int(n))
	}
	x := New(l, runs, nil)
	e := Estimate{Layout: l, Tables: len(runs), Bytes: float64(len(runs)) * uniformBytes(n), Method: "probe"}
	a := x.standardPlan(k, new(Searcher))
	if e.Cost = a.ns; a.scan {
		e.Method, e.Candidates = "scan", float64(n)
		return e, nil
	}
	for t := range x.tables {
		for d := range int(a.radius[t]) + 1 {
			probes := ways(x.tables[t].leadBits, d)
			e.Probes += probes
			e.Candidates += probes * x.tables[t].mean
		}
	}
	return e, nil
}

// uniformBytes returns the size of a key in a run of n uniform keys. It measures this by encoding a
// stretch that is as dense as the whole run.
func uniformBytes(n int64) float64 {
	// m keys from the first m/n of the key space have the same gaps as n keys in the whole space,
	// and the gaps alone decide how many low bits Elias-Fano coding stores.
	m := min(n, sampleKeys)
	share := float64(m) / float64(n)
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, m)
	for i := range keys {
		keys[i] = uint64(math.Ldexp(r.Float64()*share, 63)) << 1
	}
	slices.Sort(keys)
	body, dir := keyrun.Encode(keys)
	return float64(len(body)+len(dir)) / float64(m)
}

func checkEstimate(l Layout, k int) error {
	if err := l.Validate(); err != nil {
		return err
	}
	if k < 0 || k > maxDistance {
		return fmt.Errorf("distance %d is outside 0..%d", k, maxDistance)
	}
	return nil
}
