package app

import (
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
)

// sink is where data goes: standard output, a pager on a terminal, or a file.
type sink struct {
	io.Writer
	file  *outfile.Writer
	Pager *pager
}

// Sink opens the place where data goes: the file of -o called name, or standard output if that is
// "" or "-".
func (a *App) Sink(name string, kind outfile.Kind, o output.Options) (*sink, error) {
	if outfile.IsStdout(cmp.Or(name, "-")) {
		if o.Format == output.Parquet && IsTerminal(a.Out) {
			return nil, errors.New("a Parquet file is not for terminals: -o FILE.parquet writes one")
		}
		if o.Terminal {
			p := a.NewPager(0)
			return &sink{Writer: p, Pager: p}, nil
		}
		return &sink{Writer: a.shownOn(a.Out)}, nil
	}
	w, err := a.Create("-o", name, kind)
	if err != nil {
		return nil, err
	}
	return &sink{Writer: w, file: w}, nil
}

// EndPart implements input.PartWriter.
func (s *sink) EndPart() error {
	if s.file == nil {
		return nil
	}
	return s.file.EndPart()
}

// shownOn returns a writer to w of lines that may hold anything: if w is a terminal, they do not
// control it. The progress display has ended before the first of them, unless w is a plain file:
// what reads a pipe may write to the terminal, too.
func (a *App) shownOn(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return output.Shown(a.cleared(w))
	}
	if f, ok := w.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return w
		}
	}
	return a.cleared(w)
}

// cleared returns a writer to w that first ends the progress display.
func (a *App) cleared(w io.Writer) io.Writer {
	return WriterFunc(func(p []byte) (int, error) {
		a.EndProgress()
		return w.Write(p)
	})
}

// Close ends the output: on success a file gets its name, after a failure it is dropped. It returns
// the first error.
func (s *sink) Close(failure error) error {
	switch {
	case s.file != nil && failure != nil:
		s.file.Abort()
	case s.file != nil:
		return s.file.Commit()
	case s.Pager != nil:
		return errors.Join(failure, s.Pager.Close())
	}
	return failure
}

// Rows runs write, which writes rows with the given columns, and reports whether there were any.
func (a *App) Rows(f RowFlags, columns []string, write func(row func(...any) error) error) (found bool, err error) {
	return a.RowsTo(f, columns, func(w *output.Writer) error { return write(w.Row) })
}

// RowsTo is Rows for rows of which some are to be on their way before the last one is written.
func (a *App) RowsTo(f RowFlags, columns []string, write func(w *output.Writer) error) (found bool, err error) {
	err = a.RowsThen(f, columns, func(w *output.Writer) error {
		err := write(w)
		found = w.Rows() > 0
		return err
	}, nil)
	return found, err
}

// RowsThen is RowsTo, with something else to write after the last row, if it is not nil.
func (a *App) RowsThen(f RowFlags, columns []string, write func(w *output.Writer) error, then func(w io.Writer) error) error {
	o := f.Options()
	to, err := a.Sink(f.Output, f.Kind(), o)
	if err != nil {
		return err
	}
	w := output.New(to, columns, o)
	if err = write(w); err == nil {
		err = w.Close()
	}
	if err == nil && then != nil {
		err = then(to)
	}
	return to.Close(err)
}

// Count writes a count instead of rows, and reports whether it is more than 0.
func (a *App) Count(f RowFlags, n int64, err error) (found bool, _ error) {
	if err != nil {
		return false, err
	}
	_, err = a.Rows(f, []string{"count"}, func(row func(...any) error) error { return row(n) })
	return n > 0, err
}

// CopiesOf is the kind of an output that copies records of this format.
func CopiesOf(f input.Format) outfile.Kind {
	d := f.Describe()
	if d.Whole {
		return outfile.WholeOf(d.Label, d.Endings...)
	}
	return outfile.LinesOf(d.Label, d.Endings...)
}

// copies is the kind of an output of records of an input whose format is not known yet.
func copies() outfile.Kind {
	var endings []string
	for _, name := range input.Formats() {
		endings = append(endings, input.Format(name).Describe().Endings...)
	}
	return outfile.Lines.And(endings...)
}

// Statement runs one statement of the query language and writes its rows.
func (a *App) Statement(db *engine.DB, f RowFlags, text string, args ...any) error {
	rows, err := query.Run(a.Context(), db, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	_, err = a.Rows(f, rows.Columns(), func(row func(...any) error) error {
		for r, err := range rows.All() {
			if err != nil {
				return err
			}
			if err := row(r...); err != nil {
				return err
			}
		}
		return nil
	})
	for _, warning := range rows.Warnings() {
		a.Say("%s", warning)
	}
	return err
}
