package main

import (
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/repl/output"
)

// rowFlags say how and where rows are written.
type rowFlags struct {
	Format rowFormat `placeholder:"FORMAT" help:"${formats} (default: table on a terminal, tsv elsewhere)."`
	Output string    `short:"o" file:"rows" placeholder:"FILE" help:"Write the rows to FILE instead of standard output; .csv, .jsonl, .json and .tsv set the format, .gz and .zst after it compress."`
}

// rowFormat is an output.Format, or none.
type rowFormat struct {
	output.Format
	set bool
}

// UnmarshalText parses the name of a format.
func (f *rowFormat) UnmarshalText(text []byte) (err error) {
	f.Format, err = output.ParseFormat(string(text))
	f.set = true
	return err
}

// options returns how rows are to be written to standard output, or to the file of -o.
func (f rowFlags) options() output.Options {
	o := output.Options{Format: output.TSV}
	if outfile.IsStdout(cmp.Or(f.Output, "-")) {
		o = output.Detect(os.Stdout)
	} else if named, ok := output.FormatOf(outfile.PlainName(f.Output)); ok {
		o.Format = named
	}
	if f.Format.set {
		o.Format = f.Format.Format
	}
	return o
}

// kind is what the rows are to the opener of outputs.
func (f rowFlags) kind() outfile.Kind {
	if f.Format.set {
		return outfile.AnyRows
	}
	return outfile.Rows
}

// sink is where data goes: standard output, a pager on a terminal, or a file.
type sink struct {
	io.Writer
	file  *outfile.Writer
	pager *pager
}

// sink opens the place where data goes: the file of -o called name, or standard output if that is "" or "-".
func (a *app) sink(name string, kind outfile.Kind, o output.Options) (*sink, error) {
	if outfile.IsStdout(cmp.Or(name, "-")) {
		if o.Terminal {
			p := a.newPager(0)
			return &sink{Writer: p, pager: p}, nil
		}
		return &sink{Writer: a.cleared(a.out)}, nil
	}
	w, err := a.create("-o", name, kind)
	if err != nil {
		return nil, err
	}
	return &sink{Writer: w, file: w}, nil
}

// cleared returns a writer to w that first ends the progress display, if both are on the terminal.
func (a *app) cleared(w io.Writer) io.Writer {
	if !isTerminal(w) {
		return w
	}
	return writerFunc(func(p []byte) (int, error) {
		a.endProgress()
		return w.Write(p)
	})
}

// close ends the output: on success a file gets its name, after a failure it is dropped. It returns the first error.
func (s *sink) close(failure error) error {
	switch {
	case s.file != nil && failure != nil:
		s.file.Abort()
	case s.file != nil:
		return s.file.Commit()
	case s.pager != nil:
		return errors.Join(failure, s.pager.Close())
	}
	return failure
}

// rows runs write, which writes rows with the given columns, and reports whether there were any.
func (a *app) rows(f rowFlags, columns []string, write func(row func(...any) error) error) (found bool, err error) {
	o := f.options()
	to, err := a.sink(f.Output, f.kind(), o)
	if err != nil {
		return false, err
	}
	w := output.New(to, columns, o)
	err = write(w.Row)
	if err == nil {
		err = w.Close()
	}
	return w.Rows() > 0, to.close(err)
}

// foundOr turns "nothing was found" into the exit status for it.
func foundOr(found bool, err error) error {
	if err == nil && !found {
		return status(exitNo)
	}
	return err
}
