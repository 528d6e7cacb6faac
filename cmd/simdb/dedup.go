package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/outfile"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
)

// dedupCmd is `simdb dedup`.
//
// The files are read twice. The first pass puts what the criterion needs, fingerprints alone or sketches and texts, into a
// temporary database under the ordinals of the documents; there the clusters are formed. The second pass copies every line
// that is kept, byte for byte, and writes the audit for every other one.
type dedupCmd struct {
	Files []string `arg:"" name:"file" help:"Files with documents; - is standard input."`
	criterionFlags
	noVerifyFlag
	Output  string   `short:"o" placeholder:"FILE" help:"Write the lines that are kept to FILE (.gz and .zst compress) instead of standard output."`
	Audit   string   `placeholder:"FILE" help:"Write what is not kept, and why, to FILE: JSON lines with id, keeper, distance or score, rule, file, line (default: beside -o, as OUTPUT.audit.jsonl)."`
	NoAudit bool     `help:"Write no audit."`
	Keep    keepRule `default:"first" placeholder:"RULE" help:"Which one of a cluster is kept: first (default), last, longest, shortest, max:FIELD or min:FIELD."`
	inputFormat
	inputFlags
	rejectFlags
	Memory size `default:"256MiB" placeholder:"SIZE" help:"Memory for documents before they are written to temporary files (default: 256MiB)."`
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
	case c.Audit != "" || c.Output == "" || c.Output == "-":
		return c.Audit
	}
	if st, err := os.Stat(c.Output); err == nil && !st.Mode().IsRegular() {
		return "" // nothing is to be written beside /dev/null
	}
	name := plainName(c.Output)
	return strings.TrimSuffix(name, filepath.Ext(name)) + ".audit.jsonl"
}

// dedup is a run of the command.
type dedup struct {
	a       *app
	c       *dedupCmd
	opt     input.Options
	files   []string // as read: standard input is spooled to a file
	names   []string // as the user called them
	meter   *progress.Meter
	rejects *rejects

	values   []float64        // by ordinal, where the rule needs them
	read     int64            // documents
	badUTF8  int64            // of them, with invalid UTF-8
	empty    int64            // of them, without words
	clusters int64            // of two or more
	dropped  map[int64]member // by ordinal
	kept     int64
	failed   []error // files that could not be read to the end
}

// member is a document that is not kept.
type member struct {
	keeper int64
	match  engine.Match // how it compares with the keeper
}

// Run does it all.
func (c *dedupCmd) Run(a *app) (err error) {
	start := time.Now()
	d := &dedup{a: a, c: c, names: c.Files, dropped: map[int64]member{}}
	d.opt = c.inputFlags.options(c.Format)
	d.opt.MakeID = true
	if _, err := newSources(c.Files); err != nil {
		return err
	}
	if err := c.checkOutputs(); err != nil {
		return err
	}
	dir, err := a.tempDir()
	if err != nil {
		return err
	}
	d.meter = a.meter()
	defer d.meter.Stop()
	if d.rejects, err = newRejects(c.rejectFlags, a.talk(d.meter)); err != nil {
		return err
	}
	err = d.work(dir)
	d.meter.Stop()
	if err = errors.Join(err, d.rejects.close()); err != nil {
		return err
	}
	d.summary(start)
	if d.read == 0 && d.rejects.n > 0 {
		return fmt.Errorf("no document could be used: %s rejected", count(d.rejects.n, "line"))
	}
	return errors.Join(d.failed...)
}

// work reads, forms clusters, and writes.
func (d *dedup) work(dir string) (err error) {
	if err := d.spool(dir); err != nil {
		return err
	}
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
// of the tables is as good as none.
func (c *dedupCmd) databaseOptions() *engine.Options {
	o := &engine.Options{NoText: true, NoSketch: true, Sync: engine.SyncNever}
	if c.Jaccard != nil {
		o.NoText, o.NoSketch, o.MinJaccard = c.NoVerify, false, 1
	}
	return o
}

// checkOutputs refuses to overwrite an input, or one output with another.
func (c *dedupCmd) checkOutputs() error {
	outputs := map[string]string{"-o": c.Output, "--audit": c.auditPath(), "--rejects": c.Rejects}
	for flag, out := range outputs {
		if out == "" || out == "-" {
			continue
		}
		for _, in := range c.Files {
			if same(in, out) {
				return fmt.Errorf("%s %s would overwrite an input file", flag, out)
			}
		}
		for other, path := range outputs {
			if other != flag && path != "" && filepath.Clean(path) == filepath.Clean(out) {
				return fmt.Errorf("%s and %s are the same file, %s", flag, other, out)
			}
		}
	}
	return nil
}

// same says whether two paths lead to the same file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// spool copies standard input and other files that can't be read twice.
func (d *dedup) spool(dir string) error {
	for i, name := range d.names {
		src := os.Stdin
		if name != "-" {
			st, err := os.Stat(name)
			if err != nil {
				return err
			}
			if st.Mode().IsRegular() {
				d.files = append(d.files, name)
				continue
			}
			if src, err = os.Open(name); err != nil {
				return err
			}
			defer src.Close()
		}
		path := filepath.Join(dir, fmt.Sprintf("input-%d", i))
		to, err := os.Create(path)
		if err != nil {
			return err
		}
		d.meter.Report(engine.Progress{Stage: "read standard input"})
		copied := make(chan error, 1)
		go func() {
			_, err := io.Copy(to, src)
			copied <- errors.Join(err, to.Close())
		}()
		select {
		case err = <-copied:
		case <-d.a.context().Done(): // the read that is under way ends with the process
			err = context.Cause(d.a.context())
		}
		if err != nil {
			return err
		}
		d.files = append(d.files, path)
	}
	return nil
}

// each calls f for every record of all files, and bad for what can't be used. Damaged files are noted when first.
func (d *dedup) each(stage string, first bool, f func(*input.File, *input.Record) error, bad func(*input.Issue) error) error {
	s, err := newSources(d.files)
	if err != nil {
		return err
	}
	for i, path := range d.files {
		in, err := d.open(path, d.names[i])
		if err != nil {
			if first {
				d.failed = append(d.failed, err)
			}
			continue
		}
		for rec, err := range in.Records(d.a.context()) {
			if is, ok := errors.AsType[*input.Issue](err); ok {
				err = bad(is)
			} else if re, ok := errors.AsType[*input.ReadError](err); ok {
				if first {
					d.failed = append(d.failed, re)
				}
				break
			} else if err == nil {
				err = f(in, rec)
			}
			if err != nil {
				in.Close()
				return err
			}
			d.meter.Report(s.progress(stage, in))
		}
		s.done(in)
		in.Close()
	}
	return nil
}

// open opens a file under the name that the user knows.
func (d *dedup) open(path, name string) (*input.File, error) {
	if path == name {
		return input.Open(path, d.opt)
	}
	src, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = "stdin"
	}
	st, err := src.Stat()
	if err != nil {
		src.Close()
		return nil, err
	}
	return input.NewFile(name, src, st.Size(), d.opt)
}

// load is the first pass: it gives every document its ordinal and its fingerprint.
func (d *dedup) load(db *engine.DB) error {
	loader, err := db.NewLoader(d.a.context(), engine.LoadOptions{MemoryBytes: int64(d.c.Memory)})
	if err != nil {
		return err
	}
	err = d.each("fingerprint", true, func(_ *input.File, rec *input.Record) error {
		if rec.BadUTF8 {
			d.badUTF8++
		}
		if d.c.Keep.needsValue() {
			d.values = append(d.values, d.c.Keep.value(rec))
		}
		doc := engine.Doc{ID: ordinalID(d.read), Text: rec.Doc.Text, Fingerprint: rec.Doc.Fingerprint}
		d.read++
		return loader.Add(doc)
	}, d.rejects.add)
	if err != nil {
		loader.Abort()
		return err
	}
	stats, err := loader.Close()
	d.empty = stats.Empty
	return err
}

// cluster finds out what is dropped, and for what.
func (d *dedup) cluster(db *engine.DB) error {
	o := &engine.ClusterOptions{Before: d.c.Keep.before(d.values), Progress: d.meter.Report}
	keeper := int64(0)
	for m, err := range db.Clusters(d.a.context(), d.c.criterion(!d.c.NoVerify), o) {
		if err != nil {
			return err
		}
		n := ordinalOf(m.ID)
		if m.Keep {
			keeper = n
			d.clusters++
			continue
		}
		d.dropped[n] = member{keeper: keeper, match: m.Match}
	}
	return nil
}

// write is the second pass: it copies what is kept and writes the audit.
func (d *dedup) write() (err error) {
	out := outfile.Stdout(d.a.out)
	if d.c.Output != "" && d.c.Output != "-" {
		if out, err = outfile.Create(d.c.Output); err != nil {
			return err
		}
	}
	d.a.onExit(out.Abort)
	defer out.Abort()
	audit, err := newAudit(d.c.auditPath(), d.dropped, d.c.Keep, d.c.Jaccard != nil)
	if err != nil {
		return err
	}
	d.a.onExit(audit.abort)
	defer audit.abort()
	if err := d.copy(out, audit); err != nil {
		return err
	}
	d.meter.Stop()
	if err := audit.commit(); err != nil {
		return err
	}
	return out.Commit()
}

// copy writes the kept lines to out and tells audit of the others.
func (d *dedup) copy(out io.Writer, audit *audit) error {
	var header []byte
	var of *input.File
	ended := true // the last line written had its newline
	n := int64(0)
	line := func(raw []byte) error {
		if !ended {
			if _, err := out.Write([]byte("\n")); err != nil {
				return err
			}
		}
		ended = len(raw) == 0 || raw[len(raw)-1] == '\n'
		_, err := out.Write(raw)
		return err
	}
	return d.each("write", false, func(in *input.File, rec *input.Record) error {
		if in != of {
			of = in
			switch h := in.Header(); {
			case header == nil && h != nil:
				header = h
				if err := line(h); err != nil {
					return err
				}
			case h != nil && strings.TrimSpace(string(h)) != strings.TrimSpace(string(header)):
				return fmt.Errorf("%s has other columns than the first file; files of one run must have the same", in.Name())
			}
		}
		me := n
		n++
		m, drop := d.dropped[me]
		if err := audit.document(me, rec, m, drop); err != nil || drop {
			return err
		}
		d.kept++
		return line(rec.Raw)
	}, audit.issue)
}
