package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/repl/output"
)

// Match is `simdb match`.
type Match struct {
	DB    string   `arg:"" file:"db" help:"The database."`
	Files []string `arg:"" file:"in" name:"file" help:"Files with documents, or with --files the documents themselves; - is standard input."`
	app.SimilarityFlags
	app.NoVerifyFlag
	Add     bool          `help:"Store the documents that are new, so that later lines are compared with them too. One whose id is stored with another text replaces that."`
	Invert  bool          `help:"Copy the lines that are known instead of the new ones."`
	Explain bool          `help:"Write rows instead of lines: for each line that is known its id (query), the id of a stored document that it is like, and how much; with --invert and without."`
	Rows    app.RowFormat `group:"output" name:"rows" placeholder:"FORMAT" help:"--explain: ${formats} (default: table on a terminal, by the ending of -o, tsv elsewhere)."`
	Output  string        `group:"output" short:"o" file:"copies" placeholder:"FILE" help:"Write the lines, or rows, to FILE instead of standard output; or lines to DIR/, which ends in a slash: for every input a file of its name."`
	Audit   string        `group:"output" file:"jsonl" placeholder:"FILE" help:"Write which lines are known, and what they are like, to FILE: JSON lines in the form of the audit of dedup."`
	app.NullFlag
	app.InputFormat
	app.PageInputFlags
	app.FeatureFlags
	app.RejectFlags
	app.MemoryFlag
}

// Help says what is written when.
func (Match) Help() string {
	return `Of the documents that a line is like, --explain and --audit name the best one; where more than a few dozen are, the best of
those that are found first.

Lines are looked up many at a time: those that have been read while others were looked up. With --add a line is written once it
is stored safely; lines that have been read by then are stored together.

With -o DIR/ nothing is in DIR before the end.

A run with --add and -o that an error or Ctrl-C ends early leaves the lines of what it has stored in the output. The next run takes
these documents for known: give it another output.`
}

// Run copies the lines that are new.
func (c *Match) Run(a *app.App) (err error) {
	start := time.Now()
	if c.Rows.Set && !c.Explain {
		return errors.New("--rows is for --explain")
	}
	opt := c.PageInputFlags.Options(c.Format)
	opt.MakeID, opt.Answers = !c.Add, true
	src, err := a.NewSources(c.Files, c.InputFlags)
	if err != nil {
		return err
	}
	defer app.KeepTo(int64(c.Memory))()
	db, err := a.Open(c.DB, app.Access{Write: c.Add, Features: c.FeatureFlags, Memory: int64(c.Memory)})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if err := app.ReadFeatures(&opt, db.Params().Features); err != nil {
		return err
	}
	if c.Jaccard != nil && !c.NoVerify && !db.Params().Text {
		return fmt.Errorf("%s stores no texts to verify with: --no-verify uses estimates", c.DB)
	}
	if !c.Add {
		if err := a.CheckTexts(db, c.SimilarityFlags); err != nil {
			return err
		}
	}
	inPairs, err := idsInPairs(db)
	if err != nil {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	t := &matching{c: c, db: db, meter: m, opt: opt, sources: src, inPairs: inPairs}
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
	a.TellSkipped(src)
	a.Say("%s; %s", t.summary(err), app.Seconds(start))
	t.rejects.TellUTF8()
	t.rejects.Partial = t.keepsPart(err)
	return t.rejects.Close(err)
}

// matching is a run of match.
type matching struct {
	c       *Match
	db      *engine.DB
	rejects *app.Rejects
	meter   *app.Meter
	opt     input.Options
	sources *app.Sources
	first   input.Source    // the only input, until it is read
	folder  *app.OutFolder  // of -o DIR/, or nil
	inPairs map[string]bool // IDs in pairs of ALLOW
	audit   *matchAudit
	docs    []engine.Doc   // of a lot
	out     input.Copier   // of lines, or
	rows    *output.Writer // of rows
	read    int64          // documents
	fresh   int64          // of them, new; with --add they are stored
	renewed int64          // of them, in the place of a document with the same ID
	kept    bool           // the lines that were written before a failure are in the output
}

// summary says what was read and found, and after an error what was stored before it.
func (t *matching) summary(err error) string {
	text := fmt.Sprintf("%s read, %s of them new", quantity.Count(t.read, "document"), quantity.Number(t.fresh))
	if t.renewed > 0 {
		text += fmt.Sprintf("; %s replaced an earlier one", quantity.Number(t.renewed))
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

// names reports whether it matters which document a line is like.
func (t *matching) names() bool { return t.c.Explain || t.audit != nil }

// reading is how inputs are read.
func (t *matching) reading() app.Reading {
	return app.Reading{Stage: "match", Meter: t.meter, Options: t.opt}
}

// decided writes what is to be written of a record; m is what a known one is like.
func (t *matching) decided(in input.Source, rec *input.Record, m engine.Match, known bool) error {
	if known {
		if err := t.audit.known(t.c, rec, m); err != nil {
			return err
		}
	}
	switch {
	case t.rows != nil && known:
		return t.rows.Row(t.c.Values(m, rec.Doc.ID, m.ID)...)
	case t.rows == nil && known == t.c.Invert:
		return t.out.Copy(in, rec.Raw)
	}
	return nil
}

// idsInPairs returns the ids that are in allowed pairs.
func idsInPairs(db *engine.DB) (map[string]bool, error) {
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ids := map[string]bool{}
	for p := range s.Allowed() {
		ids[p.A], ids[p.B] = true, true
	}
	return ids, nil
}
