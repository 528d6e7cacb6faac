package tuning

import (
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/simdb/simdb/internal/quantity"
)

// page is a document of its own: no scripts, and nothing from elsewhere. Texts of the corpus are
// escaped, and isolated from the direction of writing of what is around them.
var page = template.Must(template.New("tune").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>simdb tune: {{.Name}}</title>
<style>
:root { color-scheme: light dark }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 1.5rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem }
th, td { padding: .15rem .5rem; text-align: right; white-space: nowrap }
td.bar { width: 60%; text-align: left }
td.bar div { background: #2a8; height: 1em; min-width: 1px }
tr.here { font-weight: bold; outline: 1px solid }
pre { padding: .6rem; border: 1px solid; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; margin-bottom: 1.2rem }
.pair pre { margin: 0; unicode-bidi: isolate; max-height: 20rem; overflow-y: auto }
.pair bdi { overflow-wrap: anywhere; font-weight: bold }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr } }
</style>
</head>
<body>
<h1>simdb tune: <bdi>{{.Name}}</bdi></h1>
<p>{{.Sureness}}. {{.Advice}}</p>
<pre>{{.Command}}</pre>
{{range .Hints}}<p>{{.}}</p>
{{end}}<h2>{{.Kind}}</h2>
<table>
<tr><th>{{.Unit}}</th><th></th><th>pairs</th><th>removes</th></tr>
{{range .Rows}}<tr{{if .Here}} class="here"{{end}}><th scope="row">{{.Label}}</th><td class="bar"><div style="width: {{.Width}}%"></div></td><td>{{.Pairs}}</td><td>{{.Removes}}</td></tr>
{{end}}</table>
{{with .Relations}}<h2>Distances and similarities</h2>
<table>
<tr><th>fingerprints within</th><th>of these pairs, have a score of {{$.Threshold}}</th><th>of all pairs from {{$.Threshold}} on</th></tr>
{{range .}}<tr><th scope="row">{{.K}} bits</th><td>{{.Precise}}</td><td>{{.Complete}}</td></tr>
{{end}}</table>
{{end}}{{with .Pairs}}<h2>Pairs on both sides of {{$.Criterion}}</h2>
{{range .}}<h3>{{.How}}</h3>
<div class="pair"><div><bdi>{{.A}}</bdi>{{with .TextA}}<pre dir="auto">{{.}}</pre>{{end}}</div><div><bdi>{{.B}}</bdi>{{with .TextB}}<pre dir="auto">{{.}}</pre>{{end}}</div></div>
{{end}}{{end}}</body>
</html>
`))

// pageRow is a bar of the page.
type pageRow struct {
	Label          string
	Width          float64 // percent
	Pairs, Removes string
	Here           bool
}

// pageRelation is how a distance relates to the threshold.
type pageRelation struct {
	K                 int
	Precise, Complete string
}

// pagePair is a pair with its similarity in words.
type pagePair struct {
	*Pair
	How string
}

// WritePage writes the report as a page of HTML. k is the distance that is proposed where there are
// no scores.
func (r *Report) WritePage(w io.Writer, k int, pairs []*Pair) error {
	data := struct {
		Name, Sureness, Advice, Command, Kind, Unit, Threshold, Criterion string
		Rows                                                              []pageRow
		Relations                                                         []pageRelation
		Pairs                                                             []pagePair
		Hints                                                             []string
	}{
		Name: r.Name, Sureness: r.Sureness(),
		Advice: r.Advice(k), Command: r.Command(r.Criterion(k)), Kind: kind, Hints: r.Hints, Unit: "score",
		Threshold: fmt.Sprint(edge(r.threshold())), Criterion: r.Criterion(k),
	}
	if r.Scored {
		for b := bins - 1; b >= 0; b-- {
			data.Rows = append(data.Rows, r.pageRow(fmt.Sprintf("%.2f – %.2f", edge(b), edge(b+1)), r.byScore[:], b, b == r.threshold(), r.Alike(edge(b))))
		}
		for _, d := range distances {
			precise, complete := r.relation(d, r.threshold())
			data.Relations = append(data.Relations, pageRelation{r.bits(d), percent(precise), percent(complete)})
		}
	} else {
		data.Kind, data.Unit = "Distances of fingerprints", "bits"
		for d := range MaxDistance + 1 {
			data.Rows = append(data.Rows, r.pageRow(fmt.Sprint(r.bits(d)), r.byBits[:], d, d == k, r.Near(d)))
		}
	}
	for _, p := range pairs {
		how := fmt.Sprintf("%.3f", p.Score)
		if !r.Scored {
			how = fmt.Sprintf("%d bits", p.Distance)
		}
		data.Pairs = append(data.Pairs, pagePair{p, how})
	}
	return page.Execute(w, data)
}

// pageRow makes the bar of one bin.
func (r *Report) pageRow(label string, pairs []float64, at int, here bool, c Criterion) pageRow {
	most := 1.0
	for _, n := range pairs {
		most = max(most, n)
	}
	return pageRow{
		Label: label, Width: 100 * pairs[at] / most, Here: here,
		Pairs:   quantity.Number(int64(math.Round(r.scaled(pairs[at])))),
		Removes: c.Removes.percents(),
	}
}
