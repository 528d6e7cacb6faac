package verbs

import (
	"fmt"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/records"
)

// Dedup is `simdb dedup`: it copies files without their near-duplicates and writes an audit of the
// documents left out.
type Dedup struct {
	Files []string `arg:"" file:"in" name:"file" help:"Files with documents, also at https://, s3://, gs:// and hf://, or a database, or with --files or --images the documents themselves; - is standard input."`
	app.FilesCriterionFlags
	app.GroupFlags
	Output  string `group:"output" short:"o" file:"copies" placeholder:"FILE" help:"Write the kept lines to FILE (.gz and .zst compress) instead of standard output; or to DIR/, with a slash at the end: one file for each input, with the same name. Inputs of several folders keep these if one is a partition such as year=2024, or if two have the same name."`
	Audit   string `group:"output" file:"jsonl" placeholder:"FILE" help:"Write the dropped documents, and the reasons, to FILE: JSON lines with id, file, line, keeper, keeper_file, keeper_line, distance, score, exact, rule and cluster (and lacks and adds, see --columns), after a line with the parameters and inputs (default: beside -o, as OUTPUT.audit.jsonl)."`
	NoAudit bool   `group:"output" help:"Write no audit."`
	app.NullFlag
	Keep    keepFlag `group:"kept" placeholder:"RULE,..." help:"Which document of a cluster is kept: first (default), last, longest, shortest, max:FIELD, min:FIELD, prefer:GLOB (one from a file whose name matches), or none (drop the whole cluster; with --level, remove the first occurrence, too). Where a rule does not decide, the next one does. Values of a field compare as numbers if all are numbers, otherwise byte by byte, which suits dates such as 2026-01-31. Documents without the field come last; the first document wins a tie."`
	Against []string `group:"kept" sep:"none" file:"in" placeholder:"FILE|DB" help:"Also drop documents that resemble one in FILE, or in the database DB, which is only read. Can be repeated; if several documents are equally similar, the audit names one from the first source. A database sets what is compared, such as --shingle, unless flags do, and its allowed pairs are not duplicates."`

	OnlyAgainst      bool   `group:"kept" help:"Drop only what resembles documents of --against: near-duplicates, or with --level text, that only the inputs have stay."`
	AgainstTextField string `group:"kept" placeholder:"NAME,..." help:"Field with the text in files of --against (default: as --text-field)."`
	AgainstIDField   string `group:"kept" placeholder:"NAME" help:"Field with the id in files of --against (default: as --id-field)."`

	Level     dedup.Level `group:"kept" enum:"document,paragraph,line,passage" default:"document" placeholder:"LEVEL" help:"What is removed: document (default); paragraph or line, each one that has occurred before, such as headers, menus and licences; or passage, each run of --min-words words (default: 50) that has occurred before, wherever it begins. Documents with nothing left are dropped. A paragraph ends before a blank line. Paragraphs and lines are compared without case and white space, with --jaccard T also those that only resemble one before them; those with fewer than --min-words words (default: 10) stay. Text in documents of --against counts as having occurred before."`
	Drop      bool        `group:"kept" help:"With --level: drop each document that has such a part, instead of the part: documents with a run of 13 words that a test set has (--level passage --min-words 13 --against TEST --only-against --drop)."`
	Passages  int         `group:"kept" placeholder:"N" help:"Drop each document that shares a run of N words with an earlier one, or with --against: only with one of its documents. Short for --level passage --min-words N --drop, with --against also --only-against."`
	MinCount  int         `group:"kept" default:"2" placeholder:"N" help:"With --level: remove only text that occurs at least N times, except for the first occurrence (default: 2); text of --against is always removed."`
	Decisions string      `group:"kept" file:"in" placeholder:"FILE" help:"Respect the decisions that the page of simdb review writes: pairs that are not duplicates are not joined, documents to keep win before --keep decides, and documents to drop come last."`
	Clusters  string      `group:"output" file:"jsonl" placeholder:"FILE" help:"Write the cluster of every document to FILE: JSON lines with id, file, line, cluster (null for a document that resembles no other), size, keep."`
	Columns   columnFlag  `group:"output" placeholder:"NAME,..." help:"Add columns to the copied records (JSON lines, JSON, CSV, TSV and Parquet): cluster, size, keeper (the id of the document of the cluster that is kept), distance, score (to the keeper). They are null for a document that resembles no other. lacks and adds are the words that only the keeper has, and that only the document has, up to 200 characters each: they are in the audit, and with --all in the copies."`
	All       bool        `group:"output" help:"Copy all documents, including those that would be dropped; --columns marks these."`
	app.FeatureFlags
	app.CopyInputFormat
	app.SummaryFlag
	app.PageInputFlags
	app.RejectFlags
	DryRun  bool       `group:"output" help:"Write nothing; report what would be kept."`
	Memory  app.Memory `group:"run" default:"auto" placeholder:"SIZE" help:"Memory for the run (default: a 16th of the machine's memory, from 256MiB to 1GiB; a quarter if the machine has less than 1GiB). Larger data goes to temporary files: about 8 bytes per word, or per character with --levenshtein; --near always needs some 70 bytes of memory per document."`
	TempDir string     `group:"run" placeholder:"FOLDER" help:"Folder for temporary files (default: the system's)."`
}

// columnFlag is a list of column names separated by commas.
type columnFlag struct{ dedup.Columns }

// keepFlag is a list of rules separated by commas.
type keepFlag struct{ dedup.Keep }

// Choices returns the beginnings of rules.
func (keepFlag) Choices() []string {
	return []string{"first", "last", "longest", "shortest", "max:", "min:", "prefer:", "none"}
}

// Validate checks flags that depend on each other, as far as possible before the run.
func (c *Dedup) Validate() error {
	j, err := c.job(records.Auto)
	if err == nil {
		err = j.Check()
	}
	return err
}

// Job returns the job that the flags describe.
func (c *Dedup) Job(a *app.App) (*dedup.Job, error) { return c.job(c.Named(a)) }

func (c *Dedup) job(format records.Format) (*dedup.Job, error) {
	compared, err := c.Compared()
	if err == nil {
		err = c.InputFlags.Check()
	}
	j := &dedup.Job{
		By: c.Measures().Criterion(), Rule: c.Pair(c.Levenshtein), Agree: c.Agree, Distinct: c.Distinct, Across: c.Across, WithinField: c.WithinField,
		Compared: compared, Read: c.PageInputFlags.Options(format), Where: c.Where(),
		Keep: c.Keep.Keep, Against: c.Against, OnlyAgainst: c.OnlyAgainst,
		AgainstTextField: c.AgainstTextField, AgainstIDField: c.AgainstIDField, Level: c.Level, Drop: c.Drop, MinCount: c.MinCount, Decisions: c.Decisions,
		Output: c.Output, Null: c.Null, Audit: c.Audit, NoAudit: c.NoAudit, Clusters: c.Clusters, Columns: c.Columns.Columns, All: c.All, DryRun: c.DryRun,
		Rejects: c.RejectFlags.Options(), ReadingAs: c.PageInputFlags.Reading(format, c.Bits), Memory: int64(c.Memory), TempDir: c.TempDir,
	}
	switch {
	case c.Passages == 0:
	case c.Passages < 0 || j.Level != dedup.Document || j.Drop || j.Compared.Features.MinWords > 0:
		return j, fmt.Errorf("--passages %d stands for --level passage --min-words %[1]d --drop: give it a number of words, and none of these flags", c.Passages)
	default:
		j.Level, j.Drop, j.OnlyAgainst, j.Compared.Features.MinWords = dedup.Passage, true, c.Against != nil, c.Passages
	}
	if c.Verify != nil {
		j.Verify = float64(*c.Verify)
	}
	if c.Seen != nil {
		j.Seen = float64(*c.Seen)
	}
	return j, err
}

// Run runs the command.
func (c *Dedup) Run(a *app.App) error {
	start := time.Now()
	j, err := c.Job(a)
	if err != nil {
		return err
	}
	j.Figures = !a.Global.Quiet
	defer app.KeepTo(j.Memory)()
	m := a.Meter()
	defer m.Stop()
	r, err := j.Write(a.Context(), a.Env(), c.Files)
	m.Stop()
	if r != nil {
		s := &dedupSummary{c: c, j: j, r: r, a: a}
		s.tell(start)
	}
	return err
}
