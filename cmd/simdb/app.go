package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/repl/output"
)

// app is what the commands share.
type app struct {
	global globalFlags
	out    io.Writer // standard output: data
	err    io.Writer // standard error: talk

	outputs outfile.Guard // opens them

	watch    sync.Once
	ctx      context.Context
	cancel   context.CancelCauseFunc
	mu       sync.Mutex
	shown    *progress.Meter // the last one that was started
	cleaners []func()
}

var errInterrupted = errors.New("interrupted")

func newApp() *app {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe is an error of the write
	a := &app{out: os.Stdout, err: os.Stderr}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	return a
}

// context returns the context of the work, which ends on the first Ctrl-C, or when the terminal goes. A second one ends the process.
func (a *app) context() context.Context {
	a.watch.Do(func() {
		c := make(chan os.Signal, 2)
		for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
			if !signal.Ignored(sig) { // as nohup and a shell's & want it
				signal.Notify(c, sig)
			}
		}
		go func() {
			<-c
			a.cancel(errInterrupted)
			if isTerminal(a.err) {
				fmt.Fprintln(a.err, "\nsimdb: stopping; Ctrl-C again aborts")
			}
			<-c
			a.cleanUp()
			os.Exit(exitInterrupt)
		}()
	})
	return a.ctx
}

// interrupted says whether the user wanted an end.
func (a *app) interrupted() bool { return a.ctx.Err() != nil }

// onExit has f called before the process ends, also when it is told to.
func (a *app) onExit(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cleaners = append(a.cleaners, f)
}

// cleanUp removes what must not outlive the process.
func (a *app) cleanUp() {
	a.outputs.Abort()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.cleaners {
		f()
	}
	a.cleaners = nil
}

// tempDir makes a folder that is gone when the process ends.
func (a *app) tempDir() (string, error) {
	a.context() // so that Ctrl-C removes it, too
	dir, err := os.MkdirTemp("", "simdb-*")
	if err == nil {
		a.onExit(func() { os.RemoveAll(dir) })
	}
	return dir, err
}

// say tells the user something on standard error, unless --quiet.
func (a *app) say(format string, args ...any) {
	if !a.global.Quiet {
		fmt.Fprintln(a.err, oneLine(fmt.Sprintf(format, args...)))
	}
}

// oneLine returns a message with the control characters of the names in it shown as escapes, so that it is one line and
// drives no terminal.
func oneLine(s string) string { return output.Printable(s) }

// meter starts the progress display.
func (a *app) meter() *progress.Meter {
	mode := progress.Mode(a.global.Progress)
	if a.global.Quiet && mode == progress.Auto {
		mode = progress.None
	}
	m := progress.New(mode, a.err, isTerminal(a.err))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown = m
	return m
}

// endProgress clears the progress display, as rows are about to be shown.
func (a *app) endProgress() {
	a.mu.Lock()
	m := a.shown
	a.mu.Unlock()
	if m != nil {
		m.Stop()
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// openForReading opens a database that must exist.
func (a *app) openForReading(path string) (*engine.DB, error) {
	return open(path, &engine.Options{ReadOnly: true, MustExist: true})
}

// openForWriting opens a database that must exist and be no single table.
func (a *app) openForWriting(path string) (*engine.DB, error) {
	db, err := open(path, &engine.Options{MustExist: true})
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, engine.ErrReadOnly), db.Close())
	}
	return db, nil
}

// open opens a database.
func open(path string, o *engine.Options) (*engine.DB, error) {
	db, err := engine.Open(path, o)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, fmt.Errorf("%s: %w", path, errNoDatabase)
	}
	return db, err
}

var errNoDatabase = errors.New("there is no such database")

// exists says whether there is something at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// closing closes db and adds its error to *err.
func closing(db *engine.DB, err *error) { *err = errors.Join(*err, db.Close()) }

// seconds writes how long something took since start.
func seconds(start time.Time) string {
	d := time.Since(start)
	if d < 10*time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// count writes n things: "1 table", "2 tables".
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return progress.Number(n) + " " + thing + "s"
}

// hintFor says what to do about an error, "" where that is plain.
func hintFor(err error) string {
	switch {
	case errors.Is(err, engine.ErrCorruption):
		return "simdb check DB lists all damage"
	case errors.Is(err, engine.ErrLocked):
		return "a database can be open in one process for writing, or in several for reading; wait until it is free"
	case errors.Is(err, errNoDatabase):
		return "simdb load DB FILE... makes a database, simdb --create DB an empty one"
	case errors.Is(err, engine.ErrParams):
		return "the parameters of a database are fixed when it is created; simdb stats DB shows them"
	case errors.Is(err, engine.ErrNotDatabase):
		return "a database is a folder that simdb load has made, or one .sst file"
	}
	return ""
}
