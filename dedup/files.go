package dedup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// probe reads the beginning of every file. All files must have one format and the same columns,
// since their records go into one output, and the name of that output must not suggest another
// format.
func (d *job) probe() error {
	if err := d.checkAgainst(); err != nil {
		return err
	}
	like, first, formats, err := inputs.ProbeAll(len(d.Files), !d.c.ToFolder(), d.begins)
	if err != nil {
		return err
	}
	d.first, d.formats = first, formats
	if d.c.ToFolder() {
		return d.claimFolder()
	}
	if d.kind = inputs.CopyOf(like); d.c.Output == "" {
		return nil
	}
	return d.env.Claim(option.Name("Output"), d.c.Output, d.kind)
}

// begins reads the beginning of a file and describes it.
func (d *job) begins(i int) (info records.Info, err error) {
	return d.env.Probe(d.ctx, d.Sources, i, inputs.Reading{Options: d.opt}, func(in records.Source) error {
		if columns := d.c.copied(); len(columns) > 0 && !in.Info().Empty {
			if err := records.CanExtend(in, columns.OfInput()); err != nil {
				return fmt.Errorf("%s: %w", option.Name("Columns"), err)
			}
		}
		return context.Cause(d.ctx)
	})
}

// checkAgainst returns an error if an input is also a file of Against: all its documents would be
// dropped.
func (d *job) checkAgainst() error {
	for _, path := range d.c.Against {
		_, err := place.Stat(d.ctx, path)
		if inputs.IsSet(path) || d.env.TableSources(path) != nil { // a table is never an input
			continue
		}
		if err != nil {
			return err
		}
		for _, in := range slices.Concat(d.args, d.Names) {
			if place.Same(in, path) {
				return fmt.Errorf("%s is %s, an input, and would be overwritten", option.Set("Against", path), in)
			}
		}
	}
	return nil
}

// each calls f for every record of all files, and bad for every record that cannot be used. It
// adds damaged files to failed. It calls begin, unless nil, before the records of a file.
func (d *job) each(stage string, begin func(i int, in records.Source) error, f func(records.Source, *records.Record) error, bad badFunc) error {
	for i := range d.Files {
		opt := d.opt
		opt.Need = d.need(stage, i)
		err := d.env.ReadInput(d.ctx, d.Sources, i, inputs.Reading{
			Stage: stage, Options: opt, Begin: begin, Record: f, Issue: bad,
			Damaged: func(err error) { d.failed = append(d.failed, err) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// need returns which fields of input i's documents a pass needs. The first pass, and every pass
// with Level, needs the texts. Later passes only need to identify the records, unless they have
// to find the same records unusable.
func (d *job) need(stage string, i int) records.Need {
	switch {
	case d.Stored != nil && (stage == writeStage || d.keep.needFields() || d.grouped() || d.c.level() != units.Document):
		return records.NeedAll
	case d.Stored != nil: // reading only ids uses another order
		return records.NeedText
	case d.c.level() == units.Document && stage != readStage && stage != compareStage && !d.flawed[i] && d.opt.IDFrom != records.IDFromHash && d.equal == nil && !d.c.Columns.ofWords():
		return records.NeedID
	case d.keep.needFields() || d.grouped():
		return records.NeedAll
	}
	return records.NeedText
}

// The stages of the first pass, of another one over the texts, and of the pass that copies.
const readStage, compareStage, writeStage = "read", "compare", "write"

// readAll calls add for every document of the first pass, before d.read counts it.
func (d *job) readAll(add func(rec *records.Record) error) error {
	d.flawed = make([]bool, len(d.Files))
	at := 0
	begin := func(i int, _ records.Source) error {
		at = i
		return nil
	}
	err := d.each(readStage, begin, func(in records.Source, rec *records.Record) error {
		d.rejects.Note(in, rec)
		d.keep.add(rec)
		d.digests.add(rec)
		d.decided.add(d.known+d.read, rec)
		if d.read == math.MaxUint32-1 {
			return errors.New("there are too many documents")
		}
		err := add(rec)
		d.read++
		return err
	}, func(in records.Source, is *records.Issue) error {
		d.flawed[at] = true
		return d.rejects.Add(in, is)
	})
	if err == nil {
		err = d.damage()
	}
	if err == nil {
		err = d.rejects.Nothing()
	}
	if err == nil {
		err = d.keep.decide()
	}
	if err == nil && d.decided != nil {
		err = d.decided.limits.check()
	}
	return err
}

// damage returns an error if a file could not be read completely: the output would silently lack
// the rest.
func (d *job) damage() error {
	if len(d.failed) == 0 {
		return nil
	}
	return errors.Join(append(d.failed, errors.New("nothing was written, because lines would be missing: make the input readable or leave it out"))...)
}

// inputBytes returns the approximate size of all inputs after decompression.
func (d *job) inputBytes() (n int64) {
	n = d.ContentBytes()
	for i := range d.against {
		n += d.against[i].bytes
	}
	return n
}
