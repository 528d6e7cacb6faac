// Package repl runs statements and dot-commands and prints their results: at a prompt with line
// editing, from a file or pipe, or from the arguments of a command.
//
//	cfg := repl.Config{DB: db, Output: output.Detect(os.Stdout)}
//	status := repl.Exec(ctx, cfg, "NEAR('a', 3)", ".mode json", ".stats")
//	status = repl.Run(ctx, cfg) // statements from standard input
//
// A [Config] connects a session with a database, with its input and outputs, and with a program
// that adds a pager, a progress display or an import. [Writes] says whether commands need a
// database that is open for writing.
//
// A line that starts with "." between statements is a dot-command; statements go to query.Run, and
// their rows to an output.Writer.
//
// A script runs each statement and flushes its rows before it reads more input, so a program may
// drive a session through two pipes. A script ends at its first error; at a prompt, the session
// continues. A transaction that the input leaves open is rolled back, which is an error.
package repl

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/quantity"
)

// Run reads statements and dot-commands until the input ends, and returns the exit status. At a
// prompt, it shows errors and continues; a script ends at its first error with status ExitError. A
// script ends with ExitNo if .check found damage, but not because a search found nothing.
//
// While a statement runs at a prompt, Run catches Ctrl-C and cancels that statement; the caller
// must not cancel ctx on Ctrl-C.
func Run(ctx context.Context, cfg Config) int {
	s := newSession(ctx, cfg)
	s.reads = s.cfg.In == os.Stdin
	s.turns.wait()
	if s.cfg.Interactive {
		code := s.converse()
		s.no, s.damage = false, false // the user has seen them
		return s.ended(nil, code)
	}
	err := s.runScript(pipeline.Reader(ctx, s.cfg.In), "")
	s.no = false
	return s.ended(err, ExitOK)
}

// Exec runs commands in order and returns the exit status: ExitNo if the last statement searched
// and found nothing, or .check found damage. Each command is a dot-command, or one or more
// statements. Exec stops at the first error.
func Exec(ctx context.Context, cfg Config, commands ...string) int {
	s := newSession(ctx, cfg)
	var err error
	for _, c := range commands {
		if err = s.runScript(strings.NewReader(c), ""); err != nil || s.quit {
			break
		}
	}
	return s.ended(err, ExitOK)
}

// ended ends the session. It rolls back an open transaction, which is an error; it completes the
// file of .output, or drops it after an error; and it shows the error. It returns the exit status,
// which is at least code.
func (s *session) ended(err error, code int) int {
	if n, open := s.statements.Pending(); open {
		s.statements.Close()
		if err == nil {
			err = fmt.Errorf("the input ends without COMMIT: rolled back %s", quantity.Plain(n, "write", "writes"))
		} else {
			defer s.say("rolled back %s", quantity.Plain(n, "write", "writes"))
		}
	}
	if err != nil && s.outFile != nil {
		s.outFile.Abort()
		s.outFile = nil
	}
	if err == nil {
		err = s.closeOutput()
	}
	if e := s.turns.close(); err == nil {
		err = e
	}
	switch {
	case err != nil:
		s.showError(err)
		if s.ctx.Err() != nil {
			return ExitInterrupt
		}
		return ExitError
	case s.no || s.damage:
		return max(code, ExitNo)
	}
	return code
}

// promptRows is the number of rows of a table that a prompt shows unless Config says otherwise.
// .last and .maxrows show more.
const promptRows = 200

// newSession returns a session with the defaults of cfg filled in.
func newSession(ctx context.Context, cfg Config) *session {
	if cfg.In == nil {
		cfg.In = os.Stdin
	}
	if cfg.Out == nil {
		cfg.Out = os.Stdout
	}
	if cfg.Err == nil {
		cfg.Err = os.Stderr
	}
	if cfg.Interactive && cfg.Output.MaxRows == 0 {
		cfg.Output.MaxRows = promptRows
	}
	if cfg.Create == nil && cfg.DB != nil {
		guard := &outfile.Guard{Identify: engine.Identifier()}
		guard.Uses(cfg.DB.Metrics().Path, "the database")
		cfg.Create = func(ctx context.Context, path string, anyEnding bool) (File, error) {
			return guard.CreateRows(ctx, ".output", path, anyEnding)
		}
	}
	return &session{
		cfg: cfg, ctx: ctx, out: cfg.Out, options: cfg.Output, commands: dotCommands(),
		moded: cfg.FormatSet, timer: cfg.Output.Terminal, turns: turns{reader: cfg.DB, open: cfg.Writer},
	}
}
