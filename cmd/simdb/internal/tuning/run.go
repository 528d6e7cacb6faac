package tuning

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
)

// Run looks at the sample.
func (c *Command) Run(a *app.App) error {
	c.rejects = a.NewRejects(c.RejectFlags, c.Output)
	return c.rejects.Close(c.run(a))
}

func (c *Command) run(a *app.App) error {
	look := c.ofDatabase
	if c.Images != nil {
		return errors.New("--images: pictures have no texts, whose similarity tune compares with distances; docs/choosing.md has thresholds of picture hashes")
	}
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

// ofFile looks at the documents of a file.
func (c *Command) ofFile(a *app.App) (*Report, error) {
	s, err := a.NewSource(c.Data, c.InputFlags)
	if err != nil {
		return nil, err
	}
	opt := c.InputFlags.Options(c.InputFormat)
	opt.MakeID, opt.Need, opt.Memory = true, input.NeedText, int64(c.Memory)
	params, of, err := c.FeatureFlags.Params(0)
	if err != nil {
		return nil, err
	}
	if err := app.ReadFeatures(&opt, of); err != nil {
		return nil, err
	}
	dir, err := a.TempDir()
	if err != nil {
		return nil, err
	}
	m := a.Meter()
	defer m.Stop()
	if err := a.Reread(s, dir, m); err != nil {
		return nil, err
	}
	rejects := c.rejects // of the first pass
	each := func(stage string, f func(*engine.Doc) error) error {
		r := app.Reading{Stage: stage, Meter: m, Options: opt, Rejects: rejects, Record: func(_ input.Source, rec *input.Record) error { return f(&rec.Doc) }}
		rejects = nil
		if err := a.EachInput(s, r); err != nil {
			return err
		}
		return s.Unchanged()
	}
	return c.look(a, m, Documents{params, each, func() {
		a.TellSkipped(s)
		c.rejects.TellUTF8()
	}})
}

// ofDatabase looks at the documents of a database.
func (c *Command) ofDatabase(a *app.App) (r *Report, err error) {
	db, err := a.Open(c.Data, app.Access{OrFile: true, Features: c.FeatureFlags})
	if err != nil {
		return nil, err
	}
	defer app.Closing(db, &err)
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	n, err := s.Count(a.Context(), time.Time{})
	if err != nil {
		return nil, err
	}
	p := db.Params()
	spec, err := features.Spec(p.Features).Canonical()
	if err != nil {
		return nil, err
	}
	m := a.Meter()
	defer m.Stop()
	each := func(stage string, f func(*engine.Doc) error) error {
		var text string
		filter, done := engine.EntryFilter{Unordered: true}, int64(0)
		if p.Text {
			filter.Where = func(t, _ []byte) (bool, error) { text = string(t); return true, nil }
		}
		for e, err := range s.Entries(a.Context(), filter) {
			if err != nil {
				return err
			}
			d := engine.Doc{ID: e.ID, Text: text}
			d.SetFingerprint(e.Words()...)
			if err := f(&d); err != nil {
				return err
			}
			done++
			m.Report(engine.Progress{Stage: stage, Done: done, Total: n, Unit: "documents"})
		}
		return nil
	}
	return c.look(a, m, Documents{features.Params{Shingle: p.Shingle, Features: spec, Words: p.Bits / 64}, each, func() {
		if !p.Text && p.Sketch > 0 {
			a.Say("%s keeps no texts: fingerprints are compared", c.Data)
		}
	}})
}

// look draws a sample and compares all documents with it.
func (c *Command) look(a *app.App, m *app.Meter, of Documents) (*Report, error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(max(int64(c.Memory)/8*7, 64<<20)))
	drawn, n, err := Draw(of, int(min(int64(c.Sample), setjoin.MaxSets)), c.Seed, int64(c.Memory)/8)
	if err != nil {
		return nil, err
	}
	report, nodes, err := Compare(a.Context(), of, drawn, n, int64(c.Memory)/2)
	if err != nil {
		return nil, err
	}
	m.Stop()
	of.notice()
	report.Name, report.Command, report.Hints = c.Data, c.command, hints(of.Params, nodes, report)
	return report, nil
}
