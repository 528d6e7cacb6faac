package dedup

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// Run runs the command.
func (c *Command) Run(a *app.App) (err error) {
	start := time.Now()
	d := &job{a: a, c: c, keep: newRankings(c.Keep)}
	d.opt = c.InputFlags.Options(c.Format)
	d.opt.MakeID = true
	if d.params, d.features, err = c.Params(0); err != nil {
		return err
	}
	if err := app.ReadFeatures(&d.opt, d.features); err != nil {
		return err
	}
	if err := c.checkAgainst(); err != nil {
		return err
	}
	if d.src, err = a.NewSources(c.Files, c.InputFlags); err != nil {
		return err
	}
	d.names = d.src.Names
	unmake, err := d.makeFolder()
	if err != nil {
		return err
	}
	defer func() { unmake(err) }()
	if err := c.claimAudit(a); err != nil {
		return err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapLimit(c.Memory)))
	dir, err := a.TempDirIn(c.TempDir)
	if err != nil {
		return err
	}
	d.meter = a.Meter()
	defer d.meter.Stop()
	if err := d.spool(dir); err != nil {
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
	if err = errors.Join(err, d.rejects.Close(err)); err != nil {
		return err
	}
	a.TellSkipped(&d.src)
	d.summary(start)
	if d.read == 0 && d.rejects.N > 0 {
		return fmt.Errorf("no document could be used: %s rejected", d.rejects.Counted())
	}
	return nil
}

// heapLimit is what the garbage collector is told to keep to: the process has buffers and its code
// beyond that.
func heapLimit(memory app.Memory) int64 {
	const least = 64 << 20
	return max(int64(memory)/8*7, least)
}

// work reads, forms clusters, and writes.
func (d *job) work(dir string) error {
	d.digests = d.newDigests()
	defer d.digests.stop()
	if err := d.decide(dir); err != nil {
		return err
	}
	if d.c.DryRun {
		d.kept = d.read - d.out.dropped
		return nil
	}
	return d.write()
}

// decide reads all documents and decides which of them are kept.
func (d *job) decide(dir string) error {
	if d.c.Estimate {
		return d.estimates(dir)
	}
	c := d.newCorpus(dir)
	defer c.Close()
	if err := d.extract(c); err != nil {
		return err
	}
	d.empty = c.EmptyFrom(d.known)
	if d.c.Near == nil && c.Textual == 0 && c.Given > 0 {
		return corpus.ErrNoTexts
	}
	return d.join(c)
}

// extract is the first pass: it computes what documents are compared by.
func (d *job) extract(c *corpus.Corpus) error {
	x := corpus.NewExtractor(d.a.Context(), d.params, c)
	defer x.Stop()
	if err := d.readKnown(x); err != nil {
		return err
	}
	err := d.readAll(func(rec *input.Record) error { return x.Add(&rec.Doc) })
	if err != nil {
		return err
	}
	return x.Finish()
}
