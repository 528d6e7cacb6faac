package dedup

import (
	"context"
	"errors"

	"github.com/simdb/simdb/records"
)

// newDigests starts to digest the inputs of a run, if there is an audit.
func (d *job) newDigests() *digests {
	ctx, cancel := context.WithCancel(d.ctx)
	s := &digests{cancel: cancel}
	switch {
	case d.c.DryRun:
	case d.Tree != nil:
		s.inputs = []AuditInput{{File: records.ShownName(d.Names[0]), Bytes: new(d.Total)}}
		s.tree = &contentDigest{}
	case d.Stored != nil:
		s.inputs, s.tree = []AuditInput{{File: records.ShownName(d.Names[0])}}, &contentDigest{}
	default:
		s.done.Go(func() {
			for i, path := range d.Files {
				in, err := Digest(ctx, path)
				if in.File = records.ShownName(d.Names[i]); in.File == "-" {
					in.File = "stdin"
				}
				s.inputs, s.err = append(s.inputs, in), errors.Join(s.err, err)
			}
		})
	}
	return s
}

// add adds a document of the first pass.
func (s *digests) add(rec *records.Record) {
	if s.tree != nil {
		name := rec.File
		if rec.Seq != 0 { // of a database
			name = rec.Doc.ID
		}
		s.tree.add(name, rec.Doc.Text, rec.Seq)
		s.tree.addPrint(rec)
	}
}

// addPrint adds the words of a fingerprint.
func (c *contentDigest) addPrint(rec *records.Record) {
	if fps := rec.Doc.Fingerprints; fps != nil {
		for _, word := range fps[0] {
			c.add("", "", word)
		}
	}
}

// wait returns the inputs with their digests, after the first pass.
func (s *digests) wait() ([]AuditInput, error) {
	s.done.Wait()
	if s.tree != nil {
		s.inputs[0].XXH3 = s.tree.sum()
	}
	return s.inputs, s.err
}

// stop ends the computations that are still running.
func (s *digests) stop() {
	s.cancel()
	s.done.Wait()
}
