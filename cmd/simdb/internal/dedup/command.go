// Package dedup is the command `simdb dedup`: it copies files without their near-duplicates and
// writes an audit of what is left out.
//
// The files are read twice. The first pass puts what the criterion needs, fingerprints alone or
// sketches and texts, into a temporary database, under the ordinals of the documents, and forms the
// clusters there. The second pass copies every record that is kept, byte for byte, and writes a
// line of the audit for every other one.
//
//	command.go  the flags, and the state of a run
//	run.go      the first pass
//	files.go    inputs: spooled if they cannot be read twice, and compared
//	keep.go     which document of a cluster is kept
//	write.go    the second pass
//	audit.go    the lines of the audit
//	summary.go  what is said at the end
package dedup

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
)

// Command is `simdb dedup`.
type Command struct {
	Files []string `arg:"" file:"in" name:"file" help:"Files with documents, or with --files the documents themselves; - is standard input."`
	app.CriterionFlags
	app.NoVerifyFlag
	Output  string `short:"o" file:"lines" placeholder:"FILE" help:"Write the lines that are kept to FILE (.gz and .zst compress) instead of standard output."`
	Audit   string `file:"jsonl" placeholder:"FILE" help:"Write what is left out, and why, to FILE: JSON lines with id, file, line, keeper, keeper_file, keeper_line, distance or score, rule, cluster (default: beside -o, as OUTPUT.audit.jsonl)."`
	NoAudit bool   `help:"Write no audit."`
	app.NullFlag
	Keep keepRule `default:"first" placeholder:"RULE" help:"Which document of a cluster is kept: first (default), last, longest, shortest, max:FIELD or min:FIELD. The values of a field compare as numbers if all of them are numbers, otherwise byte by byte, which suits dates such as 2026-01-31. Documents without the field come last; of equal documents the first is kept."`
	app.InputFormat
	app.InputFlags
	app.RejectFlags
	Memory app.Memory `default:"256MiB" placeholder:"SIZE" help:"Memory for documents before they are written to temporary files (default: 256MiB)."`
}

// Validate checks what depends on each other.
func (c *Command) Validate() error {
	if c.Audit != "" && c.NoAudit {
		return errors.New("--audit and --no-audit contradict each other")
	}
	return nil
}

// auditPath is where the audit goes, "" for nowhere: kept.jsonl.gz has kept.audit.jsonl beside it.
func (c *Command) auditPath() string {
	switch {
	case c.NoAudit:
		return ""
	case c.Audit != "" || outfile.IsStdout(cmp.Or(c.Output, "-")):
		return c.Audit
	}
	if st, err := os.Stat(c.Output); err == nil && !st.Mode().IsRegular() {
		return "" // nothing is to be written beside /dev/null
	}
	name := outfile.PlainName(c.Output)
	return strings.TrimSuffix(name, filepath.Ext(name)) + ".audit.jsonl"
}

// job is a run of the command.
type job struct {
	a       *app.App
	c       *Command
	opt     input.Options
	src     app.Sources
	files   []string   // as read: standard input is spooled to a file
	names   []string   // as the user named them
	like    input.Info // of the first input
	meter   *progress.Meter
	rejects *app.Rejects
	out     *outfile.Writer
	auditTo *outfile.Writer // nil: no audit is written

	keep     ranking  // of --keep
	read     int64    // documents
	badUTF8  int64    // of them, with invalid UTF-8
	empty    int64    // of them, without words
	clusters int64    // of two or more
	members  []member // of clusters, by ordinal
	kept     int64
	failed   []error // files that could not be read to the end
}

// member is a document of a cluster. There may be as many as documents, so it has no pointers.
type member struct {
	ordinal, keeper int64
	score, err      float64 // of --jaccard, to the keeper
	cluster         int32   // from 1 on
	distance        int32   // of --near, to the keeper
	exact           bool    // score is
}

// kept reports whether m is its own keeper.
func (m *member) kept() bool { return m.ordinal == m.keeper }

// dropped returns how many documents are not kept.
func (d *job) dropped() int64 { return int64(len(d.members)) - d.clusters }

// databaseOptions store what the criterion needs. The self-join builds its own index of sketches,
// so the index of the tables is made as small as possible, by the highest floor. The join reads the
// tables once, so merging them first would be wasted.
func (c *Command) databaseOptions() *engine.Options {
	o := &engine.Options{NoText: true, NoSketch: true, Sync: engine.SyncNever, DisableAutoCompaction: true}
	if c.Jaccard != nil {
		o.NoText, o.NoSketch, o.MinJaccard = c.NoVerify, false, 1
	}
	return o
}
