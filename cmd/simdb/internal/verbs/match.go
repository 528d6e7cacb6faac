package verbs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// Match is `simdb match`.
type Match struct {
	DB    string   `arg:"" file:"db" name:"db|file" help:"The database, or a file with documents."`
	Files []string `arg:"" file:"in" name:"file" help:"Files with documents, also at https://, s3://, gs:// and hf://, or a database, or with --files or --images the documents themselves; - is standard input."`
	app.SimilarityFlags
	Seen *app.Share `group:"criterion" required:"" xor:"criterion" placeholder:"T" help:"A line is known if at least the share T of its shingles, at each of their positions, is in stored documents, however few each of them has."`
	app.GroupFlags
	app.EstimateFlag
	Add     bool        `help:"Store the new documents, so that later lines are also compared with them. A document whose id is stored with another text is compared with all others and, if it is new, replaces the stored one. The database is created if there is none."`
	Renew   bool        `help:"With --add: a stored document that a line resembles gets the time of that line, so that it expires --ttl after it was last seen."`
	Invert  bool        `help:"Copy the lines that are known instead of the new ones."`
	Explain bool        `help:"Write rows instead of lines: for each known line its id (query), the id of a stored document that it resembles, and how much; with or without --invert."`
	Format  matchFormat `group:"output" aliases:"rows" placeholder:"FORMAT" help:"--explain: ${formats} (default: table on a terminal, by the ending of -o, tsv elsewhere)."`
	Output  string      `group:"output" short:"o" file:"copies" placeholder:"FILE" help:"Write the lines, or rows, to FILE instead of standard output; or lines to DIR/, with a slash at the end: one file for each input, with the same name."`
	Audit   string      `group:"output" file:"jsonl" placeholder:"FILE" help:"Write the known lines, and what they resemble, to FILE: JSON lines in the form of the audit of dedup."`
	app.NullFlag
	app.InputFormat
	app.SummaryFlag
	app.PageInputFlags
	loading.TimeFlag
	app.FeatureFlags
	app.RejectFlags
	app.MemoryFlag
	app.CacheFlag

	audit  *matchAudit
	rows   *output.Writer // for --explain
	prompt bool           // flush per batch, because the writer of a pipe may wait for its rows
}

// matchFormat is the format of rows. Without --explain there are no rows: then it is the format of
// inputs, as --format once was.
type matchFormat struct {
	app.RowFormat
	input records.Format
}

// UnmarshalText parses the name of a format.
func (f *matchFormat) UnmarshalText(text []byte) error {
	err := f.RowFormat.UnmarshalText(text)
	var wrong error
	if f.input, wrong = records.ParseFormat(string(text)); wrong == nil && err != nil {
		f.Set = false
		return nil
	}
	return err
}

// Validate checks flags that depend on each other.
func (c *Match) Validate() error {
	if c.TimeField+c.ExpiresField != "" && !c.Add {
		return errors.New("--time-field and --expires-field are for documents that are stored: they need --add")
	}
	if c.Renew && c.Seen != nil {
		return errors.New("--renew changes the document that a line resembles, but with --seen there is no single one")
	}
	if ruled := c.Grouped() || c.Pair(c.Levenshtein) != nil; ruled && (c.Renew || c.Estimate || c.Seen != nil) {
		return errors.New("--renew, --estimate and --seen cannot be used with a rule: --rule, --agree, --distinct, --across, --within-field, and fields of --levenshtein")
	}
	if (c.Ignore != "" || c.IgnoreCommon != 0) && (c.Renew || c.Estimate || c.Seen != nil) {
		return errors.New("--renew, --estimate and --seen cannot be used with --ignore and --ignore-common, which compare pairs of texts")
	}
	if c.Renew && !c.Add {
		return errors.New("--renew changes stored documents: it needs --add")
	}
	return nil
}

// Help says when which output is written.
func (Match) Help() string {
	return `--explain and --audit name the stored document that a line resembles most; if there are more than a few dozen, the best of the
first ones found.

Lines are looked up in batches: lines that are read during one lookup make up the next batch. With --add a line is written once it is
stored safely; lines that have been read by then are stored together.

With -o DIR/ the files appear in DIR at the end.

If an error or Ctrl-C ends a run with --add and -o early, the output has the lines of what was stored. The next run finds these
documents known, so give it another output.`
}

// Run copies the new lines.
func (c *Match) Run(a *app.App) (err error) {
	start := time.Now()
	o, err := c.options(a)
	if err != nil {
		return err
	}
	src, err := a.NewCollection(c.Files, c.InputFlags, inputs.Access{})
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	defer app.KeepTo(int64(c.Memory) + c.Bytes())()
	db, err := c.open(a, o, src)
	if err != nil {
		return err
	}
	defer func() { err = app.End(db, err) }()
	c.Settle(a, db, c.Images)
	if err := c.compare(a, db, src, o); err != nil {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	t, err := dedup.NewMatch(a.Context(), a.Env(), src, db, *o)
	defer func() { t.Close(err) }()
	if err != nil {
		return err
	}
	if t.Scans {
		a.Say("%s has no index of containment, so each line reads all stored texts while other writers wait; simdb rebuild %s NEW --containment makes a database with one", c.DB, c.DB)
	}
	if c.audit, err = c.newAudit(a, db, src); err != nil {
		return err
	}
	if c.Explain {
		_, err = a.RowsTo(app.RowFlags{Format: c.Format.RowFormat, Output: c.Output}, c.measure().Columns("query", "id"), func(w *output.Writer) error {
			c.rows, c.prompt = w, c.Add || src.Piped()
			return t.Run(a.Context())
		})
	} else {
		err = t.Run(a.Context())
	}
	err = c.audit.close(err, t.KeepsPart(err))
	m.Stop()
	a.Env().TellSkipped(src, o.Rejects)
	if !c.Tell(a, start, app.Figure{Name: "read", Value: t.Read}, app.Figure{Name: "new", Value: t.Fresh},
		app.Figure{Name: "replaced", Value: t.Renewed}, app.Figure{Name: "expired", Value: t.Expired}, app.Figure{Name: "rejected", Value: o.Rejects.N}) {
		a.Say("%s%s; %s", c.summary(t, err), c.PictureNote(c.Near), app.Seconds(start))
	}
	o.Rejects.TellUTF8()
	o.Rejects.Partial = t.KeepsPart(err)
	return o.Rejects.Close(err)
}

// options returns the options that the flags set.
func (c *Match) options(a *app.App) (*dedup.MatchOptions, error) {
	switch {
	case !c.Explain && c.Format.Set && c.Format.input == records.Auto:
		return nil, errors.New("--format sets the format of the rows of --explain, which is not given")
	case !c.Explain || !c.Format.Set:
		c.TakeOld(a, c.Format.input)
	}
	o := &dedup.MatchOptions{
		Add: c.Add, Renew: c.Renew, Named: c.Explain || c.Audit != "", Memory: int64(c.Memory), Read: c.PageInputFlags.Options(c.InputFormat.InputFormat),
		Rejects: a.NewRejects(c.RejectFlags, c.Output), Prepare: c.prepare, Known: c.known, Flush: c.flush,
		Output: c.Output, Invert: c.Invert, Null: c.Null,
		Rule: c.Pair(c.Levenshtein), Agree: c.Agree, Distinct: c.Distinct, Across: c.Across, WithinField: c.WithinField,
		Check:    func(in records.Source) error { return c.CheckInput(in) },
		Rejected: func(is *records.Issue) error { return c.audit.issue(is) },
		Open:     func(kind outfile.Kind) (dedup.MatchOutput, error) { return a.Sink(c.Output, kind, output.Options{}) },
	}
	if o.Read.MakeID, o.Read.Answers = !c.Add, true; c.Explain {
		o.Read.Need, o.Open = records.NeedDoc, nil
	}
	return o, nil
}

// compare sets the options so that lines are read and compared like the documents of the database,
// or returns an error if they cannot be.
func (c *Match) compare(a *app.App, db *engine.DB, src *inputs.Sources, o *dedup.MatchOptions) (err error) {
	o.By, o.Read.Bits = c.Criterion(c.Estimate), db.Options().Bits
	if c.Seen != nil {
		o.By, o.Seen = engine.Contains(float64(*c.Seen)), true
	}
	if err := cmp.Or(inputs.ReadFeatures(&o.Read, db.Options().Features), src.Stored.ReadsAs(db.Options().Features, c.DB)); err != nil {
		return err
	}
	if !c.Add {
		err = a.Env().CheckTexts(a.Context(), db, c.DB, c.Near != nil)
	}
	if c.Jaccard != nil && !c.Estimate && db.Options().NoText {
		err = cmp.Or(err, fmt.Errorf("%s stores no texts to compare: --estimate compares sketches", c.DB))
	}
	err = cmp.Or(err, a.Env().CheckTexts(a.Context(), src.DB(), "", c.Near != nil))
	if err == nil && c.Explain && outfile.IsFolderName(c.Output) {
		err = fmt.Errorf("-o %s: --explain writes the rows of all inputs to one file", c.Output)
	}
	return err
}

// prepare completes a record before it is looked up.
func (c *Match) prepare(rec *records.Record) (reason string) {
	if c.Near == nil && rec.Doc.Text == "" && rec.Doc.Fingerprints != nil {
		rec.Flaw = "it has a fingerprint but no text; --near K compares fingerprints"
	}
	return c.Take(&rec.Doc)
}

// known writes the audit and the row of a line that is not new.
func (c *Match) known(rec *records.Record, n engine.Novelty) error {
	err := c.audit.old(c, rec, n)
	if err == nil && c.rows != nil && !n.Expired {
		err = c.rows.Row(c.measure().Values(n.Match, rec.Doc.ID, seenAs(n.Match))...)
	}
	return err
}

// measure returns the criterion by which rows measure matches.
func (c *Match) measure() app.CriterionFlags {
	return c.Scored(c.Grouped() || c.Ignore != "" || c.IgnoreCommon != 0)
}

// seenAs returns the ID of the document that a line resembles, nil if it was seen in many.
func seenAs(m engine.Match) any {
	if m.ID == "" {
		return nil
	}
	return m.ID
}

func (c *Match) flush() error {
	if !c.prompt {
		return nil
	}
	return c.rows.Flush()
}

// open opens the database. With --add it creates a database that does not exist; otherwise it may
// be a file, which it loads into a temporary database, unless the input is a database: then the
// arguments are probably in the wrong order.
func (c *Match) open(a *app.App, o *dedup.MatchOptions, src *inputs.Sources) (*engine.DB, error) {
	compared, err := c.Compared()
	if err != nil {
		return nil, err
	}
	what, _ := engine.Identifier()(c.DB)
	how := inputs.Access{Write: c.Add, Create: c.Add && what == "", Contain: c.Contains != nil || c.Within != nil || c.Seen != nil, Near: (*int)(c.Near), Compared: compared, Images: c.Images, Memory: int64(c.Memory), Cache: int64(c.Cache)}
	if how.Create && !inputs.Exists(c.DB) { // otherwise another process is about to create it
		if err := app.Prepare(c.DB); err != nil {
			return nil, err
		}
	}
	path := c.DB
	if !c.Add && src.Stored == nil && inputs.NamesFiles(c.DB) && (c.DB == "-" || inputs.Exists(c.DB)) {
		if path, err = c.load(a, o, how); err != nil {
			return nil, err
		}
		o.Loaded = true
	}
	o.Compared = compared
	db, err := a.Env().OpenDB(path, how)
	if err == nil && db.Metrics().Created {
		a.Say("created %s; simdb create makes a database with other parameters, such as --ttl", c.DB)
	}
	return db, err
}

// load loads the file that the first argument names into a temporary database.
func (c *Match) load(a *app.App, o *dedup.MatchOptions, how inputs.Access) (path string, err error) {
	if slices.Contains(c.Files, "-") && c.DB == "-" {
		return "", errors.New("standard input (-) can be read only once")
	}
	src, err := a.NewSources([]string{c.DB}, c.InputFlags)
	if err != nil {
		return "", err
	}
	read := inputs.Reading{Stage: "read", Options: o.Read, Rejects: o.Rejects}
	read.Options.NoText, read.Options.MakeID = o.FieldsOnly(), true
	_, said, err := c.Params(0)
	if err = cmp.Or(err, inputs.ReadFeatures(&read.Options, said)); err != nil {
		return "", err
	}
	if path, err = a.TempDirIn(""); err != nil {
		return "", err
	}
	path = filepath.Join(path, "files.simdb")
	return path, dedup.LoadFiles(a.Context(), a.Env(), src, path, how, read, o.Memory)
}

// summary returns the number of lines read and found and, after an error, of documents stored
// before it.
func (c *Match) summary(t *dedup.Match, err error) string {
	text := fmt.Sprintf("%s read, %s new", quantity.Count(t.Read, "document"), quantity.Number(t.Fresh))
	if t.Renewed > 0 {
		text += fmt.Sprintf("; %s replaced an earlier one", quantity.Number(t.Renewed))
	}
	if t.Expired > 0 {
		text += fmt.Sprintf("; %s already expired", quantity.Number(t.Expired))
	}
	if err != nil && c.Add {
		text += fmt.Sprintf("; %s stored before the error", quantity.Count(t.Fresh, "document"))
		switch toFile := !c.Explain && !c.Invert && !outfile.IsStdout(cmp.Or(c.Output, "-")); {
		case t.Kept && toFile:
			text += ", with their lines in " + c.Output
		case t.Fresh > 0 && toFile:
			text += ", but their lines are in no output"
		}
	}
	return text
}

// measures returns the measures that the flags set.
func (c *Match) measures() dedup.Measures {
	m := c.Measures()
	m.Seen = (*float64)(c.Seen)
	return m
}

// matchParameters are the flags that decide which lines are known.
type matchParameters struct {
	dedup.Measures
	Rule         *dedup.PairRule `json:"rule,omitempty"`
	Agree        []string        `json:"agree,omitempty"`
	Distinct     []string        `json:"distinct,omitempty"`
	Across       string          `json:"across,omitempty"`
	WithinField  string          `json:"within_field,omitempty"`
	Ignore       string          `json:"ignore,omitempty"`
	IgnoreCommon float64         `json:"ignore_common,omitempty"`
	Estimate     bool            `json:"estimate,omitempty"`
	Database     string          `json:"database"`
	Documents    int64           `json:"documents"` // in the database at the start
	Add          bool            `json:"add,omitempty"`
	Reading      string          `json:"reading,omitempty"`
}

// matchAudit writes the known lines, and the lines that cannot be used. A nil matchAudit writes
// nothing.
type matchAudit struct {
	w *outfile.Writer
	e *json.Encoder
}

// newAudit starts the audit with its first line. It returns nil if no audit is wanted.
func (c *Match) newAudit(a *app.App, db *engine.DB, src *inputs.Sources) (*matchAudit, error) {
	if c.Audit == "" {
		return nil, nil
	}
	var inputs []dedup.AuditInput
	for _, name := range src.Names {
		in, err := auditInput(a, src, name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	stats, err := db.Stats()
	if err != nil {
		return nil, err
	}
	w, err := a.Create("--audit", c.Audit, outfile.JSONLines)
	if err != nil {
		return nil, err
	}
	t := &matchAudit{w: w, e: dedup.AuditEncoder(w)}
	err = t.e.Encode(dedup.AuditHead{Version: version.String(), Parameters: matchParameters{
		Measures: c.measures(), Rule: c.Pair(c.Levenshtein), Agree: c.Agree, Distinct: c.Distinct, Across: c.Across, WithinField: c.WithinField,
		Ignore: c.Ignore, IgnoreCommon: float64(c.IgnoreCommon), Estimate: c.Estimate, Database: c.DB, Documents: stats.Documents, Add: c.Add, Reading: c.PageInputFlags.Reading(c.InputFormat.InputFormat, c.Bits),
	}, Inputs: inputs})
	if err != nil {
		return nil, t.close(err, false)
	}
	return t, nil
}

func auditInput(a *app.App, src *inputs.Sources, name string) (dedup.AuditInput, error) {
	in := dedup.AuditInput{File: records.ShownName(name)}
	switch {
	case src.Tree != nil:
		in.Bytes = &src.Total
	case name == "-":
		in.File = "stdin"
	case src.Total > 0:
		var err error
		if in, err = dedup.Digest(a.Context(), name); err != nil {
			return in, err
		}
		in.File = records.ShownName(name)
	}
	return in, nil
}

// old writes a line that is not new, with its match.
func (t *matchAudit) old(c *Match, rec *records.Record, n engine.Novelty) error {
	if t == nil {
		return nil
	}
	m, row := n.Match, dedup.RowOf(rec, "match")
	if row.Keeper = &m.ID; m.ID == "" {
		row.Keeper, row.Rule = nil, "seen"
	}
	switch {
	case n.Expired:
		row.Keeper, row.Rule = nil, "expired"
	case c.measure().Near != nil:
		row.Distance = new(uint16(m.Distance))
	default:
		row.Score, row.Exact = &m.Score, &m.Exact
		if !m.Exact {
			row.Error = &m.Error
		}
	}
	return t.e.Encode(&row)
}

// issue writes a line that cannot be used.
func (t *matchAudit) issue(is *records.Issue) error {
	if t == nil {
		return nil
	}
	return t.e.Encode(dedup.RejectedRow(is))
}

// close completes the audit. After a failure it drops the audit, unless keepsPart is set. It
// returns the first error.
func (t *matchAudit) close(failure error, keepsPart bool) error {
	if t == nil {
		return failure
	}
	if failure != nil && !keepsPart {
		t.w.Abort()
		return failure
	}
	return errors.Join(failure, t.w.Commit())
}
