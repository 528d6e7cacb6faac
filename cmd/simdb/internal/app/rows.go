package app

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"os"
	"os/exec"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/admin"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
	"golang.org/x/term"
)

// sink is a destination of data: standard output, a pager on a terminal, or a file.
type sink struct {
	io.Writer
	file  *outfile.Writer
	Pager *pager
}

// Sink opens the destination of data: the file of -o called name, or standard output if name is ""
// or "-".
func (a *App) Sink(name string, kind outfile.Kind, o output.Options) (*sink, error) {
	if outfile.IsStdout(cmp.Or(name, "-")) {
		if o.Format == output.Parquet && IsTerminal(a.Out) {
			return nil, errors.New("a terminal cannot show Parquet: write a file with -o FILE.parquet")
		}
		if o.Terminal {
			p := a.NewPager()
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

// Close ends the output. On success a file gets its name, after a failure it is dropped. Close
// returns the first error.
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

// Rows writes rows, and reports whether there were any.
func (a *App) Rows(f RowFlags, columns []string, rows iter.Seq2[query.Row, error]) (found bool, err error) {
	return a.RowsTo(f, columns, func(w *output.Writer) error {
		for row, err := range rows {
			if err == nil {
				err = w.Row(row...)
			}
			if err != nil {
				return err
			}
		}
		a.EndProgress()
		return nil
	})
}

// RowsOf yields the rows that the function row makes from the values of seq.
func RowsOf[T any](seq iter.Seq2[T, error], row func(T) (query.Row, error)) iter.Seq2[query.Row, error] {
	return func(yield func(query.Row, error) bool) {
		for v, err := range seq {
			var values query.Row
			if err == nil {
				values, err = row(v)
			}
			if !yield(values, err) || err != nil {
				return
			}
		}
	}
}

// Fixed yields the given rows.
func Fixed(rows ...query.Row) iter.Seq2[query.Row, error] {
	return func(yield func(query.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// RowsTo opens the output of rows and calls write with it. It reports whether write wrote any rows.
func (a *App) RowsTo(f RowFlags, columns []string, write func(w *output.Writer) error) (found bool, err error) {
	err = a.RowsThen(f, columns, func(w *output.Writer) error {
		err := write(w)
		found = w.Rows() > 0
		return err
	}, nil)
	return found, err
}

// RowsThen is RowsTo, but then, if it is not nil, writes more after the last row.
func (a *App) RowsThen(f RowFlags, columns []string, write func(w *output.Writer) error, then func(w io.Writer) error) error {
	o := f.Options()
	to, err := a.Sink(f.Output, f.Kind(), o)
	if err != nil {
		return err
	}
	w := output.New(to, columns, &o)
	if err = write(w); err == nil {
		err = w.Close()
	} else {
		w.Abandon()
	}
	if err == nil && then != nil {
		err = then(to)
	}
	return to.Close(err)
}

// Count writes a count instead of rows. It reports whether the count is greater than 0.
func (a *App) Count(f RowFlags, n int64, err error) (found bool, _ error) {
	if err != nil {
		return false, err
	}
	_, err = a.Rows(f, []string{"count"}, Fixed(query.Row{n}))
	return n > 0, err
}

// Statement runs one statement of the query language and writes its rows.
func (a *App) Statement(db *engine.DB, f RowFlags, text string, args ...any) error {
	rows, err := query.Run(a.Context(), db, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	_, err = a.Rows(f, rows.Columns(), rows.All())
	for _, warning := range rows.Warnings() {
		a.Say("%s", warning)
	}
	return err
}

// Administer executes one of admin.Commands, and writes its rows or prints its message.
func (a *App) Administer(db *engine.DB, f RowFlags, command string, args ...string) error {
	m := a.Meter()
	defer m.Stop()
	r, err := admin.Named(command).Run(a.Context(), db, args, m.Report)
	m.Stop()
	if err != nil {
		return err
	}
	if r.Message() != "" {
		a.Say("%s", r.Message())
	} else if _, err = a.Rows(f, r.Columns(), r.All()); err != nil {
		return err
	}
	for _, warning := range r.Warnings() {
		a.Say("%s", warning)
	}
	return nil
}

// pager shows rows on a terminal a screen at a time, with $SIMDB_PAGER, $PAGER or less. It holds
// rows back until they exceed the screen; then it clears the progress display and starts the
// program. If there is no pager, or it is cat, rows go directly to the terminal.
type pager struct {
	a    *App
	rows int          // results of at most this many lines do not start the pager
	held bytes.Buffer // lines held back until then
	to   io.Writer    // the terminal or the pipe; nil before the first row is shown
	pipe io.WriteCloser
	cmd  *exec.Cmd
}

// maxHeld limits the bytes that are held back to count their lines.
const maxHeld = 64 << 10

// NewPager returns a pager for results that do not fit on the screen.
func (a *App) NewPager() *pager { return &pager{a: a, rows: screenRows()} }

// screenRows returns the height of the screen less the lines for messages and the prompt.
func screenRows() int {
	const usual, rest = 24, 3
	_, h, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil || h <= 0 {
		h = usual
	}
	return max(1, h-rest)
}

// Started reports whether anything has been shown.
func (p *pager) Started() bool { return p.to != nil }

// Write shows lines. It returns io.ErrClosedPipe when the user has left the pager.
func (p *pager) Write(b []byte) (int, error) {
	if p.to == nil {
		p.held.Write(b)
		if bytes.Count(p.held.Bytes(), []byte("\n")) <= p.rows && p.held.Len() <= maxHeld {
			return len(b), nil
		}
		p.a.EndProgress()
		p.start()
		if err := p.release(); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	n, err := p.to.Write(b)
	return n, closedPipe(err)
}

// release shows the lines that were held back.
func (p *pager) release() error {
	_, err := p.to.Write(p.held.Bytes())
	p.held = bytes.Buffer{}
	return closedPipe(err)
}

// closedPipe returns io.ErrClosedPipe for errors that mean that the reader has exited.
func closedPipe(err error) error {
	if closedBySystem(err) {
		return io.ErrClosedPipe
	}
	return err
}

// start starts the program. If that fails, rows are shown without it.
func (p *pager) start() {
	p.to = p.a.Out
	c := pagerCommand()
	if c == nil {
		return
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	pipe, err := c.StdinPipe()
	if err != nil || c.Start() != nil {
		return
	}
	p.to, p.pipe, p.cmd = pipe, pipe, c
}

// pagerCommand returns the command of the pager, or nil if none is wanted or found. A command line
// with shell syntax is run by sh.
func pagerCommand() *exec.Cmd {
	line := cmp.Or(os.Getenv("SIMDB_PAGER"), os.Getenv("PAGER"), "less")
	args := strings.Fields(line)
	if len(args) == 0 || len(args) == 1 && args[0] == "cat" {
		return nil
	}
	if strings.ContainsAny(line, "|&;<>()$`\\\"'*?[#~=%") {
		args = []string{"sh", "-c", line}
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil
	}
	c := exec.Command(path, args[1:]...)
	if os.Getenv("LESS") == "" {
		c.Env = append(os.Environ(), "LESS=FRSX")
	}
	return c
}

// Close shows the lines that are held back, and waits until the user leaves the pager.
func (p *pager) Close() error {
	if p.to == nil {
		if p.held.Len() == 0 {
			return nil
		}
		p.a.EndProgress()
		p.to = p.a.Out
		return p.release()
	}
	if p.cmd == nil {
		return nil
	}
	err := p.pipe.Close()
	p.pipe, p.to = nil, p.a.Out // later messages go to the terminal
	failed := p.cmd.Wait()
	if _, left := errors.AsType[*exec.ExitError](failed); left { // less has a status of its own after Ctrl-C
		failed = nil
	}
	return errors.Join(err, failed)
}

// Talk returns a writer for messages. They go where the rows go, or to w before the first row.
func (p *pager) Talk(w io.Writer) io.Writer {
	return WriterFunc(func(b []byte) (int, error) {
		if p.to == nil && p.held.Len() == 0 {
			return w.Write(b)
		}
		return p.Write(b)
	})
}
