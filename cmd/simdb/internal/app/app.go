// Package app has the parts that the commands of simdb share: the run of the program with its
// signals and temporary files, messages and progress, flags and their types, databases, inputs,
// rejects, rows and other outputs.
//
// A command is a struct of flags and arguments with a method Run(*App) error. It writes data to
// App.Rows or App.Sink, prints messages with App.Say, and returns an error, or a Status for an exit
// status without a message:
//
//	type Stats struct {
//		DB string `arg:"" file:"db" help:"The database."`
//		app.RowFlags
//	}
//
//	func (c *Stats) Run(a *app.App) error { ... }
//
// Flags that name files have a tag "file". App.Declare uses it to check the files before the
// command begins.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/printable"
	"github.com/simdb/simdb/internal/tempdir"
	"github.com/simdb/simdb/records/inputs"
)

// App is the state of the program that commands share.
type App struct {
	Global GlobalFlags
	Out    io.Writer // standard output: data
	Err    io.Writer // standard error: messages

	Outputs outfile.Guard           // opens the outputs
	Tables  map[string]inputs.Table // documents in memory, by the names that stand for them in arguments
	Advice  func(error) string      // says what to type instead after an error, or ""; may be nil

	watch    sync.Once
	ctx      context.Context
	cancel   context.CancelCauseFunc
	mu       sync.Mutex
	shown    *Meter // the meter that was started last
	cleaners []func()
	env      *inputs.Env // created by Env
}

// ErrInterrupted is the cause with which a signal cancels App.Context.
var ErrInterrupted = errors.New("interrupted")

// New returns the App of this process, with its standard output and standard error.
func New() *App {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe becomes an error of the write
	a := &App{Out: os.Stdout, Err: os.Stderr}
	a.Outputs.Identify = engine.Identifier()
	a.Outputs.Show = func(f *os.File) io.Writer { return a.shownOn(f) }
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	return a
}

// NewQuiet returns an App for a part of a process. It discards messages, handles no signals, and
// has the context ctx.
func NewQuiet(ctx context.Context, tables map[string]inputs.Table) *App {
	a := partOf(ctx, io.Discard, io.Discard)
	a.Tables = tables
	a.Global.Quiet, a.Global.Progress = true, progressNone
	return a
}

// Part returns an App for a command within another command. It prints messages like a, handles no
// signals, and has the context ctx.
func (a *App) Part(ctx context.Context) *App {
	p := partOf(ctx, a.Out, a.Err)
	p.Outputs.Show = func(f *os.File) io.Writer { return p.shownOn(f) }
	return p
}

func partOf(ctx context.Context, out, talk io.Writer) *App {
	a := &App{Out: out, Err: talk}
	a.Outputs.Identify = engine.Identifier()
	a.watch.Do(func() {})
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	return a
}

// Context returns a context that the first Ctrl-C, SIGTERM or SIGHUP cancels. A second signal ends
// the process.
func (a *App) Context() context.Context {
	a.watch.Do(func() {
		c := make(chan os.Signal, 2)
		for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
			if !signal.Ignored(sig) { // nohup and a shell's & ignore some signals
				signal.Notify(c, sig)
			}
		}
		go func() {
			<-c
			told := make(chan struct{})
			go func() {
				defer close(told)
				if IsTerminal(a.Err) {
					a.sayStopping()
				}
			}()
			select {
			case <-told: // the message is printed before the program ends, unless the terminal blocks
			case <-time.After(time.Second):
			}
			a.cancel(ErrInterrupted)
			<-c
			a.CleanUp()
			os.Exit(ExitInterrupt)
		}()
	})
	return a.ctx
}

// Env returns the environment of jobs, which shows their messages and progress here.
func (a *App) Env() *inputs.Env {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.env == nil {
		a.env = &inputs.Env{Outputs: &a.Outputs, Tables: a.Tables, BusyTimeout: a.Global.BusyTimeout, Progress: a.report, MakeTemp: a.TempDirIn}
		if !a.Global.Quiet {
			a.env.Log = slog.New(talker{a})
		}
	}
	return a.env
}

// TempDirIn makes a temporary folder in parent, or in the system's folder if parent is "". It is
// removed when the process ends.
func (a *App) TempDirIn(parent string) (string, error) {
	a.Context() // so that Ctrl-C removes it, too
	dir, remove, err := tempdir.New(parent)
	if err == nil {
		a.onExit(remove)
	}
	return dir, err
}

// report shows the progress of a job if a meter is shown.
func (a *App) report(p engine.Progress) {
	if m := a.meter(); m != nil {
		m.Report(p)
	}
}

// meter returns the meter that was started last, or nil.
func (a *App) meter() *Meter {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shown
}

// talker is a slog.Handler that prints messages as TalkTo does.
type talker struct{ a *App }

// Enabled implements slog.Handler.
func (talker) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (t talker) Handle(_ context.Context, r slog.Record) error {
	t.a.TalkTo(t.a.meter(), "%s", r.Message)
	return nil
}

// WithAttrs implements slog.Handler.
func (t talker) WithAttrs([]slog.Attr) slog.Handler { return t }

// WithGroup implements slog.Handler.
func (t talker) WithGroup(string) slog.Handler { return t }

// NewSources returns the inputs that the arguments of a command name. With --files, it registers
// them so that no output can replace one.
func (a *App) NewSources(args []string, f InputFlags) (*inputs.Sources, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	return a.Env().New(a.Context(), args, f.Where())
}

// NewCollection is NewSources for a command that can also read a database; the caller closes it.
func (a *App) NewCollection(args []string, f InputFlags, how inputs.Access) (*inputs.Sources, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	return a.Env().NewCollection(a.Context(), args, f.Where(), how)
}

// NewRejects returns the Rejects of a run that writes output.
func (a *App) NewRejects(f RejectFlags, output string) *inputs.Rejects {
	return a.Env().NewRejects(a.Context(), f.Options(), output)
}

// sayStopping answers Ctrl-C. The message replaces a progress bar, which would erase it, and stays
// until the program has stopped.
func (a *App) sayStopping() {
	const text = "simdb: stopping; Ctrl-C again aborts\n"
	m := a.meter()
	const over = "\r\x1b[K" // erases the rest of the bar, to the left of ^C
	if m == nil || !m.Above([]byte(over+text)) {
		io.WriteString(a.Err, "\n"+text) // after the ^C that the terminal shows
	}
}

// Interrupted reports whether a signal has ended Context.
func (a *App) Interrupted() bool { return a.ctx.Err() != nil }

// onExit registers f to be called before the process ends, also if a signal ends it.
func (a *App) onExit(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cleaners = append(a.cleaners, f)
}

// CleanUp removes temporary files and unfinished outputs.
func (a *App) CleanUp() {
	a.Outputs.Abort()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.cleaners {
		f()
	}
	a.cleaners = nil
}

// Say prints a message to standard error, unless --quiet is given.
func (a *App) Say(format string, args ...any) {
	if !a.Global.Quiet {
		fmt.Fprintln(a.Err, a.broken(OneLine(fmt.Sprintf(format, args...))))
	}
}

// broken wraps a message between words to the width of the terminal.
func (a *App) broken(text string) string {
	if width := TerminalWidth(a.Err); width > 0 && display.Width(text) > width {
		return Wrapped(text, 0, width)
	}
	return text
}

// Meter starts the progress display.
func (a *App) Meter() *Meter {
	mode := a.Global.Progress
	if a.Global.Quiet && mode == progressAuto {
		mode = progressNone
	}
	m := newMeter(mode, a.Err, IsTerminal(a.Err))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown = m
	return m
}

// EndProgress clears the progress display before rows are shown.
func (a *App) EndProgress() {
	if m := a.meter(); m != nil {
		m.Stop()
	}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// StatementProgress starts the progress display of a statement.
func (a *App) StatementProgress() (report func(engine.Progress), stop func()) {
	m := a.Meter()
	return m.Report, m.Stop
}

// Exit statuses.
const (
	ExitOK        = 0
	ExitNo        = 1
	ExitError     = 2
	ExitInterrupt = 130
)

// Status is an error that ends the program with an exit status and no message.
type Status int

// Error is never shown.
func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Verdict implements inputs.Verdict.
func (Status) Verdict() {}

// FoundOr converts "nothing was found" to its exit status.
func FoundOr(found bool, err error) error {
	if err == nil && !found {
		return Status(ExitNo)
	}
	return err
}

// ReaderGone reports whether an error of Write means that the process that reads a pipe has exited,
// as head does after ten lines.
func ReaderGone(err error) bool { return closedBySystem(err) || errors.Is(err, io.ErrClosedPipe) }

// WriterFunc is a function as an io.Writer.
type WriterFunc func(p []byte) (int, error)

// Write calls f.
func (f WriterFunc) Write(p []byte) (int, error) { return f(p) }

// shownOn returns a writer to w for lines with any content: if w is a terminal, control characters
// are escaped. The first line ends the progress display, unless w is a regular file: the reader of
// a pipe may write to the terminal, too.
func (a *App) shownOn(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return printable.Writer(a.cleared(w))
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

// Talk returns the writer for warnings while meter m, which may be nil, is shown. It returns nil
// with --quiet.
func (a *App) Talk(m *Meter) io.Writer {
	switch {
	case a.Global.Quiet:
		return nil
	case m == nil:
		return a.Err
	}
	return m
}

// TalkTo prints a message while the meter is shown.
func (a *App) TalkTo(m *Meter, format string, args ...any) {
	if w := a.Talk(m); w != nil {
		fmt.Fprintln(w, OneLine(fmt.Sprintf(format, args...)))
	}
}
