package webpage

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/quantity"
)

// A Plot is a chart of a page. Bars are drawn first, then lines, then dots, each on top of the
// others.
type Plot struct {
	Title string // also says what the Y axis shows
	X, Y  Axis
	Bars  []Bar
	Lines []Line
	Dots  []Dot
}

// An Axis is a scale. From and To are its ends; on a logarithmic axis they are greater than 0.
type Axis struct {
	Label    string
	From, To float64
	Log      bool
	Unit     string // follows each number, such as " %"
}

// A Bar stands on the X axis between From and To. Value is its height.
type Bar struct {
	From, To, Value float64
	Class           string // CSS class, such as "chance"
	Tip             string // shown when a pointer is over it
}

// A Line connects points; a closed line is filled.
type Line struct {
	Points [][2]float64
	Class  string
	Closed bool
}

// A Dot is a point. Count makes it larger. Show becomes the attribute data-show, which the page's
// script reads on a click.
type Dot struct {
	X, Y  float64
	Count int
	Tip   string
	Show  string
}

// The size of a chart, in units of about a pixel, and the margins for labels.
const (
	plotWidth, plotHeight = 380, 170
	plotLeft, plotRight   = 44, 14
	plotTop, plotBottom   = 8, 36
)

// place maps a value of the axis to the range between from and to.
func (a Axis) place(v, from, to float64) float64 {
	low, high := a.From, a.To
	if a.Log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, low))
	}
	if high <= low {
		return (from + to) / 2
	}
	return from + (to-from)*min(max((v-low)/(high-low), 0), 1)
}

// ticks returns a few values to label. A logarithmic scale has powers of ten and, if it is short,
// also two and five times these. A linear scale has up to seven steps of one, two or five times a
// power of ten.
func (a Axis) ticks() (values []float64) {
	parts := []float64{1, 2, 5}
	if a.Log {
		decades := math.Log10(a.To / a.From)
		if decades > 2 {
			parts = parts[:1]
		}
		for at := math.Floor(math.Log10(a.From)); at <= math.Log10(a.To); at += max(1, math.Ceil(decades/6)) {
			for _, part := range parts {
				if v := part * math.Pow(10, at); v >= a.From && v <= a.To {
					values = append(values, v)
				}
			}
		}
		return values
	}
	least := max((a.To-a.From)/7, math.SmallestNonzeroFloat64)
	step := math.Pow(10, math.Floor(math.Log10(least)))
	for _, by := range append(parts, 10) {
		if step*by >= least*(1-1e-9) {
			step *= by
			break
		}
	}
	if a.To >= 2 { // counts, bits or percents
		step = max(step, 1)
	}
	for n := math.Ceil(a.From/step - 1e-9); n*step <= a.To+step*1e-9 && len(values) < 20; n++ {
		values = append(values, n*step+0)
	}
	return values
}

func (a Axis) label(v float64) string {
	if v >= 1000 {
		return quantity.Number(int64(math.Round(v))) + a.Unit
	}
	return fmt.Sprintf("%.4g", v) + a.Unit
}

// mark is a line across the chart with a label.
type mark struct {
	At    float64
	Label string
}

func (a Axis) marks(from, to float64) (all []mark) {
	for _, v := range a.ticks() {
		all = append(all, mark{a.place(v, from, to), a.label(v)})
	}
	return all
}

func (p Plot) x(v float64) float64 { return p.X.place(v, plotLeft, plotWidth-plotRight) }

func (p Plot) y(v float64) float64 { return p.Y.place(v, plotHeight-plotBottom, plotTop) }

var plotTemplate = template.Must(template.New("plot").Funcs(template.FuncMap{
	"n": func(v float64) string { return fmt.Sprintf("%.1f", v) },
}).Parse(`<figure class="plot"><figcaption>{{.P.Title}}</figcaption>
<svg viewBox="0 0 {{.Width}} {{.Height}}" role="img" aria-label="{{.P.Title}}">
{{range .Ys}}<line class="grid" x1="{{$.Left}}" x2="{{$.Right}}" y1="{{n .At}}" y2="{{n .At}}"/><text class="y" x="{{$.Left}}" dx="-5" y="{{n .At}}" dy="4">{{.Label}}</text>
{{end}}{{range .Xs}}<text class="x" x="{{n .At}}" y="{{$.Base}}" dy="14">{{.Label}}</text>
{{end}}<text class="x" x="{{$.Middle}}" y="{{$.Height}}" dy="-5">{{.P.X.Label}}</text>
{{range .Bars}}<rect class="bar {{.Class}}" x="{{n .X}}" y="{{n .Y}}" width="{{n .W}}" height="{{n .H}}" data-from="{{.From}}" data-to="{{.To}}"><title>{{.Tip}}</title></rect>
{{end}}{{range .Lines}}<path class="{{.Class}}" d="{{.D}}"/>
{{end}}{{range .Dots}}<circle class="dot" cx="{{n .X}}" cy="{{n .Y}}" r="{{n .R}}"{{with .Show}} data-show="{{.}}"{{end}}><title>{{.Tip}}</title></circle>
{{end}}</svg></figure>
`))

// HTML returns the chart as a figure.
func (p Plot) HTML() (template.HTML, error) {
	type bar struct {
		Bar
		X, Y, W, H float64
	}
	type line struct{ Class, D string }
	type dot struct {
		Dot
		X, Y, R float64
	}
	const base = plotHeight - plotBottom
	var bars []bar
	for _, b := range p.Bars {
		if from, to, y := p.x(b.From), p.x(b.To), p.y(b.Value); b.Value > 0 {
			bars = append(bars, bar{b, from + 0.5, min(y, base-1), max(to-from-1, 1), max(base-y, 1)})
		}
	}
	var lines []line
	for _, l := range p.Lines {
		var d strings.Builder
		for i, at := range l.Points {
			fmt.Fprintf(&d, "%c%.1f %.1f", "ML"[min(i, 1)], p.x(at[0]), p.y(at[1]))
		}
		if l.Closed {
			d.WriteByte('Z')
		}
		lines = append(lines, line{l.Class, d.String()})
	}
	var dots []dot
	for _, d := range p.Dots {
		dots = append(dots, dot{d, p.x(d.X), p.y(d.Y), 3.5 + min(math.Log2(float64(max(d.Count, 1))), 8)})
	}
	var b strings.Builder
	err := plotTemplate.Execute(&b, map[string]any{
		"P": p, "Width": plotWidth, "Height": plotHeight, "Left": plotLeft, "Right": plotWidth - plotRight, "Base": base, "Middle": (plotLeft + plotWidth - plotRight) / 2,
		"Xs": p.X.marks(plotLeft, plotWidth-plotRight), "Ys": p.Y.marks(base, plotTop), "Bars": bars, "Lines": lines, "Dots": dots,
	})
	return template.HTML(b.String()), err
}

// Sizes returns the chart of the number of clusters by size.
func Sizes(title string, clusters map[int64]float64) Plot {
	p := Plot{Title: title, X: Axis{Label: "documents in a cluster", From: 1, To: 10, Log: true}, Y: Axis{From: 1, To: 10, Log: true}}
	for _, size := range slices.Sorted(maps.Keys(clusters)) {
		n := clusters[size]
		p.X.To, p.Y.To = max(p.X.To, float64(size)), max(p.Y.To, n)
		p.Dots = append(p.Dots, Dot{X: float64(size), Y: n, Tip: fmt.Sprintf("%s of %s", quantity.Count(int64(math.Round(n)), "cluster"), quantity.Count(size, "document"))})
	}
	return p
}
