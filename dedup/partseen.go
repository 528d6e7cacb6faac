package dedup

import (
	"context"
	"iter"
	"path/filepath"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// SeenUnit is a unit of a text with its n-grams.
type SeenUnit = units.Unit

// SeenRepeat is a unit that is removed because it has been seen.
type SeenRepeat = units.Repeat

// NewKnownPart prepares a run on Against, whose files it finds at the given paths. Its rejects go
// to a folder.
func (c Job) NewKnownPart(ctx context.Context, env *inputs.Env, paths []string, dir string) (*Part, error) {
	names := c.Against
	c.Against, c.Output = paths, dir+string(filepath.Separator)
	d, err := c.start(ctx, env)
	if err == nil {
		d.Sources, err = inputs.FileSources(nil)
	}
	if err == nil {
		err = inputs.ReadFeatures(&d.opt, d.features)
	}
	if err == nil {
		err = d.openAgainst()
	}
	if err == nil {
		_, err = d.makeFolder()
	}
	if err != nil {
		return nil, err
	}
	for i := range d.against {
		d.against[i].path = names[i]
	}
	d.rejects = env.NewRejects(ctx, c.Rejects, c.Output)
	d.rejects.Part = true
	return &Part{d}, nil
}

// TextBytes returns the approximate size of the texts.
func (p *Part) TextBytes() int64 { return p.d.inputBytes() }

// ExtractUnits is the first pass of a job with Seen. It calls each with the units of all documents
// in order, with their n-grams in a slice that it reuses.
func (p *Part) ExtractUnits(each func(u SeenUnit) error) (t Tally, err error) {
	d := p.d
	d.digests = d.newDigests()
	defer d.digests.stop()
	l := d.newLevel(nil)
	if d.c.level() == units.Document {
		l.options.Spec = d.params.Features
	}
	given, textless := int64(0), int64(0)
	l.options.Each = func(u units.Unit) error {
		if len(u.Grams) == 0 {
			textless++
			return nil
		}
		return each(u)
	}
	x := units.NewExtractor(d.ctx, l.options, nil)
	defer x.Stop()
	add := func(rec *records.Record) error {
		if rec.Doc.Text == "" && rec.Doc.Fingerprints != nil {
			given++
		}
		return x.Add(rec.Doc.Text)
	}
	switch {
	case d.against != nil:
		err = d.readKnown(add)
	case d.c.level() == units.Document:
		err = d.readAll(add)
	default:
		err = l.readInputs(add)
	}
	if err == nil {
		err = x.Finish()
	}
	if err := d.closeRejects(err); err != nil {
		return t, err
	}
	t = Tally{Documents: d.read, Textual: d.read - given, Given: given, Empty: textless, Rejected: d.rejects.N, Flawed: d.flawed, Against: d.auditKnown()}
	t.Inputs, err = d.digests.wait()
	return t, err
}

// WriteSeen is the second pass of a job with Seen: it copies what stays, and writes the rows of the
// audit. It needs the Tally of the first pass, and the units that are removed, in order.
func (p *Part) WriteSeen(t Tally, gone []SeenRepeat, auditTo auditSink) (Tally, error) {
	d := p.d
	d.read, d.flawed = t.Documents, t.Flawed
	if d.c.level() != units.Document {
		l := d.newLevel(repeats(gone))
		l.audit = &audit{e: auditTo}
		return p.commit(l.copy())
	}
	d.out = outcome{keeper: ordered.Numbers(int(d.read)), cluster: make([]uint32, d.read), score: make([]float64, d.read)}
	for _, r := range gone {
		if int64(r.At.Doc()) >= d.read {
			return Tally{}, inputs.ErrChanged
		}
		d.out.drop(r)
	}
	return p.copy(&audit{places: true, e: auditTo, keep: &d.keep, out: &d.out, gone: d.gone})
}

// drop drops a document that has been seen.
func (o *outcome) drop(r units.Repeat) {
	o.keeper[r.At.Doc()], o.score[r.At.Doc()] = nobody, r.Share
	o.dropped++
}

// copy copies the documents that stay.
func (p *Part) copy(a *audit) (Tally, error) {
	d := p.d
	n, err := d.copy(a)
	if err == nil && (n != d.read || len(d.failed) > 0) {
		err = inputs.ErrChanged
	}
	return p.commit(err)
}

// commit completes the outputs, unless there was an error.
func (p *Part) commit(err error) (Tally, error) {
	d := p.d
	if err == nil {
		err = outfile.Commit(d.keepTo...)
	}
	return Tally{Documents: d.read, Dropped: d.read - d.kept, Kept: d.kept}, err
}

// repeats is a finder of units that are known.
type repeats []units.Repeat

func (repeats) Know(int64, bool)           {}
func (repeats) Find(context.Context) error { return nil }
func (repeats) Close() error               { return nil }
func (r repeats) All() iter.Seq2[units.Repeat, error] {
	return func(yield func(units.Repeat, error) bool) {
		for _, x := range r {
			if !yield(x, nil) {
				return
			}
		}
	}
}
