package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl"
	"github.com/simdb/simdb/repl/output"
)

// shellCmd is `simdb DB ['STATEMENT'...]`.
type shellCmd struct {
	DB         string   `arg:"" file:"db" help:"The database."`
	Statements []string `arg:"" optional:"" name:"statement" help:"Statements and dot-commands, run in order. Without any they are read from standard input; on a terminal, at a prompt."`
	Create     bool     `help:"Create the database if there is none."`
	Readonly   bool     `name:"readonly" help:"Refuse statements that write."`

	Param map[string]string `placeholder:"NAME=VALUE" mapsep:"none" help:"The value of $NAME in statements: write numbers, shares, durations, fingerprints and quoted strings as in statements; anything else is a string, such as an id. Can be repeated."`
	app.MemoryFlag
	app.CacheFlag
	app.RowFlags
}

// Run runs the statements, or a prompt.
func (c *shellCmd) Run(a *app.App) (err error) {
	defer app.KeepTo(int64(c.Memory) + c.Bytes())()
	options := c.Options()
	interactive := len(c.Statements) == 0 && term.IsTerminal(int(os.Stdin.Fd())) && app.IsTerminal(a.Out)
	switch {
	case interactive && c.Output != "":
		return errors.New("-o FILE needs statements; at the prompt, .output FILE writes rows to a file")
	case options.Format == output.Parquet && len(c.Statements) == 0:
		return errors.New("a Parquet file holds the rows of one statement: write it after the name of the database")
	case inputs.Exists(c.DB):
	case !c.Create:
		return fmt.Errorf("%s: %w", c.DB, inputs.ErrNoDatabase)
	default:
		if err = app.Prepare(c.DB); err != nil {
			return err
		}
	}
	db, writer, err := c.open(a)
	if err != nil {
		return err
	}
	defer func() { err = app.End(db, err) }()
	cfg := repl.Config{DB: db, Writer: writer, Quiet: a.Global.Quiet, Interactive: interactive, Output: options, FormatSet: c.Format.Set, Version: version.String(), Import: c.importer(a), OnDamage: app.OnDamage}
	cfg.Create = func(ctx context.Context, path string, anyEnding bool) (repl.File, error) {
		return a.Outputs.CreateRows(ctx, ".output", path, anyEnding)
	}
	for name, value := range c.Param {
		cfg.Args = append(cfg.Args, query.Named{Name: name, Value: front.Literal(value)})
	}
	ended, err := c.connect(a, &cfg)
	if err != nil {
		return err
	}
	ctx := context.Background() // at a prompt, Ctrl-C ends a statement, not the program
	if !interactive {
		ctx = a.Context()
	}
	if len(c.Statements) > 0 {
		code := repl.Exec(ctx, cfg, c.Statements...)
		if code == app.ExitError && len(c.Statements) > 1 && !slices.ContainsFunc(c.Statements, func(s string) bool { return strings.ContainsAny(s, " .") }) {
			fmt.Fprintf(a.Err, "  a statement is one argument: %s\n", commandLine([]string{c.DB, strings.Join(c.Statements, " ")}))
		}
		return ended(code)
	}
	return ended(repl.Run(ctx, cfg))
}

// connect sets the destinations of rows, messages and progress. ended completes the output, and
// converts an exit status to an error.
func (c *shellCmd) connect(a *app.App, cfg *repl.Config) (ended func(code int) error, err error) {
	cfg.Err, cfg.Progress = a.Err, a.StatementProgress
	if cfg.Interactive {
		cfg.Page = func() io.WriteCloser { return a.NewPager() }
		return exit, nil
	}
	to, err := a.Sink(c.Output, c.Kind(), cfg.Output)
	if err != nil {
		return nil, err
	}
	if to.Pager != nil && app.IsTerminal(a.Err) {
		cfg.Err = to.Pager.Talk(a.Err) // messages about rows appear next to them
	}
	cfg.Progress = func() (func(engine.Progress), func()) {
		if to.Pager != nil && to.Pager.Started() {
			return func(engine.Progress) {}, func() {}
		}
		return a.StatementProgress()
	}
	var reader reader
	cfg.Out, cfg.Err = reader.data(to), reader.talk(cfg.Err)
	return func(code int) error {
		if reader.gone.Load() {
			code = app.ExitOK
		}
		if code == app.ExitError || code == app.ExitInterrupt {
			return to.Close(exit(code))
		}
		return cmp.Or(to.Close(nil), exit(code))
	}, nil
}

// reader represents the process that reads standard output. When it exits, as head does after ten
// lines, the program ends without an error message.
type reader struct{ gone atomic.Bool }

// data returns a writer to w that notes when the reader has exited.
func (r *reader) data(w io.Writer) io.Writer {
	return app.WriterFunc(func(p []byte) (int, error) {
		n, err := w.Write(p)
		if app.ReaderGone(err) {
			r.gone.Store(true)
		}
		return n, err
	})
}

// talk returns a writer to w that drops messages once the reader has exited.
func (r *reader) talk(w io.Writer) io.Writer {
	return app.WriterFunc(func(p []byte) (int, error) {
		if r.gone.Load() {
			return len(p), nil
		}
		return w.Write(p)
	})
}

// exit returns an exit status as an error.
func exit(code int) error {
	if code == app.ExitOK {
		return nil
	}
	return app.Status(code)
}

// open opens the database for writing if a statement writes, and otherwise read-only, so that the
// file need not be writable. The statements of a prompt, a pipe or a .read are not known in
// advance: then the database is opened read-only, and writer opens it for statements that write.
func (c *shellCmd) open(a *app.App) (db *engine.DB, writer func() (*engine.DB, error), err error) {
	how := inputs.Access{Create: c.Create, Memory: int64(c.Memory), Cache: int64(c.Cache), Write: true, OrTable: true}
	known, writes := len(c.Statements) > 0, false
	for _, s := range c.Statements {
		w, k := repl.Writes(s)
		known, writes = known && k, writes || w
	}
	switch {
	case !inputs.Exists(c.DB), known && writes && !c.Readonly:
	case known, c.Readonly:
		how.Write = false
	default:
		writer = func() (*engine.DB, error) {
			return a.Env().OpenDB(c.DB, inputs.Access{Memory: how.Memory, Cache: how.Cache, Write: true, OrTable: true})
		}
		how.Write = false
	}
	db, err = a.Env().OpenDB(c.DB, how)
	return db, writer, err
}

// importer returns the function of .import: it loads files into an open database, as simdb load
// does.
func (c *shellCmd) importer(a *app.App) func(context.Context, *engine.DB, []string) error {
	return func(ctx context.Context, db *engine.DB, args []string) error {
		part, code := a.Part(ctx), app.ExitOK
		defer part.CleanUp()
		args = append([]string{"load", c.DB}, args...)
		parser, err := newParser(part, args, &code)
		if err != nil {
			return err
		}
		k, err := parse(parser, joinNegative(args))
		if _, done := errors.AsType[exited](err); done {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w; .import accepts the flags of simdb load", explained(err, args))
		}
		if err := part.Declare(k); err != nil {
			return err
		}
		part.Global.Quiet = part.Global.Quiet || a.Global.Quiet
		k.Selected().Target.Addr().Interface().(*loading.Load).Into = db
		err = k.Run(part)
		if errors.Is(err, app.ErrInterrupted) {
			err = context.Canceled
		} else if _, said := errors.AsType[inputs.Verdict](err); said {
			err = errors.New("some of the input was rejected")
		}
		return err
	}
}
