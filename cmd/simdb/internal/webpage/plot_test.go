package webpage

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTicks checks that every scale has a few ticks, in order, each with its own label, and that
// places retain the order of values within the chart.
func TestTicks(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for range 5000 {
		a := Axis{From: r.Float64(), Log: r.IntN(2) == 0}
		if r.IntN(3) == 0 && !a.Log {
			a.From = 0
		}
		a.To = a.From + 0.01 + math.Pow(10, 8*r.Float64()-1)
		if a.Log { // as in charts: at least a power of ten
			a.To = a.From * math.Pow(10, 1+8*r.Float64())
		}
		values, labels := a.ticks(), map[string]bool{}
		for i, v := range values {
			at := a.place(v, 44, 366)
			if v < a.From-1e-9*a.To || v > a.To*(1+1e-9) || at < 44 || at > 366 || i > 0 && at <= a.place(values[i-1], 44, 366) {
				t.Fatalf("%+v: %v", a, values)
			}
			labels[a.label(v)] = true
		}
		if len(values) < 1 || len(values) > 9 || len(labels) != len(values) || labels["-0"] {
			t.Fatalf("%+v: %v, labels %v", a, values, labels)
		}
	}
}

// TestPlot checks that text on a chart is not markup, and that bars without a height are not drawn.
func TestPlot(t *testing.T) {
	p := Sizes(`<script>"</svg>`, map[int64]float64{2: 12.4, 700: 1})
	p.Bars = []Bar{{From: 1, To: 2, Value: 0}, {From: 2, To: 3, Value: 5, Class: `"><script>`, Tip: "<script>"}}
	p.Lines = []Line{{Points: [][2]float64{{1, 1}, {10, 10}, {100, 1}}, Closed: true}}
	html, err := p.HTML()
	if err != nil || strings.Contains(string(html), "<script") || strings.Count(string(html), "<rect") != 1 || strings.Count(string(html), "<circle") != 2 {
		t.Errorf("%v\n%s", err, html)
	}
	if !strings.Contains(string(html), "12 clusters of 2 documents") || !strings.Contains(string(html), "1 cluster of 700 documents") || !strings.Contains(string(html), `Z"/>`) {
		t.Errorf("%s", html)
	}
}
