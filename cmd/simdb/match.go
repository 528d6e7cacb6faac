package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/repl/output"
)

// matchCmd is `simdb match`.
type matchCmd struct {
	DB   string `arg:"" file:"db" help:"The database."`
	File string `arg:"" file:"in" help:"A file with documents; - is standard input."`
	criterionFlags
	noVerifyFlag
	Add    bool   `help:"Store the documents that are new, so that later lines are compared with them too."`
	Output string `short:"o" file:"lines" placeholder:"FILE" help:"Write the new lines to FILE instead of standard output."`
	inputFormat
	inputFlags
	rejectFlags
}

// Run copies the lines that are new.
func (c *matchCmd) Run(a *app) (err error) {
	start := time.Now()
	opt := c.inputFlags.options(c.Format)
	opt.MakeID = !c.Add
	src, err := newSources([]string{c.File})
	if err != nil {
		return err
	}
	open := a.openForReading
	if c.Add {
		open = a.openForWriting
	}
	db, err := open(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	if c.Jaccard != nil && !c.NoVerify && !db.Params().Text {
		return fmt.Errorf("%s keeps no texts to decide on: --no-verify decides on estimates", c.DB)
	}
	m := a.meter()
	defer m.Stop()
	in, err := a.openInput(m, c.File, opt)
	if err != nil {
		return err
	}
	defer in.Close()
	rejects, err := a.newRejects(c.rejectFlags, a.talk(m))
	if err != nil {
		return err
	}
	t := &matching{c: c, db: db, rejects: rejects, meter: m, sources: src, inPairs: idsInPairs(db)}
	if c.Near != nil && !c.Add && src.total > 0 {
		t.held = new(heldLines)
	}
	err = t.run(a, in)
	m.Stop()
	err = errors.Join(err, rejects.close(err))
	a.say("%s read, %s of them new; %s rejected; %s", count(t.read, "document"), progress.Number(t.fresh),
		rejects.counted(), seconds(start))
	return err
}

// matching is a run of match.
type matching struct {
	c           *matchCmd
	db          *engine.DB
	rejects     *rejects
	meter       *progress.Meter
	sources     sources
	inPairs     map[string]bool // ids that ALLOW has noted
	held        *heldLines      // nil where records are decided one by one
	out         input.Copier
	read, fresh int64
}

// run reads the file and writes what is new: each line as soon as it is known to be, or many at a time from a regular file, which
// nobody waits for.
func (t *matching) run(a *app, in input.Source) error {
	format := in.Info().Format
	to, err := a.sink(t.c.Output, copiesOf(format), output.Options{})
	if err != nil {
		return err
	}
	t.out = format.NewCopier(to, input.CopyOptions{Follow: true})
	if err = t.records(a, in); err == nil {
		err = t.out.Close()
	}
	return to.close(err)
}

func (t *matching) records(a *app, in input.Source) error {
	for rec, err := range in.Records(a.context()) {
		if err == nil {
			if err := t.record(a.context(), rec, in); err != nil {
				return err
			}
		} else if is, ok := errors.AsType[*input.Issue](err); ok {
			err = t.rejects.add(is)
		}
		if err != nil {
			if !a.interrupted() { // what comes before the error is decided all the same
				err = errors.Join(err, t.release(a.context(), in))
			}
			return err
		}
		t.meter.Report(t.sources.progress("match", in))
	}
	return t.release(a.context(), in)
}

// record writes a record if it is new.
func (t *matching) record(ctx context.Context, rec *input.Record, in input.Source) error {
	t.read++
	if t.held != nil {
		if full, err := t.hold(ctx, rec); !full || err != nil {
			return err
		}
		return t.release(ctx, in)
	}
	fresh, err := t.isNew(ctx, rec)
	if err != nil || !fresh {
		return err
	}
	return t.write(rec.Raw, in)
}

// write writes a new record.
func (t *matching) write(raw []byte, in input.Source) error {
	t.fresh++
	return t.out.Copy(in, raw)
}

// isNew says whether nothing in the database is like the record, not even a document of the same id; with --add it is
// stored then.
func (t *matching) isNew(ctx context.Context, rec *input.Record) (bool, error) {
	by := t.c.criterion(!t.c.NoVerify)
	var known bool
	var err error
	if t.inPairs[rec.Doc.ID] {
		known, err = t.knownBeside(ctx, rec)
	} else {
		_, known, err = t.db.AnyMatch(ctx, engine.Doc{Text: rec.Doc.Text, Fingerprint: rec.Doc.Fingerprint}, by)
	}
	if err != nil || known || !t.c.Add {
		return !known, err
	}
	_, stored, err := t.db.PutNovel(ctx, rec.Doc, by)
	return stored, err
}

// fingerprint returns the record's fingerprint, or that of its text, if it has one.
func (t *matching) fingerprint(rec *input.Record) (fp uint64, ok bool) {
	if rec.Doc.Fingerprint != nil {
		return *rec.Doc.Fingerprint, true
	}
	return t.db.Fingerprint(rec.Doc.Text)
}
