// Package repl runs statements for people and scripts: at a prompt with line editing, from a file or pipe, or from the
// arguments of a command. It prints what they return in the format asked for, and knows the dot-commands.
//
//	input (editor, reader, arguments) -> lines
//	    a line that starts with "." between statements -> dot-command
//	    any other                                     -> query.Splitter -> query.Run -> output.Writer
//
// A script's statement has run, and its rows are flushed, before more input is read, so a program may drive one
// through two pipes. A script ends at its first error; a person goes on.
package repl

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/repl/output"
)

// Exit statuses, as grep has them.
const (
	ExitOK        = 0   // done, or found
	ExitNo        = 1   // a definite no: the last statement looked for something and found nothing, or a CHECK found damage
	ExitError     = 2   // a mistake in the input, or the operation failed
	ExitInterrupt = 130 // Ctrl-C
)

// promptRows is how many rows of a table a person is shown where Config does not say: .last and .maxrows show more.
const promptRows = 200

// Config is what Run and Exec work with.
type Config struct {
	DB  *engine.DB
	In  io.Reader // of Run: statements, where it is not interactive; nil is os.Stdin
	Out io.Writer // rows and messages; nil is os.Stdout
	Err io.Writer // errors, and what is said to a person; nil is os.Stderr

	// Interactive says that a person is at the terminal: Run prompts and edits lines. In must be the terminal.
	Interactive bool
	// Output says how rows are written; output.Detect has good defaults.
	Output output.Options
	// FormatSet says that Output.Format was asked for: then .output goes by it, and not by the name of the file.
	FormatSet bool
	// Version is shown in the greeting.
	Version string
	// Outputs opens the files of .output. nil is one that keeps them from the database.
	Outputs *outfile.Guard
	// HistoryFile keeps the lines typed; "" is "simdb/history" in the XDG state folder.
	HistoryFile string

	// Progress, if not nil, starts a display of how far a statement has come, which is told to report. It must be cleared when
	// stop returns; stop is called before anything is written, and may be called again.
	Progress func() (report func(engine.Progress), stop func())
	// Page, if not nil, returns where the rows of a statement go at a prompt: to a pager, if they are more than the screen has
	// room for. Its Write returns io.ErrClosedPipe when the person has seen enough.
	Page func() io.WriteCloser

	editor lineEditor // tests put one here
}

// session is a running REPL: the state that dot-commands change.
type session struct {
	cfg     Config
	ctx     context.Context
	out     io.Writer // where rows go: cfg.Out, or the file of .output
	outFile *outfile.Writer
	options output.Options

	moded   bool // .mode, or who called, has said the format
	timer   bool // say how long statements took
	explain bool // show the plan before the rows
	stats   bool // show the work after the rows

	last  string // the last statement that only read, for .last
	depth int    // of .read within .read
	quit  bool   // .quit was seen
	no    bool   // the last statement looked for something and found nothing

	damage bool // a CHECK found damage

	lines []string // typed, for .history
}

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
	if cfg.Outputs == nil {
		cfg.Outputs = &outfile.Guard{}
		cfg.Outputs.Uses(cfg.DB.Path(), "the database")
	}
	return &session{cfg: cfg, ctx: ctx, out: cfg.Out, options: cfg.Output, moded: cfg.FormatSet, timer: cfg.Output.Terminal}
}

// Run reads statements and dot-commands until the input ends, and returns the exit status. A person's errors are shown
// and forgotten; a script's end it with status ExitError. A script is not asked a question, so finding nothing is no
// reason for ExitNo, but damage is.
//
// While a person's statement runs, Run catches Ctrl-C and cancels that statement; the caller must not cancel ctx on
// Ctrl-C then.
func Run(ctx context.Context, cfg Config) int {
	s := newSession(ctx, cfg)
	if s.cfg.Interactive {
		code := s.converse()
		s.no, s.damage = false, false // they were shown
		return s.ended(nil, code)
	}
	err := s.runScript(s.cfg.In, "")
	s.no = false
	return s.ended(err, ExitOK)
}

// Exec runs commands in order, each some statements or a dot-command, and returns the exit status: ExitNo if the last
// of them looked for documents and found none, or one of them found damage.
func Exec(ctx context.Context, cfg Config, commands ...string) int {
	s := newSession(ctx, cfg)
	var err error
	for _, c := range commands {
		if err = s.runText(c); err != nil || s.quit {
			break
		}
	}
	return s.ended(err, ExitOK)
}

// ended completes or, after an error that ended a script, drops the file of .output, shows the error, and returns the exit
// status, which is code where nothing was wrong.
func (s *session) ended(err error, code int) int {
	if err != nil && s.outFile != nil {
		s.outFile.Abort()
		s.outFile = nil
	}
	if err == nil {
		err = s.closeOutput()
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

// closeOutput completes the file of .output: now it gets its name.
func (s *session) closeOutput() error {
	if s.outFile == nil {
		return nil
	}
	err := s.outFile.Commit()
	s.outFile, s.out = nil, s.cfg.Out
	format := s.options.Format
	if s.options = s.cfg.Output; s.moded { // otherwise it was the format of that file alone
		s.options.Format = format
	}
	s.cfg.Outputs.Release(outputCommand)
	return err
}

// outputCommand is what the opener of outputs calls the files of .output.
const outputCommand = ".output"

// say tells a person something.
func (s *session) say(format string, args ...any) {
	fmt.Fprintln(s.cfg.Err, fmt.Sprintf(format, args...))
}
