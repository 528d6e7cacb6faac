package verbs

import (
	"bufio"
	"encoding/json"
	"errors"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// Match is `simdb match`.
type Match struct {
	DB    string   `arg:"" file:"db" help:"The database."`
	Files []string `arg:"" file:"in" name:"file" help:"Files with documents, or a database, or with --files or --images the documents themselves; - is standard input."`
	app.SimilarityFlags
	app.NoVerifyFlag
	Add     bool        `help:"Store the new documents, so that later lines are also compared with them. A document whose id is stored with another text is compared with all others and, if it is new, replaces the stored one. The database is created if there is none."`
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
}

// matchFormat is the format of rows. Without --explain there are none: then it is that of inputs,
// as --format once was.
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

// Validate checks what depends on each other.
func (c *Match) Validate() error {
	if c.TimeField != "" && !c.Add {
		return errors.New("--time-field says when documents are stored: it needs --add")
	}
	return nil
}

// Help says what is written when.
func (Match) Help() string {
	return `--explain and --audit name the stored document that a line resembles most; if there are more than a few dozen, the best of the
first ones found.

Lines are looked up in batches: lines that are read during one lookup make up the next batch. With --add a line is written once it is
stored safely; lines that have been read by then are stored together.

With -o DIR/ the files appear in DIR at the end.

If an error or Ctrl-C ends a run with --add and -o early, the output has the lines of what was stored. The next run finds these
documents known, so give it another output.`
}

type matching struct {
	c       *Match
	db      *engine.DB
	rejects *inputs.Rejects
	meter   *app.Meter
	opt     records.Options
	sources *inputs.Sources
	first   records.Source      // the only input, until it is read
	folder  *inputs.OutFolder   // of -o DIR/, or nil
	allowed map[string][]string // of each ID in pairs of ALLOW the IDs that it is paired with
	audit   *matchAudit
	docs    []engine.Doc   // of a lot
	out     records.Copier // of lines, or
	lines   *bufio.Writer  // of out on standard output, else nil
	rows    *output.Writer // of rows
	read    int64          // documents
	fresh   int64          // of them, new; with --add they are stored
	renewed int64          // of them, in the place of a document with the same ID
	expired int64          // neither new nor known, as they are older than the time to live
	kept    bool           // the lines that were written before a failure are in the output
}

// names reports whether it matters which document a line is like.
func (t *matching) names() bool { return t.c.Explain || t.audit != nil }

// flush writes the lines of a lot that wait to be written.
func (t *matching) flush() error {
	if t.lines == nil {
		return nil
	}
	return t.lines.Flush()
}

// reading is how inputs are read.
func (t *matching) reading() inputs.Reading {
	return inputs.Reading{Stage: "match", Options: t.opt}
}

// decided writes what is to be written of a record. One that has expired is neither new nor known.
func (t *matching) decided(in records.Source, rec *records.Record, n engine.Novelty) error {
	known := !n.Stored && !n.Expired
	if !n.Stored {
		if err := t.audit.old(t.c, rec, n); err != nil {
			return err
		}
	}
	switch {
	case t.rows != nil && known:
		return t.rows.Row(t.c.Values(n.Match, rec.Doc.ID, n.Match.ID)...)
	case t.rows == nil && known == t.c.Invert && !n.Expired:
		return t.out.Copy(in, rec.Raw)
	}
	return nil
}

// matchParameters are the flags that decide what is known.
type matchParameters struct {
	Near        *app.Distance `json:"near,omitempty"`
	Jaccard     *app.Share    `json:"jaccard,omitempty"`
	Levenshtein *app.Share    `json:"levenshtein,omitempty"`
	Cosine      *app.Share    `json:"cosine,omitempty"`
	Contains    *app.Share    `json:"contains,omitempty"`
	Within      *app.Share    `json:"within,omitempty"`
	NoVerify    bool          `json:"no_verify,omitempty"`
	Database    string        `json:"database"`
	Documents   int64         `json:"documents"` // in the database at the start
	Add         bool          `json:"add,omitempty"`
	Reading     string        `json:"reading,omitempty"`
}

// matchAudit writes the lines that are known, and those that can't be used. A nil one writes none.
type matchAudit struct {
	w *outfile.Writer
	e *json.Encoder
}

// newAudit starts the audit with its first line; nil if there is to be none.
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
		Near: c.Near, Jaccard: c.Jaccard, Levenshtein: c.Levenshtein, Cosine: c.Cosine, Contains: c.Contains, Within: c.Within, NoVerify: c.NoVerify,
		Database: c.DB, Documents: stats.Documents, Add: c.Add, Reading: c.PageInputFlags.Reading(c.InputFormat.InputFormat, c.Bits),
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

// old takes note of a line that is not new, and what it is like.
func (t *matchAudit) old(c *Match, rec *records.Record, n engine.Novelty) error {
	if t == nil {
		return nil
	}
	m := n.Match
	row := dedup.AuditRow{ID: &rec.Doc.ID, File: rec.File, Line: rec.Pos, Keeper: &m.ID, Rule: "match"}
	switch {
	case n.Expired:
		row.Keeper, row.Rule = nil, "expired"
	case c.Near != nil:
		row.Distance = new(uint16(m.Distance))
	default:
		row.Score, row.Exact = &m.Score, &m.Exact
		if !m.Exact {
			row.Error = &m.Error
		}
	}
	return t.e.Encode(&row)
}

// issue takes note of a line that can't be used.
func (t *matchAudit) issue(is *records.Issue) error {
	if t == nil {
		return nil
	}
	return t.e.Encode(&dedup.AuditRow{Rule: "rejected", File: is.File, Line: is.Pos, Reason: is.Reason})
}

// close completes the audit, and after a failure drops it, unless it keeps its part. It returns the
// first error.
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
