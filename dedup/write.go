package dedup

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// openOutputs opens all outputs before the work begins.
func (d *job) openOutputs() (err error) {
	if d.c.DryRun {
		d.rejects = d.env.NewRejects(d.ctx, d.c.Rejects, "")
		return nil
	}
	d.rejects = d.env.NewRejects(d.ctx, d.c.Rejects, d.c.Output)
	if !d.c.ToFolder() {
		w, err := d.env.Create(d.ctx, option.Name("Output"), cmp.Or(d.c.Output, "-"), d.kind)
		if err != nil {
			return err
		}
		d.keepTo = append(d.keepTo, w)
	}
	if path := d.c.AuditPath(); path != "" {
		if d.auditTo, err = d.env.Create(d.ctx, option.Name("Audit"), path, outfile.JSONLines); err != nil {
			return err
		}
	}
	if path := d.c.Clusters; path != "" {
		d.clustersTo, err = d.env.Create(d.ctx, option.Name("Clusters"), path, outfile.JSONLines)
	}
	return err
}

// write is the second pass: it copies the documents that stay, and writes the audit. It publishes
// all outputs or none.
func (d *job) write() (err error) {
	audit, err := newAudit(d)
	defer func() { err = cmp.Or(err, audit.texts.close()) }()
	d.watchEqual()
	if err == nil && audit.places && d.out.clusters > 0 {
		if err = d.placeKnown(audit); err == nil {
			err = d.placeKeepers(audit)
		}
	}
	if err != nil {
		return err
	}
	n, err := d.copy(audit)
	if err == nil && (n != d.read || len(d.failed) > 0) {
		err = inputs.ErrChanged
	}
	if err != nil {
		return err
	}
	return d.publish()
}

// publish completes all outputs, unless an input has changed since it was read.
func (d *job) publish() error {
	if err := d.Unchanged(); err != nil {
		return err
	}
	return outfile.Commit(append([]*outfile.Writer{d.auditTo, d.clustersTo}, d.keepTo...)...)
}

// copy writes the kept records to the outputs and all others to audit, and returns how many
// documents it has read.
func (d *job) copy(audit *audit) (n int64, err error) {
	out := &copies{job: d}
	defer func() {
		if e := out.close(); err == nil { // otherwise e is the same error
			err = e
		}
	}()
	listing := newListing(d)
	err = d.each(writeStage, out.begin, func(in records.Source, rec *records.Record) error {
		me := d.known + n
		if n++; n > d.read {
			return inputs.ErrChanged
		}
		if err := listing.add(me, rec); err != nil {
			return err
		}
		d.equal.add(me, rec)
		kept := d.out.kept(me) && !d.gone(me)
		if !kept || d.out.cluster[me] > 0 {
			if err := audit.member(me, rec); err != nil || !kept && !d.c.All {
				return err
			}
		}
		if kept {
			d.kept++
		}
		return out.to.Copy(in, rec.Raw, audit.values(d.c.copied(), me)...)
	}, audit.issue)
	return n, err
}

// copies holds the outputs that records are copied to: one, or one for each input.
type copies struct {
	*job
	like records.Source // the first input of the current output
	to   records.Copier
}

// begin must be called before the records of input i are copied.
func (c *copies) begin(i int, _ records.Source) (err error) {
	if c.to != nil && !c.c.ToFolder() {
		return nil
	}
	if err := c.close(); err != nil {
		return err
	}
	if !c.c.ToFolder() {
		i = c.first
	} else {
		w, err := c.env.Create(c.ctx, option.Name("Output"), c.folder.Place(c.Names[i]), c.folder.Kind(c.Names[i], c.formats[i]))
		if err != nil {
			return err
		}
		c.keepTo = append(c.keepTo, w)
	}
	if c.like, err = c.Open(i, c.opt); err != nil {
		return err
	}
	o := records.CopyOptions{Like: c.like, Null: c.c.Null, Columns: c.c.copied().OfInput()}
	if c.to, err = c.formats[i].NewCopier(c.writer(), o); err != nil {
		c.like.Close()
	}
	return err
}

// writer returns the current output.
func (c *copies) writer() io.Writer {
	if c.copyTo != nil {
		return c.copyTo
	}
	return c.keepTo[len(c.keepTo)-1]
}

// close completes the current output, which receives its name later.
func (c *copies) close() error {
	if c.to == nil {
		return nil
	}
	err := errors.Join(c.to.Close(), c.like.Close())
	c.to = nil
	if err == nil && c.c.ToFolder() {
		err = c.keepTo[len(c.keepTo)-1].Finish()
	}
	return err
}

// makeFolder creates the output folder unless it exists. unmake removes it again if the run
// fails.
func (d *job) makeFolder() (unmake func(err error), err error) {
	keep := func(error) {}
	if !d.c.ToFolder() {
		return keep, nil
	}
	if d.folder, err = d.env.NewOutFolder(d.c.Output, d.Sources, d.c.DryRun); err != nil {
		return nil, err
	}
	return func(err error) {
		if err == nil {
			return
		}
		for _, w := range append(d.keepTo, d.auditTo, d.clustersTo) {
			if w != nil {
				w.Abort()
			}
		}
		d.folder.Undo()
	}, nil
}

// claimFolder checks that the outputs may be written.
func (d *job) claimFolder() error {
	check := func() error { return d.folder.Claim(d.Names, d.formats) }
	if d.c.DryRun {
		check = func() error { return d.folder.Distinct(d.Names) }
	}
	if err := check(); err != nil {
		return err
	}
	isAudit := func(name string) bool { return strings.EqualFold(d.folder.Place(name), d.c.AuditPath()) }
	if slices.ContainsFunc(d.Names, isAudit) {
		return errors.New(option.Set("Output", d.c.Output) + ": an input is called audit.jsonl, like the audit: " + option.Name("Audit") + " names another place for that")
	}
	return nil
}

// listing writes the cluster of every document, in the order of the input.
type listing struct {
	w   *outfile.Writer // nil if no listing is written
	e   *json.Encoder
	out *outcome

	gone func(n int64) bool
}

type listed struct {
	ID      string           `json:"id"`
	File    string           `json:"file"`
	Line    records.Position `json:"line"`
	Cluster *uint32          `json:"cluster"`
	Size    uint32           `json:"size"`
	Keep    bool             `json:"keep"`
}

// newListing starts the listing of a run.
func newListing(d *job) *listing {
	l := &listing{w: d.clustersTo, out: &d.out, gone: d.gone}
	if l.w != nil {
		l.e = AuditEncoder(l.w)
	}
	return l
}

func (l *listing) add(n int64, rec *records.Record) error {
	if l.w == nil {
		return nil
	}
	row := listed{ID: rec.Doc.ID, File: rec.File, Line: rec.Pos, Size: 1, Keep: l.out.kept(n) && !l.gone(n)}
	if c := l.out.cluster[l.out.keeper[n]]; c > 0 {
		row.Cluster, row.Size = &c, l.out.sizes[c-1]
	}
	return l.e.Encode(row)
}
