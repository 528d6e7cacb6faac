package dedup

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/simdb/simdb/dedup/internal/corpus"
	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// A Job says what near-duplicates are, which of them stay, and what is written. The zero Job drops
// documents whose Jaccard similarity with one that is kept is at least 0.8, and writes the others
// to standard output. Check says which fields compose.
type Job struct {
	// By is what makes two documents near-duplicates: Near, Jaccard, Levenshtein, Cosine or Within
	// of package engine, always computed and not estimated. The zero Criterion is Jaccard(0.8), and
	// for hashes of pictures the distance up to which these count as the same.
	By engine.Criterion

	// Verify has documents be near-duplicates by Near only if their Jaccard similarity is also at
	// least this; 0 is no such condition.
	Verify float64

	// Across has documents match only if they differ in this field, or are of two files or folders,
	// for "file" and "folder"; WithinField only if they are equal in a field.
	Across, WithinField string

	Compared inputs.Compared // what of documents is compared
	Read     records.Options // how files are read
	Where    inputs.Options  // what arguments name

	Keep      Keep     `json:",omitempty"` // which document of a cluster stays; nil is the first
	Against   []string // files and databases: documents that resemble one of theirs are dropped, too
	Level     Level    // what is removed; "" is Document
	MinCount  int      // of Level: how often a unit must occur to be removed, but for the first; 0 is 2
	Decisions string   // a file of decisions, as the page of a review writes them; "" for none

	Output    string  // the file of copies, a folder if it ends in a slash; "" is standard output
	Null      bool    // each path of files that are documents ends with a zero byte
	Audit     string  // the file of what is dropped, and why; "" is beside Output
	NoAudit   bool    // there is none
	Clusters  string  // a file with the cluster of every document; "" for none
	Columns   Columns // are added to copies
	All       bool    // documents that would be dropped are copied, too
	DryRun    bool    // nothing is written
	Rejects   inputs.RejectOptions
	ReadingAs string // how inputs are read, for the head of the audit

	Figures bool   // the Report says how alike texts are that Near drops, and what equal sets hide
	Memory  int64  // bytes for the run; 0 is 256 MiB. What exceeds them goes to temporary files
	TempDir string // the folder of these; "" is that of the system

	Log      *slog.Logger          `json:"-"` // of Run: what a user should know; nil for nobody
	Progress func(engine.Progress) `json:"-"` // of Run: takes how far it is; called often; or nil

	Audited func(*AuditRow) error                  `json:"-"` // of a dry run: takes the lines of the audit; or nil
	Cut     func(rec *records.Record, left string) `json:"-"` // of a dry run with Level: takes the documents that have lost something, and what is left
}

// Level is what a Job removes.
type Level = units.Level

// The levels.
const (
	Document  = units.Document
	Line      = units.Line      // each that has occurred before and is not blank
	Paragraph = units.Paragraph // likewise: lines up to the next blank line
	Passage   = units.Passage   // each run of words that has occurred before, wherever it begins
)

// DefaultJaccard is the threshold of a Job without a criterion.
const DefaultJaccard = 0.8

// Measures are a criterion as the head of an audit has it: each is null but the one that is measured,
// and Verify.
type Measures struct {
	Near        *int     `json:"near,omitempty"`
	Verify      *float64 `json:"verify,omitempty"` // of Near
	Jaccard     *float64 `json:"jaccard,omitempty"`
	Levenshtein *float64 `json:"levenshtein,omitempty"`
	Cosine      *float64 `json:"cosine,omitempty"`
	Contains    *float64 `json:"contains,omitempty"`
	Within      *float64 `json:"within,omitempty"`
}

// shares are the measures that have a threshold, with their criteria.
func (m *Measures) shares() map[engine.CriterionKind]share {
	return map[engine.CriterionKind]share{
		engine.KindJaccard: {&m.Jaccard, engine.Jaccard}, engine.KindLevenshtein: {&m.Levenshtein, engine.Levenshtein},
		engine.KindCosine: {&m.Cosine, engine.Cosine}, engine.KindContains: {&m.Contains, engine.Contains}, engine.KindWithin: {&m.Within, engine.Within},
	}
}

type share struct {
	t  **float64
	by func(t float64) engine.Criterion
}

// MeasuresOf returns what a criterion measures.
func MeasuresOf(by engine.Criterion) (m Measures) {
	if by.Kind() == engine.KindNear {
		m.Near = new(by.K())
	} else if to, ok := m.shares()[by.Kind()]; ok {
		*to.t = new(by.T())
	}
	return m
}

// Criterion returns the criterion that is measured, or none.
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

// criteria are what a run compares by; exactly one but Verify is set.
type criteria struct {
	Measures
	byDefault bool // no criterion was given, and no database has been asked for one
}

func (c *Job) criteria() criteria {
	x := criteria{Measures: MeasuresOf(c.By)}
	if c.By.Kind() == "" && c.level() == units.Document {
		x.Measures, x.byDefault = MeasuresOf(DefaultOf(nil, c.Where.Images)), c.Where.Images == nil
	}
	if c.Verify != 0 {
		x.Verify = &c.Verify
	}
	return x
}

// DefaultOf is the criterion of a run that was given none, in a database or of files, for which db
// is nil. Of hashes of pictures it is the distance up to which these count as the same.
func DefaultOf(db *engine.DB, images *imagehash.Kind) engine.Criterion {
	if images = inputs.PicturesOf(db, images); images != nil {
		return engine.Near(images.Near())
	}
	return engine.Jaccard(DefaultJaccard)
}

// settle has a run without a criterion use that of the first database.
func (x *criteria) settle(db *engine.DB) {
	if x.byDefault {
		x.byDefault, x.Measures = false, MeasuresOf(DefaultOf(db, nil))
	}
}

// ofTexts reports whether the criterion compares the texts themselves.
func (x *criteria) ofTexts() bool { return x.Levenshtein != nil || x.Cosine != nil }

// textCriterion is the criterion where similarities of texts decide, also with Near and Verify.
func (x *criteria) textCriterion() (by corpus.Criterion) {
	switch {
	case x.Near == nil:
		by, _ = corpus.CriterionOf(x.Criterion()) // Check has looked at its threshold
	case x.Verify != nil:
		by = corpus.Criterion{Sets: true, T: *x.Verify}
	}
	return by
}

// criterion returns what makes two documents near-duplicates.
func (x *criteria) criterion() corpus.Criterion {
	if x.Near != nil && x.Verify == nil {
		return corpus.Criterion{K: *x.Near}
	}
	return x.textCriterion()
}

func (c *Job) level() Level { return cmp.Or(c.Level, units.Document) }

func (c *Job) minCount() int { return cmp.Or(c.MinCount, 2) }

func (c *Job) memory() int64 { return cmp.Or(max(c.Memory, 0), 256<<20) }

func (c *Job) grouped() bool { return c.Across != "" || c.WithinField != "" }

// Rules are those of Keep, and before them that of Within.
func (c *Job) Rules() Keep {
	rules := c.Keep
	if rules == nil {
		rules = Keep{First}
	}
	if c.By.Kind() == engine.KindWithin {
		rules = slices.Insert(slices.Clone(rules), 0, Rule{Name: largest})
	}
	return rules
}

// minUnitWords is MinWords of lines and paragraphs: shorter ones, such as headings and closing
// brackets, come again by chance, and mean something where they stand.
const minUnitWords = 10

// minPassageWords is MinWords of passages: runs that are found in two texts by chance are shorter.
const minPassageWords = 50

// MinWords is how many words a unit of Level must have to be removed.
func (c *Job) MinWords() int {
	if c.Level == units.Passage {
		return cmp.Or(c.Compared.Features.MinWords, minPassageWords)
	}
	return cmp.Or(c.Compared.Features.MinWords, minUnitWords)
}

// AuditPath is where the audit goes, "" for nowhere: kept.jsonl.gz has kept.audit.jsonl beside it.
func (c *Job) AuditPath() string {
	switch {
	case c.NoAudit || c.DryRun:
		return ""
	case c.Audit != "" || outfile.IsStdout(cmp.Or(c.Output, "-")):
		return c.Audit
	}
	if c.ToFolder() {
		return filepath.Join(c.Output, "audit.jsonl")
	}
	if st, err := os.Stat(c.Output); err == nil && !st.Mode().IsRegular() || outfile.IsDescriptor(c.Output) {
		return "" // nothing is to be written beside /dev/null and /dev/fd/3
	}
	name := outfile.PlainName(c.Output)
	return strings.TrimSuffix(name, filepath.Ext(name)) + ".audit.jsonl"
}

// ToFolder reports whether every input has an output of its own: the name of Output ends as that of
// a folder.
func (c *Job) ToFolder() bool { return outfile.IsFolderName(c.Output) }
