package verbs

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// Run copies the lines that are new.
func (c *Match) Run(a *app.App) (err error) {
	start := time.Now()
	switch {
	case !c.Explain && c.Format.Set && c.Format.input == records.Auto:
		return errors.New("--format is that of the rows of --explain")
	case !c.Explain || !c.Format.Set:
		c.TakeOld(a, c.Format.input)
	}
	opt := c.PageInputFlags.Options(c.InputFormat.InputFormat)
	opt.MakeID, opt.Answers = !c.Add, true
	if c.Explain {
		opt.Need = records.NeedDoc
	}
	src, err := a.NewCollection(c.Files, c.InputFlags, app.Access{})
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	defer app.KeepTo(int64(c.Memory))()
	db, err := c.open(a)
	if err != nil {
		return err
	}
	defer func() { err = app.End(db, err) }()
	c.Settle(a, db, c.Images)
	opt.Bits = db.Params().Bits
	if err := cmp.Or(inputs.ReadFeatures(&opt, db.Params().Features), src.Stored.ReadsAs(db.Params().Features, c.DB)); err != nil {
		return err
	}
	if !c.Add {
		err = a.Env().CheckTexts(a.Context(), db, c.Near != nil)
	}
	if c.Jaccard != nil && !c.NoVerify && !db.Params().Text {
		err = cmp.Or(err, fmt.Errorf("%s stores no texts to verify with: --no-verify uses estimates", c.DB))
	}
	if err = cmp.Or(err, a.Env().CheckTexts(a.Context(), src.DB(), c.Near != nil)); err != nil {
		return err
	}
	pairs, err := allowedOf(db)
	if err != nil {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	t := &matching{c: c, db: db, meter: m, opt: opt, sources: src, allowed: pairs}
	defer func() { t.undo(err) }()
	if err := t.prepare(a); err != nil {
		return err
	}
	defer func() {
		if t.first != nil { // it was not read
			t.first.Close()
		}
	}()
	t.rejects = a.NewRejects(c.RejectFlags, c.Output)
	if t.audit, err = c.newAudit(a, db, src); err != nil {
		return err
	}
	err = t.run(a)
	err = t.audit.close(err, t.keepsPart(err))
	m.Stop()
	a.Env().TellSkipped(src)
	if !c.Tell(a, start, app.Figure{Name: "read", Value: t.read}, app.Figure{Name: "new", Value: t.fresh},
		app.Figure{Name: "replaced", Value: t.renewed}, app.Figure{Name: "expired", Value: t.expired}, app.Figure{Name: "rejected", Value: t.rejects.N}) {
		a.Say("%s%s; %s", t.summary(err), c.Alike(c.Near), app.Seconds(start))
	}
	t.rejects.TellUTF8()
	t.rejects.Partial = t.keepsPart(err)
	return t.rejects.Close(err)
}

// open opens the database. With --add it creates it if there is none.
func (c *Match) open(a *app.App) (*engine.DB, error) {
	what, _ := engine.Identify(c.DB)
	how := app.Access{Write: c.Add, Create: c.Add && what == "", Contain: c.Contains != nil || c.Within != nil, Near: c.Near, Features: c.FeatureFlags, Images: c.Images, Memory: int64(c.Memory)}
	create := how.Create && !inputs.Exists(c.DB) // else another process is about to create it
	if create {
		if err := app.Prepare(c.DB); err != nil {
			return nil, err
		}
	}
	db, err := a.Open(c.DB, how)
	if err == nil && create {
		a.Say("created %s; simdb create makes a database with other parameters, such as --ttl", c.DB)
	}
	return db, err
}

// summary says what was read and found, and after an error what was stored before it.
func (t *matching) summary(err error) string {
	text := fmt.Sprintf("%s read, %s of them new", quantity.Count(t.read, "document"), quantity.Number(t.fresh))
	if t.renewed > 0 {
		text += fmt.Sprintf("; %s replaced an earlier one", quantity.Number(t.renewed))
	}
	if t.expired > 0 {
		text += fmt.Sprintf("; %s already expired", quantity.Number(t.expired))
	}
	if err != nil && t.c.Add {
		text += fmt.Sprintf("; %s stored before the error", quantity.Count(t.fresh, "document"))
		switch toFile := !t.c.Explain && !t.c.Invert && !outfile.IsStdout(cmp.Or(t.c.Output, "-")); {
		case t.kept && toFile:
			text += ", with their lines in " + t.c.Output
		case t.fresh > 0 && toFile:
			text += ", with their lines in no output"
		}
	}
	return text
}

// prepare opens a single input. If there are several, it looks at the beginning of each and checks
// that copies of their records have a place: one output, if they are alike, or a folder.
func (t *matching) prepare(a *app.App) (err error) {
	names := t.sources.Names
	toFolder := outfile.IsFolderName(t.c.Output)
	if len(names) == 1 && !toFolder {
		if t.first, err = t.sources.Open(0, t.opt); err == nil {
			err = t.c.CheckInput(t.first)
		}
		return err
	}
	if toFolder && t.c.Explain {
		return fmt.Errorf("-o %s: --explain writes the rows of all inputs to one file", t.c.Output)
	}
	if toFolder {
		if t.folder, err = a.Env().NewOutFolder(t.c.Output, t.sources, false); err != nil {
			return err
		}
	}
	var like records.Info // the first input
	formats := make([]records.Format, len(names))
	for i := range names {
		info, err := t.probe(a, i)
		if err == nil && i > 0 && !toFolder && !t.c.Explain {
			err = inputs.OneOutput(like, info)
		}
		if err != nil {
			return err
		}
		if formats[i] = info.Format; i == 0 || like.Empty {
			like = info
		}
	}
	if toFolder {
		return t.folder.Claim(names, formats)
	}
	return nil
}

// probe reads the beginning of one of several inputs and describes it.
func (t *matching) probe(a *app.App, i int) (info records.Info, err error) {
	name := t.sources.Names[i]
	if st, err := os.Stat(name); name == "-" || err == nil && !st.Mode().IsRegular() {
		return info, fmt.Errorf("%s: several inputs, and those of -o DIR/, are regular files: match it alone", name)
	}
	return a.Env().Probe(a.Context(), t.sources, i, t.reading(), func(in records.Source) error {
		if err := t.c.CheckInput(in); err != nil {
			return err
		}
		_, err := in.Info().Format.NewCopier(io.Discard, records.CopyOptions{Like: in})
		return cmp.Or(context.Cause(a.Context()), err)
	})
}

// run reads the inputs and writes what is new.
func (t *matching) run(a *app.App) error {
	switch {
	case t.c.Explain:
		_, err := a.RowsTo(app.RowFlags{Format: t.c.Format.RowFormat, Output: t.c.Output}, t.c.Columns("query", "id"), func(w *output.Writer) error {
			t.rows = w
			return t.eachInput(func(in records.Source) error { return t.records(a, in) })
		})
		return err
	case t.folder != nil:
		return t.toFolder(a)
	}
	var to interface {
		Write(p []byte) (int, error)
		Close(failure error) error
	}
	err := t.eachInput(func(in records.Source) (err error) {
		names := t.sources.Names
		if last := names[len(names)-1]; in.Info().Empty && len(names) > 1 && in.Info().Name != records.ShownName(last) {
			return nil // the output is like one with something in it
		}
		if t.out == nil {
			format := in.Info().Format
			if to, err = a.Sink(t.c.Output, inputs.CopyOf(in.Info()), output.Options{}); err != nil {
				return err
			}
			w := io.Writer(to)
			if outfile.IsStdout(cmp.Or(t.c.Output, "-")) {
				t.lines = bufio.NewWriterSize(to, linesBytes)
				w = t.lines
			}
			if t.out, err = format.NewCopier(w, records.CopyOptions{Follow: true, Like: in, Null: t.c.Null}); err != nil {
				return err
			}
		}
		return t.records(a, in)
	})
	if t.out == nil {
		return err
	}
	if t.keepsPart(err) {
		t.kept = to.Close(t.endLines()) == nil
		return err
	}
	if err == nil {
		err = t.endLines()
	}
	return to.Close(err)
}

// linesBytes is how many bytes of lines are written to standard output together, if a lot has as
// many.
const linesBytes = 64 << 10

// endLines completes the only output of lines.
func (t *matching) endLines() error { return cmp.Or(t.out.Close(), t.flush()) }

// keepsPart reports whether outputs that a failure has cut short are published nevertheless: what
// is stored is known to the next run, so that no other output would ever have the lines in them.
func (t *matching) keepsPart(failure error) bool {
	return failure != nil && t.c.Add && t.fresh > 0
}

// eachInput calls do for every input.
func (t *matching) eachInput(do func(in records.Source) error) (err error) {
	for i := range t.sources.Names {
		in := t.first
		if t.first = nil; in == nil {
			if in, err = t.sources.Open(i, t.opt); err != nil {
				return err
			}
		}
		err = do(in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// toFolder writes an output for each input. Either all of them are published or none, or after a
// failure of --add those that there are.
func (t *matching) toFolder(a *app.App) (err error) {
	var written []*outfile.Writer
	defer func() {
		if err == nil {
			return
		}
		for _, w := range written {
			w.Abort()
		}
	}()
	at := 0
	var ended error // of the last output
	err = t.eachInput(func(in records.Source) error {
		format := in.Info().Format
		w, err := a.Create("-o", t.folder.Place(t.sources.Names[at]), t.folder.Kind(t.sources.Names[at], format))
		if err != nil {
			return err
		}
		if t.out, err = format.NewCopier(w, records.CopyOptions{Like: in, Null: t.c.Null}); err != nil {
			w.Abort()
			return err
		}
		at++
		written = append(written, w)
		if err = t.records(a, in); err == nil || t.keepsPart(err) {
			ended = t.out.Close()
			err = cmp.Or(err, ended)
		}
		if err == nil {
			err = w.Finish()
		}
		return err
	})
	if t.keepsPart(err) {
		t.kept = ended == nil && outfile.Commit(written...) == nil
		return err
	}
	if err != nil {
		return err
	}
	return outfile.Commit(written...)
}

// undo removes a folder that was made for nothing.
func (t *matching) undo(err error) {
	if err != nil && t.folder != nil {
		t.folder.Undo()
	}
}
