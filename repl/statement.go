package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/printable"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
)

// scriptError adds a line number to the error of a statement in a longer text.
type scriptError struct {
	err    error
	source string // the file, "" for standard input
	line   int    // in the whole text
}

// Error returns the error with its line, and with the file if it has a name.
func (e *scriptError) Error() string {
	if e.source == "" {
		return fmt.Sprintf("%v (line %d)", e.err, e.line)
	}
	return fmt.Sprintf("%v (%s, line %d)", e.err, e.source, e.line)
}

// inScript adds the place to an error. It leaves an error unchanged if a script of .read has
// already added the place, if line is 0, or if the place is the first line of standard input or of
// a command of Exec.
func inScript(err error, source string, line int) error {
	if _, placed := errors.AsType[*scriptError](err); placed || line == 0 || line == 1 && source == "" {
		return err
	}
	return &scriptError{err, source, line}
}

// Unwrap returns the error of the statement.
func (e *scriptError) Unwrap() error { return e.err }

// showError writes the class and the sentence of an error and, if it has a place in a statement,
// the line with a caret.
func (s *session) showError(err error) {
	if errors.Is(err, context.Canceled) {
		s.say("Cancelled")
		return
	}
	text, source := err.Error(), ""
	if e, ok := errors.AsType[*query.ParseError](err); ok {
		source = e.Source()
	} else {
		text = front.Language.Detail(err)
	}
	s.tell(printable.Text(text))
	if source != "" {
		s.say("%s", source)
	}
	if errors.Is(err, engine.ErrCorruption) && s.cfg.OnDamage != "" {
		s.say("  %s", s.cfg.OnDamage)
	}
}

// runStatement runs one statement and prints its result. At a prompt, Ctrl-C cancels it.
func (s *session) runStatement(text string) error {
	_, begun := s.statements.Pending()
	return s.inTurn(front.Language.Writes(text, begun), func(ctx context.Context, db *engine.DB) error {
		if err := s.explainFirst(ctx, db, text); err != nil {
			return err
		}
		report, stopReport := s.cfg.progress()
		defer stopReport()
		report(engine.Progress{Stage: "run"})
		s.statements.Progress, s.statements.ShowFirst = report, 0
		if s.options.Format == output.Table {
			s.statements.ShowFirst = int64(s.options.MaxRows) // later rows are only counted
		}
		started := quantity.Start()
		rows, err := s.statements.Run(ctx, db, text, s.cfg.Args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if !front.Language.Writes(text, false) {
			s.last = text
		}
		err = s.show(rows, started.Elapsed, stopReport)
		s.no = s.no && front.Language.Searches(text)
		return err
	})
}

// explainFirst shows the plan of a query if .explain is on.
func (s *session) explainFirst(ctx context.Context, db *engine.DB, text string) error {
	if !s.explain {
		return nil
	}
	s.statements.Progress, s.statements.ShowFirst = nil, 0
	rows, err := s.statements.Run(ctx, db, "EXPLAIN "+text, s.cfg.Args...)
	if err != nil {
		return nil // the query itself will report it
	}
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		s.say("%s", printable.Text(fmt.Sprint(row[0])))
	}
	return nil
}

// A result is the rows or the message of a statement or an administrative command.
type result interface {
	Columns() []string
	Message() string
	All() iter.Seq2[query.Row, error]
	Warnings() []string
}

// show prints a result and its warnings, after the progress display has ended.
func (s *session) show(r result, elapsed func() time.Duration, stopReport func()) error {
	s.no = false
	page := s.page()
	n, err := s.print(r, beforeWrite{page, stopReport}, s.options)
	stopReport()
	took := elapsed() // without the time that the user spends in the pager
	if e := page.Close(); err == nil {
		err = e
	}
	if errors.Is(err, io.ErrClosedPipe) && s.cfg.Interactive {
		return nil
	}
	for _, warning := range r.Warnings() {
		if !s.cfg.Quiet {
			s.tell(printable.Text(warning))
		}
	}
	if err == nil && (r.Message() == "" || !structured(s.options.Format)) {
		s.footer(r, n, took, s.options)
	}
	if s.once && err == nil {
		s.once, err = false, s.closeOutput()
	}
	return err
}

// interruptible returns the context of a statement or import. At a prompt, Ctrl-C cancels it.
func (s *session) interruptible() (context.Context, context.CancelFunc) {
	if s.cfg.Interactive {
		return signal.NotifyContext(s.ctx, os.Interrupt)
	}
	return s.ctx, func() {}
}

// progress starts the progress display.
func (c *Config) progress() (report func(engine.Progress), stop func()) {
	if c.Progress == nil {
		return func(engine.Progress) {}, func() {}
	}
	return c.Progress()
}

// page returns the writer for the next statement's rows.
func (s *session) page() io.WriteCloser {
	if s.cfg.Page != nil && s.cfg.Interactive && s.outFile == nil {
		return s.cfg.Page()
	}
	return keptOpen{s.out}
}

// keptOpen is a writer whose Close does nothing.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// beforeWrite calls a function before every write.
type beforeWrite struct {
	io.Writer
	do func()
}

func (b beforeWrite) Write(p []byte) (int, error) {
	b.do()
	return b.Writer.Write(p)
}

// print writes rows or a message, and returns the number of rows.
func (s *session) print(r result, out io.Writer, o output.Options) (int64, error) {
	if o.Format == output.Parquet {
		if s.file {
			return 0, errors.New("a Parquet file holds the rows of one statement, and this is another")
		}
		s.file = true
	}
	if m := r.Message(); m != "" {
		if structured(o.Format) || o.Format == output.Parquet {
			w := output.New(out, []string{"message"}, &o)
			return 0, s.end(w, w.Row(m))
		}
		if o.Terminal {
			m = printable.Text(m)
		}
		_, err := fmt.Fprintln(out, m)
		return 0, err
	}
	w := output.New(out, r.Columns(), &o)
	var err error
	for row, failed := range r.All() {
		if err = failed; err == nil {
			err = w.Row(row...)
		}
		if err != nil {
			break
		}
	}
	if err = s.end(w, err); err != nil {
		return w.Rows(), err
	}
	_, statement := r.(*query.Rows)
	s.no = statement && w.Rows() == 0
	return w.Rows(), nil
}

// structured reports whether every line of a format must be JSON.
func structured(f output.Format) bool { return f == output.JSONL || f == output.JSON }

// end closes w after the last row, or after err. After an error it still shows the rows written
// before, except that it does not draw a table without rows.
func (s *session) end(w *output.Writer, err error) error {
	if err != nil && w.Rows() == 0 && s.options.Format == output.Table {
		return err
	}
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}

// footer writes the number of rows and their cost: `3 rows (0.8 ms, 214 candidates)`.
func (s *session) footer(r result, n int64, took time.Duration, o output.Options) {
	if !s.cfg.Output.Terminal && !s.timer && !s.stats {
		return
	}
	var head string
	var notes []string
	if r.Message() == "" {
		head = quantity.Count(n, "row")
	}
	if o.Format == output.Table && o.MaxRows > 0 && n > int64(o.MaxRows) {
		notes = append(notes, fmt.Sprintf("%d shown, .last shows all", o.MaxRows))
	}
	var st engine.QueryStats
	rows, ok := r.(*query.Rows)
	if ok {
		st = rows.Stats()
	}
	if s.timer {
		notes = append(notes, milliseconds(took))
		if st.Candidates > 0 {
			notes = append(notes, quantity.Count(st.Candidates, "candidate"))
		}
	}
	if s.stats && ok {
		notes = append(notes, quantity.Count(st.Probes, "probe"), quantity.Count(st.Matches, "match"), quantity.Count(st.Tables, "table"))
	}
	if len(notes) > 0 {
		head = strings.TrimSpace(head + " (" + strings.Join(notes, ", ") + ")")
	}
	if head != "" {
		s.say("%s", head)
	}
}

func milliseconds(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case ms >= 10000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 1:
		return fmt.Sprintf("%.1f ms", ms)
	default:
		return fmt.Sprintf("%.2g ms", ms)
	}
}
