//go:build unix

package hamming

import (
	"math"
	"testing"
)

// What is estimated for uniform fingerprints is what tables of such fingerprints cost when they are
// built, and what their planner says.
func TestEstimateAgainstMeasure(t *testing.T) {
	fps, queries := benchData(100_000, 300)
	for _, l := range Layouts() {
		for _, k := range []int{0, 3, 6} {
			e, err := EstimateUniform(l, int64(len(fps)), k)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Measure(l, fps, queries, k)
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
				{"bytes", e.Bytes, m.Bytes, 0.01}, // near copies share blocks and take less
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

// The default layout is what its design promises at ten million: four probes and some 610
// candidates within 3.
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
	if _, err := Measure(DefaultLayout, nil, []uint64{1}, 3); err == nil {
		t.Error("measured nothing")
	}
}
