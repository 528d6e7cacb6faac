package hamming

import "testing"

// TestPlanString compares String with the examples in its documentation.
func TestPlanString(t *testing.T) {
	for want, p := range map[string]Plan{
		"probe radii 0 0 0 0, 4 probes, about 610 candidates": {Method: "probe", Radii: []int{0, 0, 0, 0}, Probes: 4, Candidates: 610},
		"scan, 1100000 candidates":                            {Method: "scan", Candidates: 1100000},
	} {
		if p.String() != want {
			t.Errorf("%q, want %q", p.String(), want)
		}
	}
}
