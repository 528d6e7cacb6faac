// Package dedup is the command `simdb dedup`: it copies files without their near-duplicates and
// writes an audit of what is left out.
//
// The files are read twice. The first pass computes what documents are compared by (package
// corpus), their sets of shingle hashes or their fingerprints, and nothing else is kept of them;
// sets that memory has no room for go to a temporary file. Then these are joined, and the second
// pass copies every record that is kept, byte for byte, and writes a line of the audit for every
// other one.
//
//	command.go   the flags
//	job.go       the state of a run
//	run.go       the first pass
//	files.go     inputs, read and compared
//	clusters.go  the join, and what becomes of each document
//	against.go   the documents of --against
//	narrow.go    those of a large database that the inputs may be like
//	decided.go   the decisions of --decisions
//	keep.go      which document of a cluster is kept
//	write.go     the second pass: copies, in a file or a folder, and the file of --clusters
//	audit.go     the lines of the audit
//	digests.go   digests of the inputs, for the audit
//	summary.go   what is said at the end
//	part.go      the passes over some of the inputs, for runs that many workers share
//	level.go     lines, paragraphs or passages in place of documents; the rest is in package units
package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/grouping"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/units"
	"github.com/simdb/simdb/records"
)

// Command is `simdb dedup`.
type Command struct {
	Files       []string      `arg:"" file:"in" name:"file" help:"Files with documents, or a database, or with --files or --images the documents themselves; - is standard input."`
	Near        *app.Distance `group:"criterion" xor:"criterion" placeholder:"K" help:"Two documents are near-duplicates if at most K of the bits of their fingerprints differ (of 64 bits 3 is strict, 6 to 10 finds edited copies of long texts)."`
	Jaccard     *app.Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Two documents are near-duplicates if their Jaccard similarity, the share of common shingles, is at least T, such as 0.8 or 80%; it is computed from the texts (default, without another criterion, except for pictures: 0.8)."`
	Levenshtein *app.Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Two documents are near-duplicates if the Levenshtein similarity of their texts is at least T: 1 - edits / characters of the longer text. For short texts, such as titles."`
	Cosine      *app.Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Two documents are near-duplicates if the cosine of their word counts is at least T; the order of words does not matter. For short texts."`
	Within      *app.Share    `group:"criterion" xor:"criterion" placeholder:"T" help:"Drop a document if at least the share T of its shingles is in another document that is kept: quotations, excerpts and earlier versions of a text. Of the files the larger document is kept, of equally large ones that which --keep chooses; documents of --against count whatever their size."`
	Verify      *app.Share    `group:"criterion" placeholder:"T" help:"With --near: two documents are near-duplicates only if their Jaccard similarity is also at least T."`
	grouping.Flags
	Output  string `group:"output" short:"o" file:"copies" placeholder:"FILE" help:"Write the lines that are kept to FILE (.gz and .zst compress) instead of standard output; or to DIR/, with a slash at the end: one file for each input, with the same name."`
	Audit   string `group:"output" file:"jsonl" placeholder:"FILE" help:"Write what is dropped, and why, to FILE: JSON lines with id, file, line, keeper, keeper_file, keeper_line, distance, score, exact, rule and cluster, after a line with the parameters and inputs (default: beside -o, as OUTPUT.audit.jsonl)."`
	NoAudit bool   `group:"output" help:"Write no audit."`
	app.NullFlag
	Keep      keepRules        `group:"kept" placeholder:"RULE,..." help:"Which document of a cluster is kept: first (default), last, longest, shortest, max:FIELD, min:FIELD, prefer:GLOB (one from a file whose name matches), or none: all documents of a cluster are dropped. Where a rule does not decide, the next one does. The values of a field compare as numbers if all of them are numbers, otherwise byte by byte, which suits dates such as 2026-01-31. Documents without the field come last; of equal documents the first is kept."`
	Against   []string         `group:"kept" sep:"none" file:"in" placeholder:"FILE|DB" help:"Also drop documents that resemble one in FILE, or in the database DB, which is only read. Can be repeated; of equally similar documents the audit names that of the first one. A database sets what is compared, such as --shingle, unless flags do, and its ALLOW pairs are no duplicates."`
	Level     units.Level      `group:"kept" enum:"document,paragraph,line,passage" default:"document" placeholder:"LEVEL" help:"What is removed: document (default); paragraph or line, each one that has occurred before, such as headers, menus and licences; or passage, each run of --min-words words (default: 50) that has occurred before, wherever it begins. Documents with nothing left are dropped. A paragraph ends before a blank line. Paragraphs and lines are compared without case and white space; those with fewer than --min-words words (default: 10) stay. What is in the documents of --against counts as having occurred before."`
	MinCount  int              `group:"kept" default:"2" placeholder:"N" help:"With --level: remove only what occurs at least N times, all but the first (default: 2); what is in --against is always removed."`
	Decisions string           `group:"kept" file:"in" placeholder:"FILE" help:"Respect the decisions that the page of simdb review writes: pairs that are not duplicates do not join, documents to keep are kept before --keep decides, and documents to drop are preferred last."`
	Clusters  string           `group:"output" file:"jsonl" placeholder:"FILE" help:"Write the cluster of every document to FILE: JSON lines with id, file, line, cluster (null for a document that resembles no other), size, keep."`
	Columns   app.AuditColumns `group:"output" placeholder:"NAME,..." help:"Add columns to the copied records (JSON lines, JSON, CSV, TSV and Parquet): cluster, size, keeper (the id of the document of the cluster that is kept), distance, score (to the keeper). They are null for a document that resembles no other."`
	All       bool             `group:"output" help:"Copy all documents, including those that would be dropped; --columns says which these are."`
	app.FeatureFlags
	app.CopyInputFormat
	app.SummaryFlag
	app.PageInputFlags
	app.RejectFlags
	Audited auditSink `kong:"-"` // of a dry run: takes the lines of the audit; or nil
	// Of a dry run with Level: takes the documents that have lost something, and what is left.
	Cut       func(rec *records.Record, left string) `kong:"-"`
	byDefault bool                                   // no criterion was given, and no database has been asked for one
	DryRun    bool                                   `group:"output" help:"Write nothing; report what would be kept."`
	Memory    app.Memory                             `group:"run" default:"auto" placeholder:"SIZE" help:"Memory for the run (default: a 16th of the machine's memory, from 256MiB to 1GiB; a quarter of less than 1GiB). The rest goes to temporary files, about 8 bytes per word, or with --levenshtein per character; --near always takes some 70 bytes of memory per document."`
	TempDir   string                                 `group:"run" placeholder:"FOLDER" help:"Folder for temporary files (default: that of the system)."`
}

// Validate checks what depends on each other.
func (c *Command) Validate() error {
	if c.Audit != "" && c.NoAudit {
		return errors.New("--audit and --no-audit contradict each other")
	}
	if c.Keep.all == nil {
		c.Keep.all = []keepRule{{name: "first"}}
	}
	if c.Within != nil {
		c.Keep.all = slices.Insert(c.Keep.all, 0, keepRule{name: largest})
	}
	if c.All && c.Columns == nil {
		return errors.New("--all copies everything: --columns cluster,keeper is needed to say what would be dropped")
	}
	if c.Level != units.Document {
		return c.validateLevel()
	}
	if err := cmp.Or(c.CheckImages(c.FileFlags), c.checkDecisions()); err != nil {
		return err
	}
	switch {
	case c.Grouped() && c.Within != nil:
		return errors.New("--across and --within-field keep pairs apart: they are without --within")
	case c.MinCount != 2:
		return errors.New("--min-count is for --level")
	case c.ofTexts() && c.RefuseFor("") != nil:
		return c.RefuseFor("--levenshtein or --cosine")
	case c.Within != nil && (c.Decisions != "" || c.Verify != nil || c.Images != nil):
		return errors.New("--within keeps the largest document of a cluster: --decisions, --verify and --images are not for it")
	case c.Images != nil && (c.Jaccard != nil || c.ofTexts() || c.Verify != nil):
		return errors.New("--images: pictures have no texts to compare: --near K compares their hashes")
	case c.Verify != nil && c.Near == nil:
		return errors.New("--verify is for --near; --jaccard is computed from the texts without it")
	case c.Near == nil && c.Jaccard == nil && c.Within == nil && !c.ofTexts():
		by := app.DefaultOf(nil, c.Images)
		c.Near, c.Jaccard, c.byDefault = by.Near, by.Jaccard, c.Images == nil
	}
	return nil
}

// settle has a run without a criterion use that of the first database, nil for none.
func (c *Command) settle(db *engine.DB) {
	if c.byDefault {
		by := app.DefaultOf(db, nil)
		c.byDefault, c.Near, c.Jaccard = false, by.Near, by.Jaccard
	}
}

// auditPath is where the audit goes, "" for nowhere: kept.jsonl.gz has kept.audit.jsonl beside it.
func (c *Command) auditPath() string {
	switch {
	case c.NoAudit || c.DryRun:
		return ""
	case c.Audit != "" || outfile.IsStdout(cmp.Or(c.Output, "-")):
		return c.Audit
	}
	if c.toFolder() {
		return filepath.Join(c.Output, "audit.jsonl")
	}
	if st, err := os.Stat(c.Output); err == nil && !st.Mode().IsRegular() || outfile.IsDescriptor(c.Output) {
		return "" // nothing is to be written beside /dev/null and /dev/fd/3
	}
	name := outfile.PlainName(c.Output)
	return strings.TrimSuffix(name, filepath.Ext(name)) + ".audit.jsonl"
}

// meaning says in words what makes two documents near-duplicates.
func (c *Command) meaning() string {
	if c.ofTexts() {
		return c.textMeaning()
	}
	if c.Images != nil {
		return c.Images.Meaning(*c.Near)
	}
	if c.Within != nil {
		return fmt.Sprintf("at least %s of the shingles of the dropped ones are in the one that is kept", c.Within.Percent())
	}
	m := app.CriterionFlags{Near: c.Near, Jaccard: c.Jaccard}.Meaning(true)
	if c.Verify != nil {
		m += fmt.Sprintf(", and at least %s of their shingles are common", c.Verify.Percent())
	}
	return m
}

// ofTexts reports whether the criterion compares the texts themselves.
func (c *Command) ofTexts() bool { return c.Levenshtein != nil || c.Cosine != nil }

// textCriterion is the criterion where similarities of texts decide, also with --near and --verify.
func (c *Command) textCriterion() corpus.Criterion {
	switch {
	case c.Levenshtein != nil:
		return corpus.Levenshtein(float64(*c.Levenshtein))
	case c.Cosine != nil:
		return corpus.Cosine(float64(*c.Cosine))
	case c.Within != nil:
		return corpus.Contained(float64(*c.Within))
	case c.Near != nil && c.Verify != nil:
		return corpus.Criterion{Sets: true, T: float64(*c.Verify)}
	case c.Jaccard != nil:
		return corpus.Criterion{Sets: true, T: float64(*c.Jaccard)}
	}
	return corpus.Criterion{}
}

// textMeaning is meaning of these measures. It says how pairs were found.
func (c *Command) textMeaning() string {
	share := "enough words"
	if c.Levenshtein != nil {
		if q := c.textCriterion().Measure.Q; q > 1 {
			share = fmt.Sprintf("a run of %d characters at about the same place", q)
		} else {
			share = "about the same length"
		}
	}
	return fmt.Sprintf("%s; of all pairs those that share %s were compared, and no others can be",
		app.SimilarityFlags{Levenshtein: c.Levenshtein, Cosine: c.Cosine}.Meaning(true), share)
}

// emptyNote says what documents lack that match nothing.
func (c *Command) emptyNote() string {
	switch {
	case c.Levenshtein != nil:
		return "have no text; they match nothing and are kept"
	}
	return "have no words; they match nothing and are kept"
}

// toFolder reports whether every input has an output of its own: the name of -o ends as that of a
// folder.
func (c *Command) toFolder() bool { return outfile.IsFolderName(c.Output) }

// checkDecisions checks the flags given with --decisions.
func (c *Command) checkDecisions() error {
	if c.Decisions == "-" {
		return errors.New("--decisions is read from a file, not from standard input")
	}
	return nil
}

// minUnitWords is --min-words without the flag: shorter lines, such as headings and
// closing brackets, come again by chance, and mean something where they stand.
const minUnitWords = 10

// minPassageWords is --min-words of passages: runs that are found in two texts by chance are
// shorter.
const minPassageWords = 50

// minWords is --min-words with --level.
func (c *Command) minWords() int {
	if c.Level == units.Passage {
		return cmp.Or(int(c.MinWords), minPassageWords)
	}
	return cmp.Or(int(c.MinWords), minUnitWords)
}

// validateLevel checks the flags of a run with --level.
func (c *Command) validateLevel() error {
	f := c.FeatureFlags
	switch {
	case c.Near != nil || c.Jaccard != nil || c.Within != nil || c.ofTexts() || c.Verify != nil:
		return fmt.Errorf("--level %s compares whole %ss, which are equal or not: --near, --verify, --jaccard, --within, --levenshtein and --cosine are for documents", c.Level, c.Level)
	case c.Grouped():
		return fmt.Errorf("--across and --within-field are for documents, and --level compares %ss", c.Level)
	case c.Keep.String() != "first":
		return fmt.Errorf("--keep %s: with --level the first %s is kept", c.Keep, c.Level)
	case c.Clusters != "" || c.Decisions != "" || c.Columns != nil:
		return errors.New("--clusters, --columns and --decisions are for documents, without --level")
	case f.Shingle.N != 0 || f.Bits != 0 || f.RequireWord != "" || f.Field != nil || f.SetField != "":
		return fmt.Errorf("--level %s compares whole %ss of one text: --shingle, --bits, --require-word, --field and --set-field have no meaning", c.Level, c.Level)
	case c.OfFiles():
		return errors.New("--files, --images: the output is a list of paths, which has no texts that --level could cut")
	case c.MinCount < 2 || c.MinCount > math.MaxInt32:
		return fmt.Errorf("--min-count %d: at least 2, as the first of what is repeated stays", c.MinCount)
	}
	return nil
}
