package verbs

import (
	"cmp"
	"fmt"
	"math"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
)

// Tune is `simdb tune`.
type Tune struct {
	Data   string       `arg:"" file:"in" name:"db|file" help:"A database, a file with documents, or with --files a folder of documents; - is standard input."`
	Sample app.Quantity `default:"1000" placeholder:"N" help:"Documents to look for near-duplicates of (default: 1000)."`
	Seed   uint64       `default:"1" placeholder:"SEED" help:"Another number draws other documents (default: 1)."`
	Texts  bool         `help:"Show the texts of the examples, not their ids."`
	HTML   string       `name:"html" file:"html" placeholder:"FILE" help:"Write a page with the distribution of similarities, what each threshold removes, and ten pairs to look at."`
	Memory app.Memory   `default:"auto" placeholder:"SIZE" help:"Of a file: memory of the run (default: a 16th of the machine's memory, from 256MiB to 1GiB, or of less than 1GiB a quarter). The documents that are searched for must have room in half of it, about 100 bytes for each word."`
	app.RowInputFlags
	app.FeatureFlags
	app.RowFlags
}

// Help says how to read the rows.
func (Tune) Help() string {
	return `For documents drawn at random, all others within 16 bits or with at least half of the shingles in common are found. Each row
is a criterion: which share of the documents has a near-duplicate by it, how many pairs all documents would have, how
many pairs unrelated documents would add by chance, a pair that just meets it (a, b), and how far off share and pairs may
be (share_error, pairs_error): in 19 of 20 samples they are not. Both are 0 if all documents were searched for;
pairs_error is empty if no pair was found among some.

A file is read twice: a sample is drawn, and all documents are compared with it, so that memory does not grow with the file.
As in dedup, documents with the same id count as several.

Take the last criterion whose example you would call a duplicate, and well before chance pairs are a part of what is found.
simdb why DB A B compares an example in detail.

A table is followed by the distribution of similarities, computed from the texts where they are kept, what each threshold
removes, how distances and similarities relate, ten pairs on both sides of a threshold, and a command line with it. --html
writes the same as a page.`
}

// Run looks at the sample.
func (c *Tune) Run(a *app.App) error {
	if c.WholeFiles || namesFiles(c.Data) {
		return c.ofFile(a)
	}
	return c.ofDatabase(a)
}

// tuned is what was found, with what sets the texts of a pair.
type tuned struct {
	*tuning.Report
	texts func(*tuning.Pair) error
}

// finish writes what was found.
func (c *Tune) finish(a *app.App, t tuned) error {
	if t.Sampled() == 0 {
		return fmt.Errorf("%s has no documents with words", c.Data)
	}
	if err := c.show(a, t); err != nil {
		return err
	}
	a.Say("%s: %s", c.Data, t.Sureness())
	return c.tell(a, t)
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

// show writes the rows.
func (c *Tune) show(a *app.App, t tuned) error {
	columns := []string{"criterion", "share", "pairs", "chance", "a", "b", "share_error", "pairs_error"}
	_, err := a.Rows(c.RowFlags, columns, func(row func(...any) error) error {
		write := func(name string, byChance any, of tuning.Criterion) error {
			x, y, err := c.example(t, of.Example)
			if err != nil {
				return err
			}
			pairsError := any(nil)
			if !math.IsNaN(of.Pairs.Error) {
				pairsError = int64(math.Ceil(of.Pairs.Error))
			}
			return row(name, app.Rounded(of.Share.Value, 4), int64(math.Round(of.Pairs.Value)), byChance, x, y, app.Rounded(of.Share.Error, 4), pairsError)
		}
		for k := range tuning.MaxDistance + 1 {
			if err := write(fmt.Sprintf("--near %d", k), app.Rounded(chance(t.Documents, k), 4), t.Near(k)); err != nil {
				return err
			}
		}
		for tenths := 9; tenths >= 5 && t.Scored; tenths-- {
			of := float64(tenths) / 10
			if err := write(fmt.Sprintf("--jaccard %g", of), nil, t.Alike(of)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// example returns what is shown of the example of a criterion: the ids, or the texts where they are
// kept.
func (c *Tune) example(t tuned, p *tuning.Pair) (a, b any, err error) {
	if p == nil {
		return nil, nil, nil
	}
	if !c.Texts {
		return p.A, p.B, nil
	}
	err = t.texts(p)
	return cmp.Or(p.TextA, p.A), cmp.Or(p.TextB, p.B), err
}
