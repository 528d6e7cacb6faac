package tuning

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/internal/quantity"
)

// Chart says how to write a report for a terminal.
type Chart struct {
	Width int                   // columns; 0 means 80
	Color bool                  // bars are coloured
	Clean func(s string) string // makes a text safe for a terminal, and puts it on one line
	K     int                   // distance to propose if there are no scores
}

// WriteText writes the report.
func (r *Report) WriteText(w io.Writer, c Chart, pairs []*tune.Pair) error {
	var b strings.Builder
	if c.Width <= 0 {
		c.Width = 80
	}
	if r.Scored {
		r.scores(&b, c)
		r.relations(&b)
	} else {
		r.bitChart(&b, c)
	}
	r.pairs(&b, c, pairs)
	fmt.Fprintf(&b, "\n%s\n\n    %s\n", c.Clean(r.Advice(c.K)), c.Clean(r.Command(r.Criterion(c.K))))
	for _, hint := range r.Hints {
		fmt.Fprintf(&b, "\n%s\n", c.Clean(hint))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Criterion returns the proposed flag.
func (r *Report) Criterion(k int) string {
	if r.Scored {
		return fmt.Sprintf("--jaccard %g", r.Threshold())
	}
	return fmt.Sprintf("--near %d", r.Bits(k))
}

// Advice describes the effect of the proposed threshold.
func (r *Report) Advice(k int) string {
	removes := r.Near(min(k, tune.MaxDistance)).Removes
	if r.Scored {
		removes = r.AtLeast(r.Threshold()).Removes
	}
	return fmt.Sprintf("%s removes about %s of the documents:", r.Criterion(k), removes.Percent())
}

// kind describes the scores.
const kind = "Jaccard similarity, from the texts"

// scores writes the distribution of scores, and what each threshold removes.
func (r *Report) scores(b *strings.Builder, c Chart) {
	fmt.Fprintf(b, "\n%s\n", kind)
	const besides = 13 + 16 + 12 // columns of the other parts of a line
	room := max(c.Width-besides, 10)
	scores, most := r.Scores(), 0.0
	for _, s := range scores {
		most = max(most, s.Found)
	}
	fmt.Fprintf(b, "%-13s%-*s%14s%12s\n", "score", room, "", "pairs", "removes")
	for _, s := range slices.Backward(scores) {
		mark := " "
		if s.From == r.Threshold() {
			mark = ">"
		}
		fmt.Fprintf(b, "%s%.2f - %.2f %s%14s%10.1f %%\n", mark, s.From, s.To, c.bar(s.Found, most, room),
			quantity.Number(int64(math.Round(s.Pairs))), 100*r.AtLeast(s.From).Removes.Value)
	}
}

// bitChart writes the distribution of distances.
func (r *Report) bitChart(b *strings.Builder, c Chart) {
	const besides = 6 + 16 + 12
	room := max(c.Width-besides, 10)
	distances, most := r.Distances(), 0.0
	for _, s := range distances {
		most = max(most, s.Found)
	}
	fmt.Fprintf(b, "\n%-6s%-*s%14s%12s\n", "bits", room, "", "pairs", "removes")
	for k, s := range distances {
		mark := " "
		if k == c.K {
			mark = ">"
		}
		fmt.Fprintf(b, "%s%4d %s%14s%10.1f %%\n", mark, r.Bits(k), c.bar(s.Found, most, room),
			quantity.Number(int64(math.Round(s.Pairs))), 100*r.Near(k).Removes.Value)
	}
}

// bar returns a bar of n out of most, at most room columns wide.
func (c Chart) bar(n, most float64, room int) string {
	eighths := 0
	if most > 0 {
		eighths = int(math.Ceil(n / most * float64(8*room)))
	}
	bar := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	blank := strings.Repeat(" ", room-utf8.RuneCountInString(bar))
	if c.Color && bar != "" {
		bar = "\x1b[36m" + bar + "\x1b[0m"
	}
	return bar + blank
}

// relations writes how distances and scores relate.
func (r *Report) relations(b *strings.Builder) {
	t := r.Threshold()
	fmt.Fprintf(b, "\n%-10s%-26s%s\n", "within", fmt.Sprintf("have a score of %g", t), fmt.Sprintf("of all pairs from %g on", t))
	for _, k := range []int{0, 3, 6, 10, 16} {
		precise, complete := r.Relation(k)
		fmt.Fprintf(b, "%-10s%-26s%s\n", fmt.Sprintf("%d bits", r.Bits(k)), percent(precise), percent(complete))
	}
}

// percent writes a share; it is NaN if there was nothing to divide.
func percent(share float64) string {
	if math.IsNaN(share) {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// pairs writes pairs for the user to look at. It shows the texts from where they begin to differ.
func (r *Report) pairs(b *strings.Builder, c Chart, pairs []*tune.Pair) {
	if len(pairs) == 0 {
		return
	}
	fmt.Fprintf(b, "\nPairs on both sides of %s:\n", r.Criterion(c.K))
	for _, p := range pairs {
		how := fmt.Sprintf("%.3f", p.Score)
		if !r.Scored {
			how = fmt.Sprintf("%d bits", p.Distance)
		}
		fmt.Fprintf(b, "%s  %s  %s\n", how, c.Clean(p.A), c.Clean(p.B))
		if p.TextA == "" && p.TextB == "" {
			continue
		}
		x, y := tune.FromDifference(c.Clean(p.TextA), c.Clean(p.TextB))
		for _, text := range []string{x, y} {
			fmt.Fprintf(b, "       %s\n", runewidth.Truncate(text, c.Width-7, "…"))
		}
	}
}
