//go:build unix

package hamming

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// TestEstimateAgainstMeasure compares estimates for uniform fingerprints with tables built from
// such fingerprints, and with the plans for them.
func TestEstimateAgainstMeasure(t *testing.T) {
	exhaustive.Sequential(t)
	fps, queries := benchData(100_000, 300)
	for _, l := range Layouts() {
		for _, k := range []int{0, 3, 6} {
			e, err := EstimateUniform(l, int64(len(fps)), k)
			if err != nil {
				t.Fatal(err)
			}
			m, err := measure(l, fps, queries, k)
			if err != nil {
				t.Fatal(err)
			}
			if e.Tables != m.Tables || e.Method != m.Method {
				t.Errorf("layout %v, k = %d: estimated %d tables, %s; measured %d, %s", l, k, e.Tables, e.Method, m.Tables, m.Method)
			}
			for _, c := range []struct {
				what                string
				estimated, measured float64
				within              float64
			}{
				{"bytes", e.Bytes, m.Bytes, 0.01}, // near copies share blocks and need less
				{"probes", e.Probes, m.Probes, 0.02},
				{"ns", e.Cost, m.Cost, 0.1},
			} {
				if math.Abs(c.estimated-c.measured) > c.within*c.measured {
					t.Errorf("layout %v, k = %d: estimated %.4g %s, measured %.4g", l, k, c.estimated, c.what, c.measured)
				}
			}
		}
	}
}

// TestEstimateOfTheDefault checks the design goal of the default layout at ten million
// fingerprints: four probes and some 610 candidates within 3.
func TestEstimateOfTheDefault(t *testing.T) {
	e, err := EstimateUniform(DefaultLayout, 10_000_000, 3)
	if err != nil {
		t.Fatal(err)
	}
	if e.Probes != 4 || e.Candidates < 600 || e.Candidates > 620 || e.Bytes < 21 || e.Bytes > 22 {
		t.Errorf("%+v", e)
	}
	one, err := EstimateUniform(DefaultLayout, 1, 3)
	if err != nil || one.Method != "scan" {
		t.Errorf("one fingerprint: %+v, %v", one, err)
	}
}

func TestEstimateRefuses(t *testing.T) {
	for _, c := range []struct {
		l Layout
		n int64
		k int
	}{{Layout{0, 1}, 10, 3}, {Layout{16, 8}, 10, 3}, {DefaultLayout, 0, 3}, {DefaultLayout, -1, 3}, {DefaultLayout, 10, -1}, {DefaultLayout, 10, 65}} {
		if _, err := EstimateUniform(c.l, c.n, c.k); err == nil {
			t.Errorf("layout %v, n = %d, k = %d: no error", c.l, c.n, c.k)
		}
	}
	if _, err := measure(DefaultLayout, nil, []uint64{1}, 3); err == nil {
		t.Error("measured nothing")
	}
}

// measure returns the cost of queries within k of fingerprints with layout l. Plans use the real
// sizes of the ranges that each query meets. It builds the tables in memory, and sorts
// fingerprints.
func measure(l Layout, fingerprints, queries []base.Fingerprint, k int) (Estimate, error) {
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
				keys, _ = ordered.Radix(keys, make([]uint64, len(keys)), 64)
			}
			runs[t], err = keyrun.Open(keyrun.InMemory(fmt.Sprint("run ", t), keys))
			return err
		})
	}
	return runs, work.Wait()
}
