package dedup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
)

// errChanged is the error of files that are not what they were in the first pass.
var errChanged = errors.New("the files were changed while they were read; nothing is written")

// spool copies standard input and other files that can't be read twice.
func (d *job) spool(dir string) error {
	if d.src.Tree != nil {
		d.files = d.names
		return nil
	}
	for i, name := range d.names {
		src := os.Stdin
		if name != "-" {
			st, err := os.Stat(name)
			if err != nil {
				return err
			}
			if st.Mode().IsRegular() {
				d.files = append(d.files, name)
				d.asRead = append(d.asRead, st)
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
		case <-d.a.Context().Done(): // the read that is under way ends with the process
			err = context.Cause(d.a.Context())
		}
		if err != nil {
			return err
		}
		d.files, d.asRead = append(d.files, path), append(d.asRead, nil)
	}
	return nil
}

// unchanged returns an error if an input is not what it was when the run began: then what was
// decided is about other records than those that were copied.
func (d *job) unchanged() error {
	for i, before := range d.asRead {
		if before == nil {
			continue // a copy of ours
		}
		now, err := os.Stat(d.files[i])
		if err != nil {
			return err
		}
		if !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			return fmt.Errorf("%s: %w", d.names[i], errChanged)
		}
	}
	return nil
}

// probe looks at the beginning of every file: they must all have one format, and the same columns,
// since their records go into one output, whose name must not say otherwise.
func (d *job) probe() error {
	var first input.Info
	var columns []byte // of the first file that has some
	for i, path := range d.files {
		info, err := d.begins(path, d.names[i])
		if err != nil {
			return err
		}
		d.formats = append(d.formats, info.Format)
		switch {
		case i == 0:
			first = info
		case d.c.toFolder():
		case info.Format != first.Format || info.Shape != first.Shape:
			return fmt.Errorf("%s is %s and %s is %s: files of one run must have one format, as their %ss go into one output; -o DIR/ writes one for each",
				d.names[0], first.Shape, d.names[i], info.Shape, first.Format.Unit())
		case info.Columns != nil && columns != nil && !bytes.Equal(bytes.TrimSpace(info.Columns), bytes.TrimSpace(columns)):
			return fmt.Errorf("%s has other columns than the files before it; files of one run must have the same, or go to -o DIR/", d.names[i])
		}
		if columns == nil {
			columns = info.Columns
		}
		if d.src.Tree == nil {
			d.noteSame(i)
		}
	}
	d.like = first
	if d.c.toFolder() {
		return d.claimFolder()
	}
	if d.c.Output == "" {
		return nil
	}
	return d.a.Outputs.Claim("-o", d.c.Output, app.CopiesOf(d.like.Format))
}

// begins reads the beginning of a file and describes it.
func (d *job) begins(path, name string) (info input.Info, err error) {
	in, err := d.open(path, name)
	if err != nil {
		return info, err
	}
	defer in.Close()
	for _, err := range in.Records(d.a.Context()) {
		if re, ok := errors.AsType[*input.ReadError](err); ok && re.Pos <= 1 {
			return info, err
		}
		break
	}
	d.a.TellNotice(d.meter, in)
	if d.c.Columns != nil {
		if err := input.CanExtend(in, d.c.Columns.ofInput()); err != nil {
			return info, fmt.Errorf("--columns: %w", err)
		}
	}
	return in.Info(), context.Cause(d.a.Context())
}

// noteSame warns about a file that is given twice.
func (d *job) noteSame(i int) {
	me := d.asRead[i]
	if me == nil {
		return // a copy of ours
	}
	for j, other := range d.asRead[:i] {
		if other != nil && os.SameFile(me, other) {
			d.a.TalkTo(d.meter, "%s and %s are the same file: its documents are read twice", d.names[j], d.names[i])
			return
		}
	}
}

// each calls f for every record of all files, and bad for every record that cannot be used. Damaged
// files are added to failed.
func (d *job) each(stage string, f func(input.Source, *input.Record) error, bad func(*input.Issue) error) error {
	return d.eachFile(stage, func(int, input.Source) error { return nil }, f, bad)
}

// eachFile is each, which calls begin before the records of a file.
func (d *job) eachFile(stage string, begin func(i int, in input.Source) error, f func(input.Source, *input.Record) error, bad func(*input.Issue) error) error {
	s := d.src
	if s.Tree == nil { // standard input has a size by now
		var err error
		if s, err = app.FileSources(d.files); err != nil {
			return err
		}
	}
	for i, path := range d.files {
		in, err := d.openFor(d.need(stage, i), path, d.names[i])
		if err != nil {
			return err
		}
		if err := begin(i, in); err != nil {
			in.Close()
			return err
		}
		for rec, err := range in.Records(d.a.Context()) {
			if is, ok := errors.AsType[*input.Issue](err); ok {
				err = bad(is)
			} else if re, ok := errors.AsType[*input.ReadError](err); ok {
				d.failed = append(d.failed, re)
				break
			} else if err == nil {
				err = f(in, rec)
			}
			if err != nil {
				in.Close()
				return err
			}
			d.meter.Report(s.Progress(stage, in))
		}
		s.Done(in)
		in.Close()
	}
	return nil
}

// need is what a pass needs of the documents of input i. The first one is about their texts, and so
// are all with --level. Later ones need only to know which record is which, unless they have to
// find the same ones unusable.
func (d *job) need(stage string, i int) input.Need {
	switch {
	case d.level == nil && stage != readStage && !d.flawed[i] && d.opt.IDFrom != input.IDFromHash:
		return input.NeedID
	case d.keep.needFields():
		return input.NeedAll
	}
	return input.NeedText
}

// open opens a file under the name that the user gave.
func (d *job) open(path, name string) (input.Source, error) {
	return d.openFor(input.NeedAll, path, name)
}

// openFor opens a file for a pass that needs no more of its documents.
func (d *job) openFor(need input.Need, path, name string) (input.Source, error) {
	opt := d.opt
	opt.Need = need
	if path == name {
		return d.src.Open(path, opt)
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
	return input.New(name, src, st.Size(), opt)
}

// readStage is the first pass.
const readStage = "read"

// readAll calls add for every document of the first pass, before it is counted in d.read.
func (d *job) readAll(add func(rec *input.Record) error) error {
	d.flawed = make([]bool, len(d.files))
	at := 0
	begin := func(i int, _ input.Source) error {
		at = i
		return nil
	}
	err := d.eachFile(readStage, begin, func(_ input.Source, rec *input.Record) error {
		if rec.BadUTF8 {
			d.badUTF8++
		}
		d.keep.add(rec)
		d.digests.add(rec)
		d.decided.add(d.known+d.read, rec.Doc.ID)
		if d.read == math.MaxUint32-1 {
			return errors.New("there are too many documents")
		}
		err := add(rec)
		d.read++
		return err
	}, func(is *input.Issue) error {
		d.flawed[at] = true
		return d.rejects.Add(is)
	})
	if err == nil {
		err = d.damage()
	}
	if err == nil {
		err = d.keep.decide()
	}
	return err
}

// damage returns an error if a file could not be read to its end. The rest of it would be missing
// from the output without a trace.
func (d *job) damage() error {
	if len(d.failed) == 0 {
		return nil
	}
	return errors.Join(append(d.failed, errors.New("nothing is written, as lines would be missing: repair or leave out what is damaged"))...)
}

// inputBytes is about how many bytes all inputs have when they are decompressed.
func (d *job) inputBytes() (n int64) {
	if d.src.Tree != nil {
		return d.src.Total
	}
	for _, path := range d.files {
		n += input.ContentBytes(path)
	}
	for i := range d.against {
		n += d.against[i].bytes
	}
	return n
}
