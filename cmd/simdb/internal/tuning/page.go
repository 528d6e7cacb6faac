package tuning

import (
	"cmp"
	_ "embed" // of the parts of the page
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/webpage"
	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/internal/quantity"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// pageTemplate is the template of the page: a single file that loads nothing from elsewhere. Texts
// of the corpus are escaped, and isolated from the writing direction around them.
var pageTemplate = template.Must(template.New("tune").Funcs(template.FuncMap{
	"words": func(text string) []string { return strings.Split(text, " ") },
	"flag":  func(word string) bool { return strings.HasPrefix(word, "--") },
}).Parse(pageHTML))

type pageRow struct {
	Label          string
	Width          float64 // percent
	Pairs, Removes string
	Here           bool
}

// pageNear is a row about fingerprints within some bits of each other.
type pageNear struct {
	K                                     int // bits
	Pairs, Chance, Share, Removes         string
	Precise, Complete, ExampleA, ExampleB string
	Here                                  bool
}

// pagePair is a pair with its similarity in words.
type pagePair struct {
	*tune.Pair
	How string
}

// WritePage writes the report as an HTML page. k is the distance to propose if there are no scores.
func (r *Report) WritePage(w io.Writer, k int, pairs []*tune.Pair) error {
	data := map[string]any{
		"R": r, "Sureness": r.Sureness(), "Advice": r.Advice(k), "Command": r.Command(r.Criterion(k)), "Kind": kind,
		"Threshold": fmt.Sprint(r.Threshold()), "Criterion": r.Criterion(k), "Plots": r.plots(k),
	}
	var scores []pageRow
	bins := r.Scores()
	most := max(1, slices.MaxFunc(bins, func(x, y tune.Bin) int { return cmp.Compare(x.Found, y.Found) }).Found)
	for i := len(bins) - 1; i >= 0 && r.Scored; i-- {
		b := &bins[i]
		scores = append(scores, pageRow{
			Label: fmt.Sprintf("%.2f – %.2f", b.From, b.To), Width: 100 * b.Found / most, Here: b.From == r.Threshold(),
			Pairs: rounded(b.Pairs), Removes: r.AtLeast(b.From).Removes.Percent(),
		})
	}
	var near []pageNear
	for d := range tune.MaxDistance + 1 {
		near = append(near, r.pageNear(d, d == k && !r.Scored))
	}
	var examples []pagePair
	for _, p := range pairs {
		how := fmt.Sprintf("%.3f", p.Score)
		if !r.Scored {
			how = fmt.Sprintf("%d bits", p.Distance)
		}
		examples = append(examples, pagePair{p, how})
	}
	data["Scores"], data["Near"], data["Pairs"] = scores, near, examples
	return webpage.Write(w, pageTemplate, data, pageCSS, pageJS)
}

func rounded(n float64) string { return quantity.Number(int64(math.Round(n))) }

// pageNear makes the row of a distance.
func (r *Report) pageNear(d int, here bool) pageNear {
	c := r.Near(d)
	row := pageNear{K: r.Bits(d), Pairs: rounded(c.Pairs.Value), Share: c.Share.Percent(), Removes: c.Removes.Percent(), Here: here}
	switch chance := r.Chance(d); {
	case chance >= 10:
		row.Chance = rounded(chance)
	case chance >= 0.001:
		row.Chance = fmt.Sprintf("%.2g", chance)
	default:
		row.Chance = "0"
	}
	if r.Scored {
		precise, complete := r.Relation(d)
		row.Precise, row.Complete = percent(precise), percent(complete)
	}
	if c.Example != nil {
		row.ExampleA, row.ExampleB = c.Example.A, c.Example.B
	}
	return row
}

// plots draws the charts of the report; k is the distance to propose if there are no scores.
func (r *Report) plots(k int) (all []webpage.Plot) {
	bits := webpage.Axis{Label: "bits", To: float64(r.Bits(tune.MaxDistance))}
	if r.Scored {
		bins := r.Scores()
		scores := make([]tune.Criterion, len(bins))
		for i, b := range bins {
			scores[i] = r.AtLeast(b.From)
		}
		from := func(i int) float64 { return bins[i].From }
		all = append(all, removes("Documents removed by --jaccard", webpage.Axis{Label: "least score", From: from(0), To: from(len(bins) - 1)}, scores, from, r.Threshold()))
	}
	near, marked := make([]tune.Criterion, tune.MaxDistance+1), math.NaN()
	for d := range near {
		near[d] = r.Near(d)
	}
	if !r.Scored {
		marked = float64(r.Bits(k))
	}
	of := func(d int) float64 { return float64(r.Bits(d)) }
	all = append(all, r.distances(bits), removes("Documents removed by --near", bits, near, of, marked))
	return append(all, webpage.Sizes("Clusters by size with "+r.Criterion(k)+", as estimated", r.Sizes(k)))
}

// removes draws which share of the documents each threshold removes. It marks a threshold, unless
// that is NaN.
func removes(title string, x webpage.Axis, criteria []tune.Criterion, at func(int) float64, marked float64) webpage.Plot {
	p := webpage.Plot{Title: title, X: x, Y: webpage.Axis{To: 1, Unit: " %"}}
	area, line := webpage.Line{Class: "area", Closed: true}, webpage.Line{}
	var below [][2]float64
	for i, c := range criteria {
		v, e := 100*c.Removes.Value, 100*c.Removes.Error
		line.Points = append(line.Points, [2]float64{at(i), v})
		area.Points = append(area.Points, [2]float64{at(i), min(v+e, 100)})
		below = append([][2]float64{{at(i), max(v-e, 0)}}, below...)
		p.Y.To = max(p.Y.To, min(v+e, 100))
	}
	area.Points = append(area.Points, below...)
	p.Lines = []webpage.Line{area, line}
	if !math.IsNaN(marked) {
		p.Lines = append(p.Lines, webpage.Line{Class: "here", Points: [][2]float64{{marked, 0}, {marked, p.Y.To}}})
	}
	return p
}

// distances draws the number of pairs at each distance, and the number expected among unrelated
// documents. Bars that are mostly due to chance have another colour.
func (r *Report) distances(x webpage.Axis) webpage.Plot {
	x.From, x.To = -0.5*float64(r.Bits(1)), x.To+0.5*float64(r.Bits(1))
	p := webpage.Plot{Title: "Pairs at each distance; the line is chance", X: x, Y: webpage.Axis{From: 0.5, To: 10, Log: true}}
	chance := webpage.Line{}
	for d, b := range r.Distances() {
		at, pairs, byChance := b.From, b.Pairs, r.Chance(d)
		if d > 0 {
			byChance -= r.Chance(d - 1)
		}
		half := 0.5 * float64(r.Bits(1))
		bar := webpage.Bar{From: at - half, To: at + half, Value: pairs, Tip: fmt.Sprintf("%g bits: %s pairs, %s by chance", at, rounded(pairs), rounded(byChance))}
		if 2*byChance >= pairs {
			bar.Class = "chance"
		}
		p.Bars = append(p.Bars, bar)
		p.Y.To = max(p.Y.To, pairs, byChance)
		if byChance >= p.Y.From {
			chance.Points = append(chance.Points, [2]float64{at, byChance})
		}
	}
	p.Lines = []webpage.Line{chance}
	return p
}
