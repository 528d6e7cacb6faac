package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/outfile"
)

// dedupCmd is `simdb dedup`.
//
// The files are read twice. The first pass puts what the criterion needs, fingerprints alone or sketches and texts, into a
// temporary database under the ordinals of the documents; there the clusters are formed. The second pass copies every line
// that is kept, byte for byte, and writes the audit for every other one.
type dedupCmd struct {
	Files []string `arg:"" file:"in" name:"file" help:"Files with documents; - is standard input."`
	criterionFlags
	noVerifyFlag
	Output  string   `short:"o" file:"lines" placeholder:"FILE" help:"Write the lines that are kept to FILE (.gz and .zst compress) instead of standard output."`
	Audit   string   `file:"jsonl" placeholder:"FILE" help:"Write what is not kept, and why, to FILE: JSON lines with id, file, line, keeper, keeper_file, keeper_line, distance or score, rule, cluster (default: beside -o, as OUTPUT.audit.jsonl)."`
	NoAudit bool     `help:"Write no audit."`
	Keep    keepRule `default:"first" placeholder:"RULE" help:"Which one of a cluster is kept: first (default), last, longest, shortest, max:FIELD or min:FIELD. Fields compare as numbers if all of their strings are numbers, else strings compare byte by byte, as dates should; without the field a document comes last, and of equals the first is kept."`
	inputFormat
	inputFlags
	rejectFlags
	Memory memory `default:"256MiB" placeholder:"SIZE" help:"Memory for documents before they are written to temporary files (default: 256MiB)."`
}

// Validate checks what depends on each other.
func (c *dedupCmd) Validate() error {
	if c.Audit != "" && c.NoAudit {
		return errors.New("--audit and --no-audit contradict each other")
	}
	return nil
}

// auditPath is where the audit goes, "" for nowhere: kept.jsonl.gz has kept.audit.jsonl beside it.
func (c *dedupCmd) auditPath() string {
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

// claimAudit checks that the audit may be written. Where its name is made from that of -o, nothing but an earlier audit is
// replaced: the user has not named it.
func (c *dedupCmd) claimAudit(a *app) error {
	path := c.auditPath()
	if path == "" {
		return nil
	}
	if err := a.outputs.Claim("--audit", path, outfile.JSONLines); err != nil || c.Audit != "" {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	head := make([]byte, len(auditStart))
	n, _ := f.ReadAt(head, 0)
	if n > 0 && string(head[:n]) != auditStart {
		err = fmt.Errorf("%s is there and is no audit: --audit FILE names another place for the audit, --no-audit writes none", path)
	}
	return errors.Join(err, f.Close())
}

// dedup is a run of the command.
type dedup struct {
	a       *app
	c       *dedupCmd
	opt     input.Options
	files   []string // as read: standard input is spooled to a file
	names   []string // as the user called them
	format  input.Format
	meter   *progress.Meter
	rejects *rejects
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
func (d *dedup) dropped() int64 { return int64(len(d.members)) - d.clusters }

// Run does it all.
func (c *dedupCmd) Run(a *app) (err error) {
	start := time.Now()
	d := &dedup{a: a, c: c, names: c.Files, keep: ranking{rule: c.Keep}}
	d.opt = c.inputFlags.options(c.Format)
	d.opt.MakeID = true
	if _, err := newSources(c.Files); err != nil {
		return err
	}
	if err := c.claimAudit(a); err != nil {
		return err
	}
	dir, err := a.tempDir()
	if err != nil {
		return err
	}
	d.meter = a.meter()
	defer d.meter.Stop()
	if err := d.spool(dir); err != nil {
		return err
	}
	if err := d.probe(); err != nil {
		return err
	}
	if err := d.openOutputs(); err != nil {
		return err
	}
	err = d.work(dir)
	d.meter.Stop()
	if err = errors.Join(err, d.rejects.close(err)); err != nil {
		return err
	}
	d.summary(start)
	if d.read == 0 && d.rejects.n > 0 {
		return fmt.Errorf("no document could be used: %s rejected", d.rejects.counted())
	}
	return nil
}

// work reads, forms clusters, and writes.
func (d *dedup) work(dir string) (err error) {
	db, err := engine.Create(filepath.Join(dir, "documents"), d.c.databaseOptions())
	if err != nil {
		return err
	}
	defer closing(db, &err)
	if err := d.load(db); err != nil {
		return err
	}
	if err := d.cluster(db); err != nil {
		return err
	}
	return d.write()
}

// databaseOptions keep what the criterion needs. The self-join makes its own index of sketches: with the greatest floor that
// of the tables is as good as none. The join reads the tables once, so merging them first would be lost work.
func (c *dedupCmd) databaseOptions() *engine.Options {
	o := &engine.Options{NoText: true, NoSketch: true, Sync: engine.SyncNever, DisableAutoCompaction: true}
	if c.Jaccard != nil {
		o.NoText, o.NoSketch, o.MinJaccard = c.NoVerify, false, 1
	}
	return o
}

// load is the first pass: it gives every document its ordinal and its fingerprint.
func (d *dedup) load(db *engine.DB) error {
	loader, err := db.NewLoader(d.a.context(), engine.LoadOptions{MemoryBytes: int64(d.c.Memory)})
	if err != nil {
		return err
	}
	err = d.each("fingerprint", func(_ input.Source, rec *input.Record) error {
		if rec.BadUTF8 {
			d.badUTF8++
		}
		d.keep.add(rec)
		doc := engine.Doc{ID: ordinalID(d.read), Text: rec.Doc.Text, Fingerprint: rec.Doc.Fingerprint}
		d.read++
		return loader.Add(doc)
	}, d.rejects.add)
	if err == nil {
		err = d.damage()
	}
	if err == nil {
		err = d.keep.decide()
	}
	if err != nil {
		loader.Abort()
		return err
	}
	d.meter.Report(engine.Progress{Stage: "sort"})
	stats, err := loader.Close()
	d.empty = stats.Empty
	return err
}

// damage returns an error if a file could not be read to its end: its lines after that would be missing from the output, which
// nobody could see there.
func (d *dedup) damage() error {
	if len(d.failed) == 0 {
		return nil
	}
	return errors.Join(append(d.failed, errors.New("nothing is written, as lines would be missing: mend or leave out what is damaged"))...)
}

// cluster finds out what is dropped, and for what.
func (d *dedup) cluster(db *engine.DB) error {
	o := &engine.ClusterOptions{Before: d.keep.before(), Progress: d.meter.Report}
	keeper := int64(0)
	for m, err := range db.Clusters(d.a.context(), d.c.criterion(!d.c.NoVerify), o) {
		if err != nil {
			return err
		}
		n := ordinalOf(m.ID)
		if m.Keep {
			keeper = n
			d.clusters++
		}
		d.members = append(d.members, member{
			ordinal: n, keeper: keeper, cluster: int32(m.Cluster), distance: int32(m.Distance),
			score: m.Score, err: m.Error, exact: m.Exact,
		})
	}
	return ordered.InPlace(d.a.context(), d.members, func(x, y member) int { return cmp.Compare(x.ordinal, y.ordinal) })
}
