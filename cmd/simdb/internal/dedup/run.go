package dedup

import (
	"errors"
	"slices"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/units"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Run runs the command.
func (c *Command) Run(a *app.App) (err error) {
	start := time.Now()
	d := &job{a: a, c: c}
	d.keep = newRankings(c.Keep)
	if err := d.readDecisions(); err != nil {
		return err
	}
	d.opt = c.PageInputFlags.Options(c.Named(a))
	d.opt.MakeID, d.opt.Memory, d.opt.Cut, d.opt.Bits = true, int64(c.Memory), c.Level != units.Document, int(c.Bits)
	if d.params, d.features, err = c.Params(0); err != nil {
		return err
	}
	if d.Sources, err = a.NewCollection(c.Files, c.InputFlags, c.access()); err != nil {
		return err
	}
	defer d.Stored.Close(&err)
	if err := d.groupBy(); err != nil {
		return err
	}
	defer d.closeAgainst(&err)
	if err := d.openAgainst(); err != nil {
		return err
	}
	if c.Near == nil && slices.Contains(c.Columns, "distance") {
		return errors.New("--columns distance is for --near")
	}
	if err := app.ReadFeatures(&d.opt, d.features); err != nil {
		return err
	}
	unmake, err := d.makeFolder()
	if err != nil {
		return err
	}
	defer func() { unmake(err) }()
	if err := c.claimAudit(a); err != nil {
		return err
	}
	defer app.KeepTo(int64(c.Memory))()
	dir, err := a.TempDirIn(c.TempDir)
	if err != nil {
		return err
	}
	d.meter = a.Meter()
	defer d.meter.Stop()
	if err := a.Env().Reread(a.Context(), d.Sources, dir); err != nil {
		return err
	}
	if err := d.probe(); err != nil {
		return err
	}
	if err := d.openOutputs(); err != nil {
		return err
	}
	err = d.work(dir)
	d.meter.Stop()
	if err == nil {
		a.Env().TellSkipped(d.Sources)
		d.tellUnused()
		d.summary(start)
	}
	return d.rejects.Close(err)
}

// work reads, forms clusters, and writes.
func (d *job) work(dir string) error {
	d.digests = d.newDigests()
	defer d.digests.stop()
	if d.c.Level != units.Document {
		return d.workLevel(dir)
	}
	if err := d.decide(dir); err != nil {
		return err
	}
	if d.c.DryRun {
		d.kept = d.read - d.out.dropped
		for n := range d.read {
			if d.gone(d.known + n) {
				d.kept--
			}
		}
		return d.tellAudit()
	}
	return d.write()
}

// decide reads all documents and decides which of them are kept.
func (d *job) decide(dir string) error {
	if err := d.narrow(); err != nil {
		return err
	}
	c := d.newCorpus(dir)
	defer c.Close()
	if err := d.extract(c); err != nil {
		return err
	}
	d.empty = c.EmptyFrom(d.known)
	if d.c.Near == nil && c.Textual == 0 && c.Given > 0 {
		return inputs.NoTexts()
	}
	if d.decided != nil {
		d.decided.known = uint32(d.known)
	}
	return d.join(c)
}

// extract is the first pass: it computes what documents are compared by.
func (d *job) extract(c *corpus.Corpus) error {
	x := corpus.NewExtractor(d.a.Context(), d.params, c)
	defer x.Stop()
	if err := d.readKnown(func(rec *records.Record) error { return x.Add(&rec.Doc, d.groups()) }); err != nil {
		return err
	}
	err := d.readAll(func(rec *records.Record) error {
		if d.c.Near == nil && rec.Doc.Text == "" && rec.Doc.Fingerprint != nil {
			d.bare++
		}
		return x.Add(&rec.Doc, d.groups())
	})
	if err != nil {
		return err
	}
	if !d.c.ofTexts() {
		d.short = x.Few().Advice(d.params.Features)
	}
	if err := x.Finish(); err != nil {
		return err
	}
	return d.c.Near.Within(max(64*len(c.Prints), int(d.c.Bits)))
}
