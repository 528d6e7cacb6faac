package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/sstable"
)

const (
	planMeasured = 1_000_000 // fingerprints that layouts are built of to measure them
	planQueries  = 1000      // of them, looked for
)

// planCmd is `simdb plan`.
type planCmd struct {
	Files   []string `arg:"" file:"in" optional:"" name:"file" help:"Files with documents, whose fingerprints are taken; - is standard input."`
	N       quantity `xor:"what" placeholder:"N" help:"Plan for N uniform fingerprints instead, such as 1e9."`
	K       distance `short:"k" default:"3" placeholder:"K" help:"Distance that is searched for, in bits (default: 3)."`
	Layout  []layout `placeholder:"M:C,..." help:"Layouts to compare (default: 2:1, 3:1, 4:1, 5:1, 8:1, 5:2, 6:3, 8:2, 4x4)."`
	Shingle words    `default:"3" placeholder:"WORDS" help:"Words a shingle (default: 3)."`
	inputFlags
	rowFlags

	layouts []sstable.Layout
}

// Help says what the columns are.
func (planCmd) Help() string {
	return fmt.Sprintf(`A layout says how many permuted tables a database has and what leads them; every layout answers every distance. The
columns are bytes a fingerprint of all tables, and for one search on one core the ranges looked up (probes), the fingerprints
compared (candidates) and the time that this is expected to take (us), from costs measured on other machines: the order counts.
For files of up to %s fingerprints the tables are built in memory and searches planned on them, so that hot
places of the data count; otherwise fingerprints are taken to be uniform.

The one marked has the least product of space and time: twice the space must halve the time.`, progress.Number(planMeasured))
}

// Validate checks the arguments.
func (c *planCmd) Validate() error {
	if (len(c.Files) > 0) == (c.N > 0) {
		return errors.New("either files or --n N say what to plan for")
	}
	c.layouts = sstable.Layouts()
	if len(c.Layout) > 0 {
		c.layouts = nil
	}
	for _, l := range c.Layout {
		c.layouts = append(c.layouts, l.Layout)
	}
	return nil
}

// Run compares the layouts.
func (c *planCmd) Run(a *app) error {
	n, estimate := int64(c.N), sstable.EstimateNear
	if len(c.Files) > 0 {
		fps, err := c.fingerprints(a)
		if err != nil {
			return err
		}
		if n = int64(len(fps)); n == 0 {
			return errors.New("the files have no fingerprints: no text has words")
		}
		if n <= planMeasured {
			queries := everyNth(fps, planQueries)
			estimate = func(l sstable.Layout, _ int64, k int) (sstable.Estimate, error) {
				return sstable.MeasureNear(l, fps, queries, k)
			}
		} else {
			a.say("more than %s fingerprints: taken to be uniform", progress.Number(planMeasured))
		}
	}
	var all []sstable.Estimate
	for _, l := range c.layouts {
		if a.interrupted() {
			return errInterrupted
		}
		e, err := estimate(l, n, int(c.K))
		if err != nil {
			return err
		}
		all = append(all, e)
	}
	return c.show(a, n, all)
}

// show writes the estimates and recommends one.
func (c *planCmd) show(a *app, n int64, all []sstable.Estimate) error {
	best := slices.MinFunc(all, func(x, y sstable.Estimate) int { return cmp.Compare(x.Bytes*x.Cost, y.Bytes*y.Cost) })
	columns := []string{"layout", "tables", "bytes", "method", "probes", "candidates", "us", "recommended"}
	_, err := a.rows(c.rowFlags, columns, func(row func(...any) error) error {
		for _, e := range all {
			err := row(e.Layout.String(), e.Tables, rounded(e.Bytes, 2), e.Method, int64(math.Round(e.Probes)), int64(math.Round(e.Candidates)),
				rounded(e.Cost/1e3, 2), e.Layout == best.Layout)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		a.say("%s, distance %d: layout %v takes %s and about %.2f us a search; simdb load --layout %v",
			count(n, "fingerprint"), c.K, best.Layout, progress.Bytes(int64(best.Bytes*float64(n))), best.Cost/1e3, best.Layout)
	}
	return err
}

// rounded is x with some decimals, so that rows are no longer than what is known.
func rounded(x float64, decimals int) float64 {
	p := math.Pow10(decimals)
	return math.Round(x*p) / p
}

// everyNth returns at most n of fps, evenly spaced.
func everyNth(fps []uint64, n int) []uint64 {
	step := max(1, (len(fps)+n-1)/n)
	var some []uint64
	for i := 0; i < len(fps); i += step {
		some = append(some, fps[i])
	}
	return some
}

// fingerprints returns those of all documents in the files.
func (c *planCmd) fingerprints(a *app) (fps []uint64, err error) {
	s, err := newSources(c.Files)
	if err != nil {
		return nil, err
	}
	m := a.meter()
	defer m.Stop()
	state := fingerprint.New(fingerprint.Params{Shingle: int(c.Shingle)})
	opt := c.inputFlags.options(input.Auto)
	opt.MakeID = true
	bad := int64(0)
	for _, name := range c.Files {
		in, err := a.openInput(m, name, opt)
		if err != nil {
			return nil, err
		}
		for rec, err := range in.Records(a.context()) {
			if _, ok := errors.AsType[*input.Issue](err); ok {
				bad++
				continue
			} else if err != nil {
				in.Close()
				return nil, err
			}
			if rec.Doc.Fingerprint != nil {
				fps = append(fps, *rec.Doc.Fingerprint)
			} else if r := state.Text(rec.Doc.Text); !r.Empty {
				fps = append(fps, r.Fingerprint)
			}
			m.Report(s.progress("fingerprint", in))
		}
		s.done(in)
		in.Close()
	}
	m.Stop()
	if bad > 0 {
		a.say("%s could not be used; simdb load says why", count(bad, "line"))
	}
	return fps, nil
}
