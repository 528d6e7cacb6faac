package tuning

import (
	"fmt"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup/tune"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Report has the results of a sample, and hints about flags.
type Report struct {
	*tune.Report
	Name    string // of the corpus
	Command func(threshold string) string
	Hints   []string // other hints from the sample
}

// Run reports on a sample.
func (c *Command) Run(a *app.App) error {
	c.rejects = a.NewRejects(c.RejectFlags, c.Output)
	return c.rejects.Close(c.run(a))
}

// Rows analyses the sample, and calls row with the values of Columns for every row.
func (c *Command) Rows(a *app.App, row func(values ...any) error) (err error) {
	c.rejects = a.NewRejects(c.RejectFlags, c.Output)
	r, done, err := c.report(a)
	defer done(&err)
	if err == nil {
		err = c.rows(r, row)
	}
	return c.rejects.Close(err)
}

// report analyses a sample of the collection that the arguments name. done closes the collection.
func (c *Command) report(a *app.App) (r *Report, done func(*error), err error) {
	compared, err := c.Compared()
	if err != nil {
		return nil, func(*error) {}, err
	}
	s, err := a.NewCollection([]string{c.Data}, c.InputFlags, inputs.Access{OrFile: true, Compared: compared})
	if err != nil {
		return nil, func(*error) {}, err
	}
	if err = s.One(c.Data); err == nil && s.Stored != nil {
		err = compared.NotStored()
	}
	if err == nil {
		r, err = c.look(a, s)
	}
	if err == nil && r.Sampled() == 0 {
		err = fmt.Errorf("%s has no documents with words", c.Data)
	}
	return r, s.Stored.Close, err
}

func (c *Command) run(a *app.App) (err error) {
	r, done, err := c.report(a)
	defer done(&err)
	if err != nil {
		return err
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

// look draws a sample of the documents and compares all documents with it.
func (c *Command) look(a *app.App, s *inputs.Sources) (*Report, error) {
	defer app.KeepTo(int64(c.Memory))()
	opt := c.InputFlags.Options(c.InputFormat)
	opt.MakeID, opt.Need, opt.Memory = true, records.NeedText, int64(c.Memory)
	m := a.Meter()
	defer m.Stop()
	params, err := c.prepare(a, s, &opt)
	if err != nil {
		return nil, err
	}
	of, err := tune.Run(a.Context(), a.Env(), s, tune.Options{Sample: int64(c.Sample), Seed: c.Seed, Memory: int64(c.Memory), Read: opt, Params: params, Rejects: c.rejects})
	if err != nil {
		return nil, err
	}
	m.Stop()
	a.Env().TellSkipped(s, c.rejects)
	c.rejects.TellUTF8()
	if s.Stored != nil {
		if p := s.Stored.DB.Options(); p.NoText && p.Sketch > 0 {
			a.Say("%s stores no texts: fingerprints are compared", c.Data)
		}
	}
	return &Report{of, c.Data, c.command, c.hints(params, of)}, nil
}

// prepare returns which features of the documents are compared, as a database or the flags say. It
// prepares files to be read twice, with the fields that make up the text.
func (c *Command) prepare(a *app.App, s *inputs.Sources, opt *records.Options) (features.Params, error) {
	if s.Stored != nil {
		return s.Stored.Params()
	}
	params, of, err := c.FeatureFlags.Params(0)
	if err != nil {
		return params, err
	}
	if err := inputs.ReadFeatures(opt, of); err != nil {
		return params, err
	}
	dir, err := a.TempDirIn("")
	if err != nil {
		return params, err
	}
	if err := a.Env().Reread(a.Context(), s, dir); err != nil {
		return params, err
	}
	compared, err := c.Compared()
	if err != nil {
		return params, err
	}
	w := inputs.Weighing{Inputs: s, Read: *opt, Memory: int64(c.Memory), Dir: dir}
	w.Each = func(count func(*engine.Doc) error) error {
		return a.Env().EachInput(a.Context(), s, inputs.Reading{
			Stage: "count features", Options: *opt, Record: func(_ records.Source, rec *records.Record) error { return count(&rec.Doc) },
		})
	}
	return params, a.Env().Weigh(a.Context(), compared, &params, w)
}
