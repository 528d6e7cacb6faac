package dedup

import (
	"context"
	"errors"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Write runs a job on inputs named by arguments, as inputs.Env defines them, and writes the
// outputs that the job names. It publishes all outputs or none.
func (c *Job) Write(ctx context.Context, env *inputs.Env, args []string) (r *Report, err error) {
	d, err := c.open(ctx, env, args)
	if d != nil {
		defer d.close(&err)
	}
	if err != nil {
		return nil, err
	}
	unmake, err := d.makeFolder()
	if err != nil {
		return nil, err
	}
	defer func() { unmake(err) }()
	if c.Columns.ofWords() && !c.All && c.AuditPath() == "" && c.Audited == nil {
		return nil, invalid("%s: words that differ are in the audit (%s), and in copies with %s", option.Set("Columns", c.Columns), option.Name("Audit"), option.Name("All"))
	}
	if err := d.claimAudit(); err != nil {
		return nil, err
	}
	dir, remove, err := d.reread()
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := d.probe(); err != nil {
		return nil, err
	}
	if err := d.openOutputs(); err != nil {
		return nil, err
	}
	if err = d.work(dir); err == nil {
		env.TellSkipped(d.Sources, d.rejects)
		d.tellUnused()
		r = d.report()
	}
	return r, d.rejects.Close(err)
}

// open returns a run on the inputs named by arguments, and on Against. The caller must close any
// run that it returns, even with an error.
func (c *Job) open(ctx context.Context, env *inputs.Env, args []string) (*job, error) {
	if len(args) == 0 {
		return nil, invalid("no files are given")
	}
	d, err := c.start(ctx, env)
	if err != nil {
		return nil, err
	}
	d.args = args
	if d.Sources, err = env.NewCollection(ctx, args, c.Where, d.access()); err != nil {
		return nil, err
	}
	err = d.groupBy()
	if err == nil {
		err = d.openAgainst()
	}
	if err != nil {
		return d, err
	}
	if d.Near == nil && d.c.Columns.has("distance") {
		return d, invalid("%s needs %s", option.Set("Columns", "distance"), option.Name("Near"))
	}
	return d, inputs.ReadFeatures(&d.opt, d.features)
}

// close closes the databases of a run.
func (d *job) close(err *error) {
	for i := range d.against {
		d.against[i].Stored.Close(err)
	}
	d.Stored.Close(err)
}

// start returns a run without inputs.
func (c *Job) start(ctx context.Context, env *inputs.Env) (*job, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	c, rule, limits, err := c.settled()
	if err != nil {
		return nil, err
	}
	d := &job{ctx: ctx, env: env, c: c, criteria: c.criteria(), rule: rule, limits: limits}
	d.keep = newRankings(c.Rules())
	if err := d.readDecisions(); err != nil {
		return nil, err
	}
	d.opt = c.Read
	d.opt.NoText = fieldsOnly(rule)
	d.opt.MakeID, d.opt.Memory, d.opt.Cut, d.opt.Bits = true, c.memory(), c.level() != units.Document && !c.Drop, c.Compared.Bits
	d.params, d.features, err = paramsOf(c.Compared)
	return d, err
}

// work reads the documents, forms clusters, and writes the outputs.
func (d *job) work(dir string) (err error) {
	d.dir = dir
	d.digests = d.newDigests()
	defer func() {
		if d.digests.stop(); errors.Is(err, units.ErrChanged) {
			err = inputs.ErrChanged
		}
	}()
	if d.c.level() != units.Document {
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

// decide reads all documents and decides which ones stay.
func (d *job) decide(dir string) error {
	if d.c.Seen != 0 {
		return d.decideSeen(dir)
	}
	if d.rule != nil {
		return d.decideRule(dir)
	}
	if d.c.Compared.NotStored() == nil {
		if err := d.narrow(); err != nil {
			return err
		}
	}
	if err := d.weigh(dir); err != nil {
		return err
	}
	c := d.newCorpus(dir, true)
	defer c.Close()
	if err := d.extract(c); err != nil {
		return err
	}
	d.empty = c.EmptyFrom(d.known)
	if d.Near == nil && c.Textual == 0 && c.Given > 0 {
		return inputs.NoTexts()
	}
	if d.decided != nil {
		d.decided.known = uint32(d.known)
	}
	if err := d.join(c); err != nil {
		return err
	}
	d.countDifferences()
	return nil
}

// weigh sets which features are not compared, and the weights of the others. Those that depend on the documents need a pass of their own,
// which also reads the documents of Against.
func (d *job) weigh(dir string) error {
	w := inputs.Weighing{Inputs: d.Sources, Read: d.opt, Memory: d.c.memory(), Dir: dir}
	w.Each = func(count func(*engine.Doc) error) error {
		for i := range d.against {
			err := d.against[i].each(d, records.NeedText, func(rec *records.Record) error { return count(&rec.Doc) }, ignored)
			if err != nil {
				return err
			}
		}
		return d.each(readStage, nil, func(_ records.Source, rec *records.Record) error { return count(&rec.Doc) }, ignored)
	}
	err := d.env.Weigh(d.ctx, d.c.Compared, &d.params, w)
	d.failed = nil // the next pass finds damage again
	return err
}

// extract is the first pass: it computes the features to compare.
func (d *job) extract(c *corpus.Corpus) error {
	x := corpus.NewExtractor(d.ctx, d.params, c)
	defer x.Stop()
	d.watchDifferences()
	if err := d.readKnown(func(rec *records.Record) error {
		d.differ.add(rec.Doc.Text)
		return x.Add(&rec.Doc, d.groups())
	}); err != nil {
		return err
	}
	err := d.readAll(func(rec *records.Record) error {
		if d.Near == nil && rec.Doc.Text == "" && rec.Doc.Fingerprints != nil {
			d.bare++
		}
		d.differ.add(rec.Doc.Text)
		return x.Add(&rec.Doc, d.groups())
	})
	if err != nil {
		return err
	}
	if !d.ofTexts() {
		d.short = x.Few().Advice(d.params.Features)
	}
	if err := x.Finish(); err != nil {
		return err
	}
	d.env.TellIdle(d.Sources, x.Idle(d.c.Compared.Features.Fold))
	return inputs.CheckDistance(d.Near, max(64*len(c.Fingerprints), d.c.Compared.Bits))
}
