package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/term"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl"
)

// shellCmd is `simdb DB ['STATEMENT'...]`.
type shellCmd struct {
	DB         string   `arg:"" file:"db" help:"The database."`
	Statements []string `arg:"" optional:"" name:"statement" help:"Statements and dot-commands, run in order. Without any they are read from standard input; on a terminal, at a prompt."`
	Create     bool     `help:"Create the database if there is none."`
	memoryFlag
	rowFlags
}

// Run runs the statements.
func (c *shellCmd) Run(a *app) (err error) {
	interactive := len(c.Statements) == 0 && term.IsTerminal(int(os.Stdin.Fd())) && isTerminal(a.out)
	var made *newDatabase
	switch {
	case interactive && c.Output != "":
		return errors.New("-o FILE needs statements; at the prompt, .output FILE writes rows to a file")
	case exists(c.DB):
	case !c.Create:
		return fmt.Errorf("%s: %w", c.DB, errNoDatabase)
	default:
		if made, err = prepare(c.DB); err != nil {
			return err
		}
	}
	db, err := c.open()
	if err != nil {
		return err
	}
	defer func() { err = made.close(db, err) }()
	return c.run(a, db, interactive)
}

// run runs the statements, or a prompt.
func (c *shellCmd) run(a *app, db *engine.DB, interactive bool) error {
	ctx := context.Background() // at a prompt Ctrl-C ends a statement, not the program
	if !interactive {
		ctx = a.context()
	}
	options := c.options()
	cfg := repl.Config{DB: db, Err: a.err, Interactive: interactive, Output: options, FormatSet: c.Format.set, Version: version(), Outputs: &a.outputs}
	cfg.Progress = a.statementProgress
	if interactive {
		cfg.Page = func() io.WriteCloser { return a.newPager(screenRows()) }
		return exit(repl.Run(ctx, cfg))
	}
	to, err := a.sink(c.Output, c.kind(), options)
	if err != nil {
		return err
	}
	if to.pager != nil && isTerminal(a.err) {
		cfg.Err = to.pager.talk(a.err) // what is said about rows stays beside them
	}
	cfg.Progress = func() (func(engine.Progress), func()) {
		if to.pager != nil && to.pager.started() {
			return func(engine.Progress) {}, func() {}
		}
		return a.statementProgress()
	}
	var reader reader
	cfg.Out, cfg.Err = reader.data(to), reader.talk(cfg.Err)
	code := 0
	if len(c.Statements) > 0 {
		code = repl.Exec(ctx, cfg, c.Statements...)
	} else {
		code = repl.Run(ctx, cfg)
	}
	if reader.gone.Load() {
		code = exitOK
	}
	if code == exitError || code == exitInterrupt {
		return to.close(exit(code))
	}
	if err := to.close(nil); err != nil {
		return err
	}
	return exit(code)
}

// statementProgress starts the display of how far a statement has come.
func (a *app) statementProgress() (report func(engine.Progress), stop func()) {
	m := a.meter()
	return m.Report, m.Stop
}

// reader is who reads standard output. When it is gone, as head is after ten lines, that ends the program and is nothing
// to talk about.
type reader struct{ gone atomic.Bool }

// data notes on writing to w whether the reader is gone.
func (r *reader) data(w io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		n, err := w.Write(p)
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
			r.gone.Store(true)
		}
		return n, err
	})
}

// talk writes to w for as long as there is a reader.
func (r *reader) talk(w io.Writer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		if r.gone.Load() {
			return len(p), nil
		}
		return w.Write(p)
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// exit is an exit status as an error.
func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return status(code)
}

// open opens the database: for reading alone where the statements do nothing else, so that it can be a file that the
// user may not change.
func (c *shellCmd) open() (*engine.DB, error) {
	o := &engine.Options{MustExist: !c.Create, Memory: int64(c.Memory)}
	if len(c.Statements) > 0 && !c.Create {
		o.ReadOnly = true
		for _, s := range c.Statements {
			o.ReadOnly = o.ReadOnly && !mayWrite(s)
		}
	}
	return open(c.DB, o)
}

// mayWrite says whether a text of statements may change the database. What .read will read is not known yet.
func mayWrite(text string) bool {
	if strings.HasPrefix(strings.TrimSpace(text), ".") {
		return strings.HasPrefix(strings.TrimSpace(text), ".read")
	}
	var sp query.Splitter
	sp.Write(text)
	for {
		p, ok := sp.Next()
		if !ok {
			p, ok = sp.Rest()
			return ok && query.Writes(p.Text)
		}
		if query.Writes(p.Text) {
			return true
		}
	}
}

const pathMarks = `./\` // what the names of databases have and those of commands have not

// verbs are the names of all commands.
var verbs = sync.OnceValue(func() []string {
	names := []string{"help"}
	t := reflect.TypeFor[cli]()
	for i := range t.NumField() {
		if f := t.Field(i); hasTag(f.Tag, "cmd") {
			names = append(names, cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)))
		}
	}
	return names
})

func hasTag(tag reflect.StructTag, key string) bool {
	_, ok := tag.Lookup(key)
	return ok
}
