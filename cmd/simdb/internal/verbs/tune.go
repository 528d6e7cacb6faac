package verbs

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/repl/output"
)

// Tune is `simdb tune`.
type Tune struct {
	Data        string       `arg:"" file:"in" name:"db|file" help:"A database, a file with documents, or with --files a folder of documents; - is standard input."`
	Sample      app.Quantity `default:"1000" placeholder:"N" help:"Documents to look for near-duplicates of (default: 1000)."`
	Seed        uint64       `default:"1" placeholder:"SEED" help:"Another number draws other documents (default: 1)."`
	Texts       bool         `help:"Show the texts of the examples, not their ids."`
	HTML        string       `name:"html" file:"html" placeholder:"FILE" help:"Write a page with the distribution of similarities, what each threshold removes, and ten pairs to look at."`
	Memory      app.Memory   `default:"auto" placeholder:"SIZE" help:"Memory of the run (default: a 16th of the machine's memory, from 256MiB to 1GiB, or of less than 1GiB a quarter). As many documents are searched for as have room in half of it, about 100 bytes for each word."`
	InputFormat input.Format `group:"input" name:"input-format" default:"auto" placeholder:"FORMAT" help:"How the files are written: ${inputs} (default: by name and content)."`
	app.InputFlags
	app.RejectFlags
	app.FeatureFlags
	app.RowFlags

	rejects *app.Rejects
}

// Help says how to read the rows.
func (Tune) Help() string {
	return `For documents drawn at random, all others within 16 bits or with at least half of the shingles in common are found; the more
there are, the fewer documents are searched for. Each row
is a criterion: which share of the documents has a near-duplicate by it, how many pairs all documents would have, how
many pairs unrelated documents would add by chance, a pair that just meets it (a, b), and how far off share and pairs may
be (share_error, pairs_error): in 19 of 20 samples they are not. Both are 0 if all documents were searched for;
pairs_error is empty if no pair was found among some. No example is a pair of equal texts.

All is read twice: a sample is drawn, and all documents are compared with it, so that memory does not grow with their number.
As in dedup, documents of a file with the same id count as several.

Take the last criterion whose example you would call a duplicate, and well before chance pairs are a part of what is found.
simdb why DB A B compares an example in detail.

A table is followed by the distribution of similarities, computed from the texts where they are kept, what each threshold
removes, how distances and similarities relate, ten pairs on both sides of a threshold, a command line with it, and other
flags that the documents speak for. --html writes the same as a page.`
}

// Run looks at the sample.
func (c *Tune) Run(a *app.App) error {
	c.rejects = a.NewRejects(c.RejectFlags, c.Output)
	return c.rejects.Close(c.run(a))
}

func (c *Tune) run(a *app.App) error {
	look := c.ofDatabase
	if c.WholeFiles || app.NamesFiles(c.Data) {
		look = c.ofFile
	}
	r, err := look(a)
	if err != nil {
		return err
	}
	if r.Sampled() == 0 {
		return fmt.Errorf("%s has no documents with words", c.Data)
	}
	if err := c.show(a, r); err != nil {
		return err
	}
	a.Say("%s: %s", c.Data, r.Sureness())
	if !c.charted() {
		for _, hint := range r.Hints {
			a.Say("%s", hint)
		}
	}
	return nil
}

// chance is how many of the pairs of n unrelated fingerprints are within k bits.
func chance(n int64, k int) float64 {
	share, ways := 0.0, 1.0
	for d := range k + 1 {
		share += ways
		ways = ways * float64(64-d) / float64(d+1)
	}
	return math.Ldexp(share, -64) * float64(n) * float64(n-1) / 2
}

// show writes the rows, and the report after a table and as a page.
func (c *Tune) show(a *app.App, r *tuning.Report) error {
	k := r.Distance(func(k int) float64 { return chance(r.Documents, k) })
	if c.HTML != "" {
		if err := c.page(a, r, k); err != nil {
			return err
		}
	}
	columns := []string{"criterion", "share", "pairs", "chance", "a", "b", "share_error", "pairs_error"}
	return a.RowsThen(c.RowFlags, columns, func(w *output.Writer) error { return c.rows(r, w.Row) }, func(w io.Writer) error {
		if !c.charted() {
			return nil
		}
		o := c.RowFlags.Options()
		return r.WriteText(w, tuning.Chart{Width: o.Width, Color: o.Color, Clean: app.OneLine, K: k}, r.Boundary(k))
	})
}

// charted reports whether the report follows the rows.
func (c *Tune) charted() bool { return c.RowFlags.Options().Format == output.Table }

// rows writes the rows.
func (c *Tune) rows(r *tuning.Report, row func(...any) error) error {
	write := func(name string, byChance any, of tuning.Criterion) error {
		a, b := c.example(of.Example)
		pairsError := any(nil)
		if !math.IsNaN(of.Pairs.Error) {
			pairsError = int64(math.Ceil(of.Pairs.Error))
		}
		return row(name, app.Rounded(of.Share.Value, 4), int64(math.Round(of.Pairs.Value)), byChance, a, b, app.Rounded(of.Share.Error, 4), pairsError)
	}
	for k := range tuning.MaxDistance + 1 {
		if err := write(fmt.Sprintf("--near %d", k), app.Rounded(chance(r.Documents, k), 4), r.Near(k)); err != nil {
			return err
		}
	}
	for tenths := 9; tenths >= 5 && r.Scored; tenths-- {
		of := float64(tenths) / 10
		if err := write(fmt.Sprintf("--jaccard %g", of), nil, r.Alike(of)); err != nil {
			return err
		}
	}
	return nil
}

// example returns what is shown of the example of a criterion: the ids, or the texts where they are
// kept.
func (c *Tune) example(p *tuning.Pair) (a, b any) {
	switch {
	case p == nil:
		return nil, nil
	case c.Texts:
		return cmp.Or(p.TextA, p.A), cmp.Or(p.TextB, p.B)
	}
	return p.A, p.B
}
