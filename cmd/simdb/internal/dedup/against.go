package dedup

import (
	"errors"
	"fmt"
	"os"

	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
)

// The documents of --against come before those of the inputs in the order of preference. They are
// keepers without being copied: what is like one of them is dropped.

// checkAgainst checks that the files of --against can be read twice.
func (c *Command) checkAgainst() error {
	for _, path := range c.Against {
		st, err := os.Stat(path)
		switch {
		case path == "-":
			return errors.New("--against is read twice, which standard input cannot be")
		case err != nil:
			return err
		case st.IsDir():
			return fmt.Errorf("--against %s: it is a folder; simdb match leaves out what a database has", path)
		case !st.Mode().IsRegular():
			return fmt.Errorf("--against %s: it is read twice, which only a regular file can be", path)
		}
	}
	return nil
}

// eachKnown calls f for every document of --against.
func (d *job) eachKnown(f func(rec *input.Record) error, bad func(*input.Issue) error) error {
	for _, path := range d.c.Against {
		in, err := input.Open(path, d.opt)
		if err != nil {
			return err
		}
		for rec, err := range in.Records(d.a.Context()) {
			if is, ok := errors.AsType[*input.Issue](err); ok {
				err = bad(is)
			} else if err == nil {
				err = f(rec)
			}
			if err != nil {
				in.Close()
				return err
			}
			n, size := in.Progress()
			d.meter.Report(engine.Progress{Stage: "read what is known", Done: n, Total: max(size, 0), Unit: "bytes"})
		}
		in.Close()
	}
	return nil
}

// readKnown is the first pass over --against.
func (d *job) readKnown(x *corpus.Extractor) error {
	return d.eachKnown(func(rec *input.Record) error {
		d.known++
		return x.Add(&rec.Doc)
	}, d.rejects.Add)
}

// placeKnown notes where the known documents stand that others are dropped for.
func (d *job) placeKnown(a *audit) error {
	n := int64(0)
	err := d.eachKnown(func(rec *input.Record) error {
		if n == d.known {
			return errChanged
		}
		if c := d.out.cluster[n]; c > 0 {
			a.keepers[c-1] = &place{rec.Doc.ID, rec.File, rec.Pos}
		}
		n++
		return nil
	}, func(*input.Issue) error { return nil })
	if err == nil && n != d.known {
		err = errChanged
	}
	return err
}
