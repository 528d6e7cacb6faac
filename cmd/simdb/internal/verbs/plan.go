package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/sstable"
)

const (
	planMeasured = 1_000_000 // most fingerprints for which layouts are built and measured
	planQueries  = 1000      // of them, searched for

	// planGarbage is the garbage, in percent of what is in use, while all documents are read: what
	// is kept of each takes more memory than anything else.
	planGarbage = 50
)

// Plan is `simdb plan`.
type Plan struct {
	Files  []string     `arg:"" file:"in" optional:"" name:"file" help:"Files with documents, or with --files the documents themselves, whose fingerprints are taken; - is standard input."`
	N      app.Quantity `xor:"what" placeholder:"N" help:"Plan for N uniform fingerprints instead, such as 1e9."`
	K      app.Distance `short:"k" default:"3" placeholder:"K" help:"Distance that is searched for, in bits (default: 3)."`
	Layout []app.Layout `placeholder:"M:C,..." help:"Layouts to compare (default: 2:1, 3:1, 4:1, 5:1, 8:1, 5:2, 6:3, 8:2, 4x4)."`
	Memory app.Memory   `default:"auto" placeholder:"SIZE" help:"Memory of the load and of dedup that are forecast (default: that of these commands)."`
	app.RowInputFlags
	app.RejectFlags
	app.FeatureFlags
	app.RowFlags

	rejects *app.Rejects
	layouts []sstable.Layout
	sample  int64 // bytes of documents that a forecast loads; 0 means sampleBytes
}

// Help says what the columns are.
func (Plan) Help() string {
	return fmt.Sprintf(`A layout says how many permuted tables a database has and what leads them; every layout answers every distance. The
columns are bytes a fingerprint of all tables, and for one search on one core the ranges looked up (probes), the fingerprints
compared (candidates) and the time that this is expected to take (us), from costs measured on other machines: the order counts.
For files of up to %s fingerprints the tables are built in memory and searches planned on them, so that hot
places of the data count; otherwise fingerprints are taken to be uniform.

For files it also says what simdb load will take, and simdb dedup of texts: time, memory, and disk. For that it reads the
files once more, loads %s of them, drawn from all parts, into a temporary database, and compares them. Memory is what
the system cannot take back: pages of files are not counted.

The one marked has the least product of space and time: twice the space must halve the time.`, quantity.Number(planMeasured), progress.Bytes(sampleBytes))
}

// Validate checks the arguments.
func (c *Plan) Validate() error {
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
func (c *Plan) Run(a *app.App) error {
	c.rejects = a.NewRejects(c.RejectFlags, c.Output)
	return c.rejects.Close(c.run(a))
}

func (c *Plan) run(a *app.App) error {
	n, estimate := int64(c.N), sstable.EstimateNear
	if len(c.Files) > 0 {
		fps, size, drawn, err := c.fingerprints(a)
		if err != nil {
			return err
		}
		if err := c.tellLoad(a, size, drawn); err != nil {
			return err
		}
		if n = size.fingerprints; n == 0 {
			return errors.New("the files have no fingerprints: no text has words")
		}
		if n <= planMeasured {
			queries := everyNth(fps, planQueries)
			estimate = func(l sstable.Layout, _ int64, k int) (sstable.Estimate, error) {
				return sstable.MeasureNear(l, fps, queries, k)
			}
		} else {
			a.Say("more than %s fingerprints: taken to be uniform", quantity.Number(planMeasured))
		}
	}
	var all []sstable.Estimate
	for _, l := range c.layouts {
		if a.Interrupted() {
			return app.ErrInterrupted
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
func (c *Plan) show(a *app.App, n int64, all []sstable.Estimate) error {
	best := slices.MinFunc(all, func(x, y sstable.Estimate) int { return cmp.Compare(x.Bytes*x.Cost, y.Bytes*y.Cost) })
	columns := []string{"layout", "tables", "bytes", "method", "probes", "candidates", "us", "recommended"}
	_, err := a.Rows(c.RowFlags, columns, func(row func(...any) error) error {
		for _, e := range all {
			err := row(e.Layout.String(), e.Tables, app.Rounded(e.Bytes, 2), e.Method, int64(math.Round(e.Probes)), int64(math.Round(e.Candidates)),
				app.Rounded(e.Cost/1e3, 2), e.Layout == best.Layout)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		a.Say("%s, distance %d: layout %v takes %s and about %.2f us a search (by size: %v); simdb load --layout %v",
			quantity.Count(n, "fingerprint"), c.K, best.Layout, progress.Bytes(int64(best.Bytes*float64(n))), best.Cost/1e3,
			sstable.ChooseLayout(n), best.Layout)
	}
	return err
}

// everyNth returns at most n of fps, evenly spaced.
func everyNth(fps []engine.Fingerprint, n int) []engine.Fingerprint {
	step := max(1, (len(fps)+n-1)/n)
	var some []engine.Fingerprint
	for i := 0; i < len(fps); i += step {
		some = append(some, fps[i])
	}
	return some
}

// fingerprints returns those of all documents in the files, if they are measured, and what samples
// go by.
func (c *Plan) fingerprints(a *app.App) (fps []engine.Fingerprint, size loadSize, drawn *draws, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(planGarbage))
	drawn = &draws{}
	s, err := a.NewSources(c.Files, c.InputFlags)
	if err != nil {
		return nil, size, nil, err
	}
	m := a.Meter()
	defer m.Stop()
	params, of, err := c.FeatureFlags.Params(1)
	if err != nil {
		return nil, size, nil, err
	}
	state := fingerprint.New(params)
	opt := c.RowInputFlags.Options()
	opt.MakeID = true
	if err := app.ReadFeatures(&opt, of); err != nil {
		return nil, size, nil, err
	}
	for _, name := range s.Names {
		in, err := a.OpenInput(m, &s, name, opt)
		if err != nil {
			return nil, size, nil, err
		}
		for rec, err := range in.Records(a.Context()) {
			if is, ok := errors.AsType[*input.Issue](err); ok {
				if err = c.rejects.Add(in, is); err == nil {
					continue
				}
			}
			if err != nil {
				in.Close()
				return nil, size, nil, err
			}
			c.rejects.Note(in, rec)
			var r fingerprint.Result
			if rec.Doc.Text != "" {
				r = state.Text(rec.Doc.Text)
			}
			fp, has := r.Fingerprint, rec.Doc.Text != "" && !r.Empty
			if rec.Doc.Fingerprint != nil {
				fp, has = *rec.Doc.Fingerprint, true
			}
			drawn.add(leastHash(&r, rec.Doc.Fingerprint, size.documents))
			size.add(&rec.Doc, has)
			switch {
			case size.fingerprints > planMeasured:
				fps = nil
			case has:
				fps = append(fps, fp)
			}
			m.Report(s.Progress("fingerprint", in))
		}
		s.Done(in)
		in.Close()
	}
	m.Stop()
	a.TellSkipped(&s)
	if err := c.rejects.Nothing(); err != nil {
		return nil, size, nil, err
	}
	drawn.end()
	return fps, size, drawn, nil
}

// tellLoad says what a load of the files, and dedup, will take, unless they can be read only once.
func (c *Plan) tellLoad(a *app.App, size loadSize, drawn *draws) error {
	s, err := a.NewSources(c.Files, c.InputFlags)
	if err != nil || s.Total == 0 || size.documents == 0 {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	part, err := c.drawSample(a, s, m, drawn, size)
	if err != nil {
		return err
	}
	f, err := c.forecast(a, m, &part, size)
	if err != nil {
		return err
	}
	var d dedupForecast
	if size.texts {
		d, err = c.forecastDedup(a, s, &part, size)
	}
	m.Stop()
	if err != nil {
		return err
	}
	f.say(a, size, c.Memory)
	if size.texts {
		d.say(a, size, c.Memory)
	}
	return nil
}
