package dedup

import (
	"cmp"
	"errors"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/outfile"
)

// openOutputs opens all outputs before the work begins.
func (d *job) openOutputs() (err error) {
	if d.c.DryRun {
		d.rejects = d.a.NewRejects(d.c.RejectFlags, "")
		return nil
	}
	d.rejects = d.a.NewRejects(d.c.RejectFlags, d.c.Output)
	if !d.c.toFolder() {
		w, err := d.a.Create("-o", cmp.Or(d.c.Output, "-"), app.CopiesOf(d.formats[0]))
		if err != nil {
			return err
		}
		d.keepTo = append(d.keepTo, w)
	}
	if path := d.c.auditPath(); path != "" {
		if d.auditTo, err = d.a.Create("--audit", path, outfile.JSONLines); err != nil {
			return err
		}
	}
	if path := d.c.Clusters; path != "" {
		d.clustersTo, err = d.a.Create("--clusters", path, outfile.JSONLines)
	}
	return err
}

// write is the second pass: it copies what is kept and writes the audit. Either all outputs are
// published or none.
func (d *job) write() error {
	audit, err := newAudit(d)
	d.watchSymbols()
	if err == nil && audit.places {
		if err = d.placeKnown(audit); err == nil {
			err = d.placeKeepers(audit)
		}
	}
	if err != nil {
		return err
	}
	n, err := d.copy(audit)
	if err == nil && (n != d.read || len(d.failed) > 0) {
		err = app.ErrChanged
	}
	if err != nil {
		return err
	}
	return d.publish()
}

// publish completes all outputs, unless an input is not what was read.
func (d *job) publish() error {
	if err := d.Unchanged(); err != nil {
		return err
	}
	d.meter.Stop()
	return outfile.Commit(append([]*outfile.Writer{d.auditTo, d.clustersTo}, d.keepTo...)...)
}

// copy writes the kept records to the outputs and all others to audit, and returns how many
// documents it has read.
func (d *job) copy(audit *audit) (n int64, err error) {
	out := &copies{job: d}
	defer func() {
		if e := out.close(); err == nil { // else it is the same again
			err = e
		}
	}()
	listing := newListing(d)
	err = d.each("write", out.begin, func(in input.Source, rec *input.Record) error {
		me := d.known + n
		if n++; n > d.read {
			return app.ErrChanged
		}
		if err := listing.add(me, rec); err != nil {
			return err
		}
		d.symbols.add(me, rec)
		kept := d.out.kept(me)
		if !kept || d.out.cluster[me] > 0 {
			if err := audit.member(me, rec); err != nil || !kept && !d.c.All {
				return err
			}
		}
		if kept {
			d.kept++
		}
		if c := int(d.out.cluster[me]); c > 0 && c <= len(d.warn.large) {
			d.warn.large[c-1] = place{rec.Doc.ID, rec.File, rec.Pos}
		}
		return out.to.Copy(in, rec.Raw, audit.values(d.c.Columns, me)...)
	}, audit.issue)
	return n, err
}

// copies is where records are copied to: one output, or one for each input.
type copies struct {
	*job
	like input.Source // the first of those that go to an output
	to   input.Copier
}

// begin is called before the records of input i are copied.
func (c *copies) begin(i int, _ input.Source) (err error) {
	if c.to != nil && !c.c.toFolder() {
		return nil
	}
	if err := c.close(); err != nil {
		return err
	}
	if c.c.toFolder() {
		w, err := c.a.Create("-o", c.folder.Place(c.Names[i]), c.folder.Kind(c.Names[i], c.formats[i]))
		if err != nil {
			return err
		}
		c.keepTo = append(c.keepTo, w)
	}
	if c.like, err = c.Open(i, c.opt); err != nil {
		return err
	}
	o := input.CopyOptions{Like: c.like, Null: c.c.Null, Columns: c.c.Columns.ofInput()}
	if c.to, err = c.formats[i].NewCopier(c.keepTo[len(c.keepTo)-1], o); err != nil {
		c.like.Close()
	}
	return err
}

// close completes the output that records were copied to last, which gets its name later.
func (c *copies) close() error {
	if c.to == nil {
		return nil
	}
	err := errors.Join(c.to.Close(), c.like.Close())
	c.to = nil
	if err == nil && c.c.toFolder() {
		err = c.keepTo[len(c.keepTo)-1].Finish()
	}
	return err
}
