package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/ordered"
)

// Run runs the command.
func (c *Command) Run(a *app.App) (err error) {
	start := time.Now()
	d := &job{a: a, c: c, keep: ranking{rule: c.Keep}}
	d.opt = c.InputFlags.Options(c.Format)
	d.opt.MakeID = true
	if err := c.claimAudit(a); err != nil {
		return err
	}
	if d.src, err = a.NewSources(c.Files, c.InputFlags); err != nil {
		return err
	}
	d.names = d.src.Names
	dir, err := a.TempDir()
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

// work reads, forms clusters, and writes.
func (d *job) work(dir string) (err error) {
	db, err := engine.Create(filepath.Join(dir, "documents"), d.c.databaseOptions())
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if err := d.load(db); err != nil {
		return err
	}
	if err := d.cluster(db); err != nil {
		return err
	}
	return d.write()
}

// load is the first pass: it gives every document its ordinal and its fingerprint.
func (d *job) load(db *engine.DB) error {
	loader, err := db.NewLoader(d.a.Context(), engine.LoadOptions{MemoryBytes: int64(d.c.Memory)})
	if err != nil {
		return err
	}
	err = d.each("fingerprint", func(_ input.Source, rec *input.Record) error {
		if rec.BadUTF8 {
			d.badUTF8++
		}
		d.keep.add(rec)
		doc := engine.Doc{ID: ordinalID(d.read), Text: rec.Doc.Text, Fingerprint: rec.Doc.Fingerprint}
		d.read++
		return loader.Add(doc)
	}, d.rejects.Add)
	if err == nil {
		err = d.damage()
	}
	if err == nil {
		err = d.keep.decide()
	}
	if err != nil {
		loader.Abort()
		return err
	}
	d.meter.Report(engine.Progress{Stage: "sort"})
	stats, err := loader.Close()
	d.empty = stats.Empty
	return err
}

// damage returns an error if a file could not be read to its end. The rest of it would be missing
// from the output without a trace.
func (d *job) damage() error {
	if len(d.failed) == 0 {
		return nil
	}
	return errors.Join(append(d.failed, errors.New("nothing is written, as lines would be missing: repair or leave out what is damaged"))...)
}

// cluster finds the clusters, and so which documents are dropped and for which keeper.
func (d *job) cluster(db *engine.DB) error {
	o := &engine.ClusterOptions{Before: d.keep.before(), Progress: d.meter.Report}
	keeper := int64(0)
	for m, err := range db.Clusters(d.a.Context(), d.c.Criterion(!d.c.NoVerify), o) {
		if err != nil {
			return err
		}
		n := ordinalOf(m.ID)
		if m.Keep {
			keeper = n
			d.clusters++
		}
		d.members = append(d.members, member{
			ordinal: n, keeper: keeper, cluster: int32(m.Cluster), distance: int32(m.Distance),
			score: m.Score, err: m.Error, exact: m.Exact,
		})
	}
	return ordered.InPlace(d.a.Context(), d.members, func(x, y member) int { return cmp.Compare(x.ordinal, y.ordinal) })
}
