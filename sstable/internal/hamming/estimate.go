package hamming

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// Estimate says what a layout costs: space, and the work and time of a search.
type Estimate struct {
	Layout     Layout
	Tables     int
	Bytes      float64 // of the permuted tables, for each fingerprint
	Method     string  // "probe" or "scan", of most searches
	Probes     float64 // ranges looked up by a search, on average
	Candidates float64 // keys compared by it
	Cost       float64 // nanoseconds on one core, by the constants that searches are planned with
}

// Layouts are the layouts that are worth comparing: few tables with radii, the classic choices of
// Manku et al., and a nested one.
func Layouts() []Layout {
	return []Layout{{2, 1}, {3, 1}, {4, 1}, {5, 1}, {8, 1}, {5, 2}, {6, 3}, {8, 2}, {4, 0}}
}

// sampleKeys is how many keys are encoded to find out what a run of many takes: some dozen blocks,
// so that what each block has beside its keys counts as in a long run.
const sampleKeys = 64 * keyrun.BlockLen

// EstimateUniform returns what searches within k of n uniform fingerprints cost with layout l.
func EstimateUniform(l Layout, n int64, k int) (Estimate, error) {
	if err := checkEstimate(l, k); err != nil {
		return Estimate{}, err
	}
	if n < 1 || n > math.MaxInt {
		return Estimate{}, fmt.Errorf("%d fingerprints: a table has at least one, and no more than fit into memory", n)
	}
	// Runs without content: the plan for ranges of mean size reads nothing but the sizes of runs.
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

// uniformBytes is what one of n uniform keys takes in a run. A stretch of the run as dense as the
// whole is encoded to find out.
func uniformBytes(n int64) float64 {
	// m keys from the first m/n of the range of keys have the gaps that n keys have in all of it,
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

// Measure returns what the queries within k of the given fingerprints cost with layout l, planned
// for the real sizes of the ranges that each query meets. It builds the tables in memory;
// fingerprints are sorted when it returns.
func Measure(l Layout, fingerprints, queries []base.Fingerprint, k int) (Estimate, error) {
	if err := checkEstimate(l, k); err != nil {
		return Estimate{}, err
	}
	if len(fingerprints) == 0 || len(queries) == 0 {
		return Estimate{}, fmt.Errorf("there are %d fingerprints and %d queries: nothing to measure", len(fingerprints), len(queries))
	}
	slices.Sort(fingerprints)
	e := Estimate{Layout: l, Tables: l.Tables(), Method: "probe"}
	runs, err := measuredRuns(l, fingerprints)
	if err != nil {
		return Estimate{}, err
	}
	for _, run := range runs {
		e.Bytes += float64(run.Stats().Bytes) / float64(len(fingerprints))
	}
	x := New(l, runs, nil)
	s, scans := new(Searcher), 0
	for _, q := range queries {
		p := s.Plan(x, q, k)
		if p.Method == "scan" {
			scans++
		}
		e.Probes += float64(p.Probes) / float64(len(queries))
		e.Candidates += float64(p.Candidates) / float64(len(queries))
		e.Cost += p.Cost / float64(len(queries))
	}
	if 2*scans > len(queries) {
		e.Method = "scan"
	}
	return e, nil
}

// measuredRuns builds the permuted tables of sorted fingerprints, in memory and on all processors.
func measuredRuns(l Layout, fingerprints []base.Fingerprint) ([]*keyrun.Run, error) {
	runs := make([]*keyrun.Run, l.Tables())
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for t := range runs {
		work.Go(func() (err error) {
			keys := fingerprints
			if t > 0 { // as in a table: run 0 has every document, the others each distinct fingerprint once
				keys = slices.Compact(slices.Clone(keys))
				for i, fp := range keys {
					keys[i] = l.Permute(t, fp)
				}
				keys, _ = radix.Sort(keys, make([]uint64, len(keys)), 64)
			}
			runs[t], err = keyrun.Open(keyrun.InMemory(fmt.Sprint("run ", t), keys))
			return err
		})
	}
	return runs, work.Wait()
}

func checkEstimate(l Layout, k int) error {
	if err := l.Validate(); err != nil {
		return err
	}
	if k < 0 || k > maxDistance {
		return fmt.Errorf("distance %d is not 0 to %d", k, maxDistance)
	}
	return nil
}
