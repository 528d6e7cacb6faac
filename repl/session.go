package repl

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
)

// Exit statuses, as in grep.
const (
	ExitOK        = 0   // done, or found
	ExitNo        = 1   // the last statement searched and found nothing, or .check found damage
	ExitError     = 2   // a mistake in the input, or the operation failed
	ExitInterrupt = 130 // Ctrl-C
)

// Config configures Run and Exec. Only DB is required, and only .help works without it.
type Config struct {
	DB *engine.DB
	// Writer, if not nil, opens the database for statements that write. DB is then read-only, and
	// is refreshed before each statement, so that other processes can write between statements.
	Writer func() (*engine.DB, error)
	Args   []any     // values of the parameters of statements, as for query.Run: Named
	In     io.Reader // statements for Run, unless it is interactive; nil is os.Stdin
	Out    io.Writer // rows and messages; nil is os.Stdout
	Err    io.Writer // errors, the greeting and footers; nil is os.Stderr

	Quiet bool // print no warnings

	// Interactive makes Run prompt and edit lines. In must be the terminal.
	Interactive bool
	// Output says how to write rows; output.Detect has good defaults.
	Output output.Options
	// FormatSet says that the user chose Output.Format: then .output uses it, whatever the
	// extension of the file.
	FormatSet bool
	// Version is shown in the greeting.
	Version string
	// Create, if not nil, opens the file of .output or .once. anyEnding says that the user has
	// chosen the format, so that the extension of path need not name it. nil replaces any file
	// except the files of databases.
	Create func(ctx context.Context, path string, anyEnding bool) (File, error)
	// HistoryFile stores the lines typed; "" is "simdb/history" in the XDG state directory.
	HistoryFile string

	// ConfigFile names a file of dot-commands to run before the first prompt; "" is "simdb/simdbrc"
	// in the XDG configuration directory. It need not exist.
	ConfigFile string

	// OnDamage, if not "", is a hint that is printed below an error about damage.
	OnDamage string

	// Import, if not nil, loads documents into db. args are the arguments of .import.
	Import func(ctx context.Context, db *engine.DB, args []string) error

	// Progress, if not nil, is called when a statement starts. It returns report, which receives
	// the progress of the statement, and stop, which must remove the display before it returns.
	// stop is called before anything is written, and may be called again.
	Progress func() (report func(engine.Progress), stop func())
	// Page, if not nil, returns the writer for the rows of a statement at a prompt, such as a
	// pager. Its Write returns io.ErrClosedPipe once the user has left the pager.
	Page func() io.WriteCloser

	editor lineEditor // set by tests
}

// A File is an output that replaces the file of its name when it is complete.
type File interface {
	io.Writer
	Commit() error // completes the file
	Abort()        // drops what was written
}

// dotCommand is a command to the REPL itself, not to the database.
type dotCommand struct {
	name, arguments, help string
	run                   func(s *session, arg string) error
}

// session is a running REPL. Dot-commands change its fields.
type session struct {
	cfg   Config
	ctx   context.Context
	turns turns
	// statements runs the statements of the session, which may be in a transaction.
	statements query.Session
	out        io.Writer // destination of rows: cfg.Out, or the file of .output
	outFile    File
	read       []fs.FileInfo // the files of .read
	options    output.Options

	commands []dotCommand

	reads   bool // statements come from standard input
	file    bool // a Parquet file was written, which can hold only one result
	once    bool // .output ends with the next statement
	moded   bool // .mode or Config.FormatSet has set the format
	timer   bool // show how long statements took
	explain bool // show the plan before the rows
	stats   bool // show the work after the rows

	last   string   // the last statement that did not write, for .last
	depth  int      // nesting depth of .read
	quit   bool     // .quit has run
	no     bool     // the last statement searched and found nothing
	damage bool     // .check found damage
	lines  []string // lines typed, for .history
}

// closeOutput completes the file of .output, and gives it its name.
func (s *session) closeOutput() error {
	if s.outFile == nil {
		return nil
	}
	err := s.outFile.Commit()
	s.outFile, s.out = nil, s.cfg.Out
	format := s.options.Format
	if s.options = s.cfg.Output; s.moded { // otherwise the format came from the file
		s.options.Format = format
	}
	return err
}

// tell writes a sentence to Err; on a terminal it wraps it between words.
func (s *session) tell(text string) {
	if width := s.cfg.Output.Width; s.cfg.Output.Terminal && width > 0 && display.Width(text) > width {
		text = strings.Join(display.Wrap(text, width), "\n")
	}
	if class, rest, ok := strings.Cut(text, ": "); ok && s.cfg.Output.Color && strings.HasSuffix(class, "rror") {
		text = "\x1b[1;31m" + class + ":\x1b[0m " + rest
	}
	s.say("%s", text)
}

// say writes a line to Err.
func (s *session) say(format string, args ...any) {
	fmt.Fprintln(s.cfg.Err, fmt.Sprintf(format, args...))
}
