package dedup

import (
	"cmp"
	"io"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/outfile"
)

// openOutputs opens all outputs before the work begins.
func (d *job) openOutputs() (err error) {
	if d.rejects, err = d.a.NewRejects(d.c.RejectFlags, d.a.Talk(d.meter)); err != nil {
		return err
	}
	if d.c.DryRun {
		return nil
	}
	if d.keepTo, err = d.a.Create("-o", cmp.Or(d.c.Output, "-"), app.CopiesOf(d.like.Format)); err != nil {
		return err
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
	if err == nil && audit.w != nil {
		if err = d.placeKnown(audit); err == nil {
			err = d.placeKeepers(audit)
		}
	}
	if err != nil {
		return err
	}
	n, err := d.copy(d.keepTo, audit)
	if err == nil && (n != d.read || len(d.failed) > 0) {
		err = errChanged
	}
	if err != nil {
		return err
	}
	d.meter.Stop()
	return outfile.Commit(d.auditTo, d.clustersTo, d.keepTo)
}

// copy writes the kept records to out and all others to audit, and returns how many documents it
// has read.
func (d *job) copy(out io.Writer, audit *audit) (n int64, err error) {
	like, err := d.open(d.files[0], d.names[0])
	if err != nil {
		return 0, err
	}
	defer like.Close()
	listing := newListing(d)
	kept := d.like.Format.NewCopier(out, input.CopyOptions{Like: like, Null: d.c.Null})
	err = d.each("write", func(in input.Source, rec *input.Record) error {
		me := d.known + n
		if n++; n > d.read {
			return errChanged
		}
		if err := listing.add(me, rec); err != nil {
			return err
		}
		if kept := d.out.kept(me); !kept || d.out.cluster[me] > 0 {
			if err := audit.member(me, rec); err != nil || !kept {
				return err
			}
		}
		d.kept++
		return kept.Copy(in, rec.Raw)
	}, audit.issue)
	if err == nil {
		err = kept.Close()
	}
	return n, err
}
