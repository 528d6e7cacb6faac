package review

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/webpage"
	"github.com/simdb/simdb/internal/quantity"
)

// tally counts the pairs of all clusters by similarity, and the clusters by size.
type tally struct {
	scores, distances map[int]int64 // scores in units of 1/scoreSteps
	sizes             map[int64]float64
}

func newTally() tally { return tally{map[int]int64{}, map[int]int64{}, map[int64]float64{}} }

// scoreSteps is the number of bars for scores from 0 to 1.
const scoreSteps = 50

// add counts the pair of a member and its keeper. Scores of rows that others wrote may be any numbers:
// those below 0 and above 1 are in the first and the last bar.
func (t *tally) add(score *float64, distance *int) {
	switch {
	case score != nil:
		t.scores[int(max(0, min(*score*scoreSteps+1e-9, scoreSteps-1)))]++
	case distance != nil:
		t.distances[*distance]++
	}
}

// plots draws the counts, and the clusters of the page.
func (t *tally) plots(clusters []Cluster) []webpage.Plot {
	counts, steps, what := t.scores, float64(scoreSteps), "score"
	if len(counts) == 0 {
		counts, steps, what = t.distances, 1, "distance"
	}
	if len(counts) == 0 {
		return nil
	}
	axis := webpage.Axis{Label: what, From: math.Inf(1)}
	pairs := webpage.Plot{Title: "Pairs by " + what}
	for _, at := range slices.Sorted(maps.Keys(counts)) {
		n := counts[at]
		bar := webpage.Bar{From: float64(at) / steps, To: float64(at+1) / steps, Value: float64(n)}
		axis.From, axis.To = min(axis.From, bar.From), bar.To
		bar.Tip = fmt.Sprintf("%s, %s %g", quantity.Count(n, "pair"), what, bar.From)
		if steps > 1 {
			bar.Tip += fmt.Sprintf(" to %g", bar.To)
		}
		if bar.To == 1 && steps > 1 {
			bar.To = 1.0001 // the last bar includes 1
		}
		pairs.Bars = append(pairs.Bars, bar)
		pairs.Y.To = max(pairs.Y.To, bar.Value)
	}
	pairs.X = axis
	return []webpage.Plot{pairs, weakest(clusters, axis), webpage.Sizes("Clusters by size", t.sizes)}
}

// weakest draws the clusters of the page: one dot for clusters of the same size with similar
// weakest edges.
func weakest(clusters []Cluster, axis webpage.Axis) webpage.Plot {
	p := webpage.Plot{Title: "Clusters on this page: documents, by weakest edge", X: axis, Y: webpage.Axis{From: 1, To: 10, Log: true}}
	type place struct{ edge, size int64 }
	shown, order := map[place][]string{}, []place(nil)
	for n := range clusters {
		c := &clusters[n]
		m := &c.Members[0]
		at := place{size: c.Size}
		switch {
		case m.Score != nil:
			at.edge = int64(math.Round(*m.Score * 200))
		case m.Distance != nil:
			at.edge = int64(*m.Distance) * 200
		}
		if shown[at] == nil {
			order = append(order, at)
		}
		shown[at] = append(shown[at], fmt.Sprint(n))
		p.Y.To = max(p.Y.To, float64(c.Size))
	}
	for _, at := range order {
		own, edge := shown[at], float64(at.edge)/200
		p.Dots = append(p.Dots, webpage.Dot{X: edge, Y: float64(at.size), Count: len(own), Show: strings.Join(own, " "),
			Tip: fmt.Sprintf("%s of %s, %s %.3g", quantity.Count(int64(len(own)), "cluster"), quantity.Count(at.size, "document"), axis.Label, edge)})
	}
	return p
}
