package repl

import (
	"cmp"
	"context"
	_ "embed" // dot-commands of other programs
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/admin"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/printable"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
)

// dotCommands returns the dot-commands, in the order of .help.
func dotCommands() []dotCommand {
	all := []dotCommand{
		{"help", "[WORD]", "show this list, or what a word of the language does", (*session).dotHelp},
		{"mode", "[FORMAT]", "how rows are written: " + strings.Join(output.Formats(), ", "), (*session).dotMode},
		{"timer", "on|off", "show how long statements took", toggle(func(s *session) *bool { return &s.timer })},
		{"explain", "on|off", "show the plan of each query before its rows", toggle(func(s *session) *bool { return &s.explain })},
		{"output", "[FILE]", "write rows to a file; without one, to standard output again", (*session).dotOutput},
		{"once", "FILE", "write the rows of the next statement to a file", (*session).dotOnce},
		{"width", "[N]", "width at which tables are cut, 0 for no limit", (*session).dotWidth},
		{"read", "FILE", "run the statements of a file", (*session).dotRead},
		{"import", "FILE... [FLAGS]", "load files; .import -h lists the flags", (*session).dotImport},
		{"maxrows", "[N]", "rows of a table to show, 0 for all", (*session).dotMaxRows},
		{"last", "", "run the last query again and show all rows, uncut", (*session).dotLast},
		{"history", "[N]", "the last lines typed", (*session).dotHistory},
		{"quit", "", "leave, as .exit and Ctrl-D do", func(s *session, _ string) error { s.quit = true; return nil }},
	}
	for i := range admin.Commands {
		c := &admin.Commands[i]
		d := dotCommand{c.Name, c.Arguments, c.Help, func(s *session, arg string) error { return s.administer(c, arg) }}
		if c.Name == "stats" {
			d.arguments, d.help = "[on|off]", d.help+"; on: count the work of each statement"
		}
		all = append(all, d)
	}
	return all
}

// dot runs a dot-command.
func (s *session) dot(line string) error {
	name, arg := cutDot(line)
	var names []string
	for _, c := range s.commands {
		if c.name != name {
			names = append(names, c.name)
			continue
		}
		if optional := strings.HasPrefix(c.arguments, "["); !optional && (arg != "") != (c.arguments != "") {
			return usage(c.name, c.arguments)
		}
		return c.run(s, arg)
	}
	hint := elsewhere[name]
	if w, ok := spelling.Closest(name, names); ok && hint == "" {
		hint = "did you mean ." + w + "?"
	}
	hint = cmp.Or(hint, spelling.Part(elsewhere, "@", name), "SHOW id, text LIMIT 5 shows fields of documents, .help lists the commands")
	return &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("unknown command %q", "."+name), Hint: hint}
}

//go:embed elsewhere.txt
var elsewhereTable string

// elsewhere says what does the work of dot-commands of other programs.
var elsewhere = spelling.Elsewhere(elsewhereTable)

// cutDot returns the name of a dot-command, and the text after it.
func cutDot(line string) (name, arg string) {
	name, arg, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "."), " ")
	if name = strings.ToLower(strings.TrimRight(name, ";")); name == "exit" {
		name = "quit"
	}
	return name, strings.TrimSpace(arg)
}

// usage is the error of a dot-command with wrong arguments.
func usage(name, arguments string) error {
	return &query.ParseError{Class: query.ClassParse, Msg: strings.TrimSpace("write ." + name + " " + arguments)}
}

// toggle returns the function of a dot-command that sets a switch to on or off.
func toggle(of func(*session) *bool) func(*session, string) error {
	return func(s *session, arg string) error {
		switch strings.ToLower(arg) {
		case "on":
			*of(s) = true
		case "off":
			*of(s) = false
		default:
			return &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("%q should be on or off", arg)}
		}
		return nil
	}
}

func (s *session) dotMode(arg string) error {
	if arg == "" {
		_, err := fmt.Fprintln(s.out, s.options.Format)
		return err
	}
	f, err := output.ParseFormat(arg)
	if err == nil && f == output.Parquet {
		return errors.New("a Parquet file holds the rows of one statement, not of a session")
	}
	if err != nil {
		hint := "it is one of " + strings.Join(output.Formats(), ", ")
		if w, ok := spelling.Closest(arg, output.Formats()); ok {
			hint = "did you mean " + w + "?"
		}
		return &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("unknown format %q", arg), Hint: hint}
	}
	s.options.Format, s.moded = f, true
	return nil
}

// dotOutput writes rows to a file, in the format of its extension unless .mode has set one. The
// complete file appears when .output names another file or the session ends. It replaces a file of
// the same name, as > does in a shell.
func (s *session) dotOutput(arg string) error {
	if err := s.closeOutput(); err != nil {
		return err
	}
	path := unquote(arg)
	if path == "" || path == "stdout" || outfile.IsStdout(path) {
		return nil
	}
	format := s.options.Format
	if !s.moded {
		format = output.TSV
		if f, ok := output.FormatOf(outfile.PlainName(path)); ok {
			format = f
		}
	}
	if info, err := os.Stat(path); err == nil && slices.ContainsFunc(s.read, func(r fs.FileInfo) bool { return os.SameFile(r, info) }) {
		return fmt.Errorf(".output %s would overwrite a file that was read", path)
	}
	f, err := s.cfg.Create(s.ctx, path, s.moded)
	if err != nil {
		return err
	}
	s.outFile, s.out = f, f
	s.options = output.Options{Format: format, Parquet: s.cfg.Output.Parquet}
	return nil
}

// dotOnce is .output for one statement.
func (s *session) dotOnce(arg string) error {
	err := s.dotOutput(arg)
	s.once = err == nil
	return err
}

func (s *session) dotWidth(arg string) error {
	return s.number(arg, "columns", &s.options.Width, &s.cfg.Output.Width)
}

// maxReadDepth limits the nesting of .read.
const maxReadDepth = 16

func (s *session) dotRead(arg string) error {
	if s.depth == maxReadDepth {
		return fmt.Errorf(".read nests at most %d files deep", maxReadDepth)
	}
	f, err := os.Open(unquote(arg))
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		s.read = append(s.read, info)
	}
	s.depth++
	defer func() { s.depth-- }()
	return s.runScript(f, f.Name())
}

// dotImport loads files.
func (s *session) dotImport(arg string) error {
	args, err := words(arg)
	if err != nil {
		return err
	}
	if s.cfg.Import == nil {
		return errors.New(".import needs the program simdb")
	}
	if s.reads && slices.Contains(args, "-") {
		return errors.New(".import -: standard input holds the statements: name a file")
	}
	return s.writeAtOnce(func(ctx context.Context, db *engine.DB) error { return s.cfg.Import(ctx, db, args) })
}

// words splits arguments at spaces, except within quotes.
func words(arg string) (all []string, err error) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range arg + " " {
		switch {
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("the quote %c is not closed", quote)}
	}
	return all, nil
}

// unquote removes the quotes around a file name.
func unquote(arg string) string {
	if n := len(arg); n >= 2 && (arg[0] == '\'' || arg[0] == '"') && arg[n-1] == arg[0] {
		return arg[1 : n-1]
	}
	return arg
}

func (s *session) dotMaxRows(arg string) error {
	return s.number(arg, "rows", &s.options.MaxRows, &s.cfg.Output.MaxRows)
}

// number shows a number, or sets it: now for the current output, later for outputs after .output.
func (s *session) number(arg, of string, now, later *int) error {
	if arg == "" {
		_, err := fmt.Fprintln(s.out, *now)
		return err
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("%q should be a number of %s", arg, of), Hint: "0 for all"}
	}
	*now, *later = n, n
	return nil
}

func (s *session) dotLast(string) error {
	if s.last == "" {
		return &query.ParseError{Class: query.ClassParse, Msg: "there is no last query"}
	}
	options := s.options
	s.options.MaxRows, s.options.Width = 0, 0
	defer func() { s.options = options }()
	return s.runStatement(s.last)
}

func (s *session) dotHistory(arg string) error {
	n := 20
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 0 {
			return &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("%q should be a number of lines", arg)}
		}
	}
	for i := max(0, len(s.lines)-n); i < len(s.lines); i++ {
		if _, err := fmt.Fprintf(s.out, "%5d  %s\n", i+1, printable.Text(s.lines[i])); err != nil {
			return err
		}
	}
	return nil
}
