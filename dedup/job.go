package dedup

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// A Job describes which documents are near-duplicates, which stay, and the outputs. The zero
// Job drops documents whose Jaccard similarity with a kept document is at least 0.8, and writes
// the others to standard output. Check reports fields that do not compose.
type Job struct {
	// By is the criterion for near-duplicates: Near, Jaccard, Levenshtein, Cosine or Within of
	// package engine, always computed exactly. The zero Criterion means Jaccard(0.8), for hashes of
	// pictures the distance up to which two pictures count as the same, and with Level that units
	// are equal; there only Jaccard may be given, for lines and paragraphs.
	By engine.Criterion

	// Verify adds a condition to Near: the Jaccard similarity must also be at least this. 0 means
	// no such condition.
	Verify float64

	// Seen, if not 0, replaces By: a document, or a unit of Level, is dropped if at least this share
	// of its n-grams (shingles, at each of their positions) is in texts before it that stay, or in
	// Against. What is dropped shows nothing, so all n-grams remain. The outcome is that of one text
	// at a time, in the order of the input. A text of fewer words than a shingle has one n-gram.
	Seen float64 `json:",omitempty"`

	// Rule, if not nil, replaces By, Verify and Seen. Its short forms also add to it, or to By: the
	// numbers in two documents must be equal with Agree "numbers", the dates with "dates", and the matches of
	// another string, a regular expression.
	Rule  *PairRule `json:",omitempty"`
	Agree []string  `json:",omitempty"`

	// Distinct lists words that may not differ, likewise: two documents do not match if only one of
	// them has a word, or for "left/right", if only one has left and only the other has right. "recurring"
	// stands for the differences that recur, DIFFERS(RECURRING) of a PairRule.
	Distinct []string `json:",omitempty"`

	// With Across, documents match only if they differ in this field, or come from different
	// files or folders if it is "file" or "folder". With WithinField, they match only if they are
	// equal in this field.
	Across, WithinField string

	Compared inputs.Compared // what to compare in documents
	Read     records.Options // how to read files
	Where    inputs.Options  // what the arguments name

	Keep    Keep     `json:",omitempty"` // which document of a cluster stays; nil means the first; with Level, None removes the first occurrence of a unit, too
	Against []string // files and databases: documents that resemble one of theirs are dropped, too

	// OnlyAgainst restricts the job to these: documents, or units of Level, that repeat others of
	// the inputs stay. AgainstTextField and AgainstIDField are the TextField and the IDField of files
	// of Against; "" means those of Read.
	OnlyAgainst                      bool
	AgainstTextField, AgainstIDField string

	Level Level // what to remove; "" is Document
	// Drop, with Level, drops each document with a unit that would be removed, instead of removing the
	// unit. Units of dropped documents count as having occurred before.
	Drop bool `json:",omitempty"`

	MinCount  int    // with Level: remove units that occur at least this often, except for the first occurrence; 0 is 2
	Decisions string // a file of decisions, as the page of a review writes it; "" for none

	Output    string  // the file of copies, a folder if it ends in a slash; "" is standard output
	Null      bool    // each path of files that are documents ends with a zero byte
	Audit     string  // the file that lists the dropped documents with reasons; "" places it beside Output
	NoAudit   bool    // write no audit
	Clusters  string  // a file with the cluster of every document; "" for none
	Columns   Columns // columns to add to copies
	All       bool    // also copy documents that would be dropped
	DryRun    bool    // write nothing
	Rejects   inputs.RejectOptions
	ReadingAs string // how inputs are read, for the head of the audit

	Figures bool   // the Report measures how similar the texts are that Near drops, counts differences that equal sets hide, and differences in words that recur
	Memory  int64  // bytes for the run; 0 is 256 MiB. Anything beyond goes to temporary files
	TempDir string // the folder of temporary files; "" is the system's

	Log      *slog.Logger          `json:"-"` // for Run: receives messages for the user; or nil
	Progress func(engine.Progress) `json:"-"` // for Run: called often with the progress; or nil

	Audited func(*AuditRow) error                  `json:"-"` // in a dry run: receives the lines of the audit; or nil
	Cut     func(rec *records.Record, left string) `json:"-"` // in a dry run with Level: receives each document that would change, and its remaining text
}

// Level is the unit that a Job removes.
type Level = units.Level

// The levels.
const (
	Document  = units.Document
	Line      = units.Line      // each line that has occurred before and is not blank
	Paragraph = units.Paragraph // likewise: a paragraph is the lines up to the next blank line
	Passage   = units.Passage   // each run of words that has occurred before, wherever it begins
)

// DefaultJaccard is the threshold of a Job without a criterion.
const DefaultJaccard = 0.8

// Measures are a criterion as in the head of an audit: every field is null except the criterion's
// and Verify.
type Measures struct {
	Near        *int     `json:"near,omitempty"`
	Verify      *float64 `json:"verify,omitempty"` // of Near
	Jaccard     *float64 `json:"jaccard,omitempty"`
	Levenshtein *float64 `json:"levenshtein,omitempty"`
	Cosine      *float64 `json:"cosine,omitempty"`
	Contains    *float64 `json:"contains,omitempty"`
	Within      *float64 `json:"within,omitempty"`
	Seen        *float64 `json:"seen,omitempty"` // not a Criterion: of dedup and match
}

// shares returns the measures that have a threshold, with their criteria.
func (m *Measures) shares() map[string]share {
	return map[string]share{
		"jaccard": {&m.Jaccard, engine.Jaccard}, "levenshtein": {&m.Levenshtein, engine.Levenshtein},
		"cosine": {&m.Cosine, engine.Cosine}, "contains": {&m.Contains, engine.Contains}, "within": {&m.Within, engine.Within},
	}
}

type share struct {
	t  **float64
	by func(t float64) engine.Criterion
}

// MeasuresOf returns the measures of a criterion.
func MeasuresOf(by engine.Criterion) (m Measures) {
	if by.Kind() == "near" {
		m.Near = new(by.K())
	} else if to, ok := m.shares()[by.Kind()]; ok {
		*to.t = new(by.T())
	}
	return m
}

// Criterion returns the criterion that is set, or the zero Criterion.
func (m Measures) Criterion() (by engine.Criterion) {
	if m.Near != nil {
		return engine.Near(*m.Near)
	}
	for _, of := range m.shares() {
		if *of.t != nil {
			return of.by(**of.t)
		}
	}
	return by
}

// criteria are the criteria of a run; exactly one, other than Verify, is set.
type criteria struct {
	Measures
	byDefault bool // no criterion was given, and no database has replaced the default yet
}

func (c *Job) criteria() criteria {
	x := criteria{Measures: MeasuresOf(c.By)}
	if c.Seen != 0 {
		x.Seen = &c.Seen
	} else if c.Rule == nil && c.By.Kind() == "" && c.level() == units.Document {
		x.Measures, x.byDefault = MeasuresOf(DefaultOf(nil, c.Where.Images)), c.Where.Images == nil
	}
	if c.Verify != 0 {
		x.Verify = &c.Verify
	}
	return x
}

// DefaultOf returns the criterion of a run without one: for a database, or for files if db is
// nil. For hashes of pictures this is the distance up to which two pictures count as the same.
func DefaultOf(db *engine.DB, images *records.PictureHash) engine.Criterion {
	if images = inputs.PicturesOf(db, images); images != nil {
		return engine.Near(images.Near())
	}
	return engine.Jaccard(DefaultJaccard)
}

// settle replaces a default criterion by the criterion of the first database.
func (x *criteria) settle(db *engine.DB) {
	if x.byDefault {
		x.byDefault, x.Measures = false, MeasuresOf(DefaultOf(db, nil))
	}
}

// ofTexts reports whether the criterion compares the texts themselves.
func (x *criteria) ofTexts() bool { return x.Levenshtein != nil || x.Cosine != nil }

// textCriterion returns the criterion if the similarity of texts decides, including Near with
// Verify.
func (x *criteria) textCriterion() (by corpus.Criterion) {
	switch {
	case x.Near == nil:
		by, _ = corpus.CriterionOf(x.Criterion()) // Check has looked at its threshold
	case x.Verify != nil:
		by = corpus.Criterion{Sets: true, T: *x.Verify}
	}
	return by
}

// criterion returns the criterion for near-duplicates.
func (x *criteria) criterion() corpus.Criterion {
	if x.Near != nil && x.Verify == nil {
		return corpus.Criterion{K: *x.Near}
	}
	return x.textCriterion()
}

func (c *Job) level() Level { return cmp.Or(c.Level, units.Document) }

func (c *Job) minCount() int { return cmp.Or(c.MinCount, 2) }

func (c *Job) memory() int64 { return cmp.Or(max(c.Memory, 0), 256<<20) }

// Rules returns the rules of Keep, preceded by the rule of Within.
func (c *Job) Rules() Keep {
	rules := c.Keep
	if rules == nil {
		rules = Keep{First}
	}
	if c.By.Kind() == "within" {
		rules = slices.Insert(slices.Clone(rules), 0, Rule{Name: largest})
	}
	return rules
}

// minUnitWords is the default MinWords of lines and paragraphs: shorter units, such as headings
// and closing brackets, repeat by chance and have a meaning where they stand.
const minUnitWords = 10

// minPassageWords is the default MinWords of passages: two texts share shorter runs by chance.
const minPassageWords = 50

// MinWords returns how many words a unit of Level needs to be removed.
func (c *Job) MinWords() int {
	if c.Level == units.Passage {
		return cmp.Or(c.Compared.Features.MinWords, minPassageWords)
	}
	return cmp.Or(c.Compared.Features.MinWords, minUnitWords)
}

// AuditPath returns the path of the audit, "" for none: kept.jsonl.gz has kept.audit.jsonl beside
// it.
func (c *Job) AuditPath() string {
	switch {
	case c.NoAudit || c.DryRun:
		return ""
	case c.Audit != "" || outfile.IsStdout(cmp.Or(c.Output, "-")):
		return c.Audit
	}
	if c.ToFolder() {
		return place.Join(c.Output, "audit.jsonl")
	}
	if st, err := os.Stat(c.Output); err == nil && !st.Mode().IsRegular() || outfile.IsDescriptor(c.Output) {
		return "" // write nothing beside /dev/null and /dev/fd/3
	}
	name := outfile.PlainName(c.Output)
	return strings.TrimSuffix(name, filepath.Ext(name)) + ".audit.jsonl"
}

// ToFolder reports whether every input has its own output: Output then ends like the name of a
// folder.
func (c *Job) ToFolder() bool { return outfile.IsFolderName(c.Output) }
