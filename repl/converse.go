package repl

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/printable"
	"github.com/simdb/simdb/internal/quantity"
)

const (
	promptFirst = "simdb> "
	promptNext  = "   ...> "
	promptBegun = "simdb*> " // within a transaction
)

// converse prompts for lines and runs them until Ctrl-D or .quit.
func (s *session) converse() int {
	s.greet()
	s.configure()
	editor := s.cfg.editor
	history := openHistory(s.cfg.HistoryFile)
	defer history.close()
	if editor == nil {
		editor = newLinerEditor(s.complete)
	}
	defer editor.Close()
	for _, line := range history.lines {
		editor.AppendHistory(line)
	}
	s.lines = history.lines
	sp := front.Language.Splitter()
	var typed []string // lines of the incomplete statement
	for !s.quit {
		prompt := promptFirst
		if _, begun := s.statements.Pending(); begun {
			prompt = promptBegun
		}
		if sp.Pending() {
			prompt = promptNext
		}
		line, err := editor.Prompt(prompt)
		switch {
		case errors.Is(err, errAborted):
			sp.Reset()
			typed = nil
			continue
		case errors.Is(err, io.EOF):
			s.say("")
			return ExitOK
		case err != nil:
			s.showError(err)
			return ExitError
		}
		if typed = append(typed, line); complete(typed) {
			for _, entry := range entries(typed) {
				editor.AppendHistory(entry)
				history.append(entry)
				s.lines = append(s.lines, entry)
			}
			typed = nil
		}
		s.answerLine(sp, line)
	}
	return ExitOK
}

// complete reports whether the lines typed so far are complete: a dot-command, a bare word, or
// whole statements.
func complete(typed []string) bool {
	if _, word := bareWord(typed[0]); len(typed) == 1 && (word || isDot(typed[0])) {
		return true
	}
	sp := front.Language.Splitter()
	sp.Write(strings.Join(typed, "\n") + "\n")
	for _, ok := sp.Next(); ok; _, ok = sp.Next() {
	}
	return !sp.Pending()
}

// entries returns the history entries for complete lines. A statement that spans lines is one
// entry, unless its lines cannot be joined.
func entries(typed []string) []string {
	if len(typed) > 1 {
		if line, ok := front.Language.OneLine(strings.Join(typed, "\n")); ok {
			typed = []string{line}
		}
	}
	return slices.DeleteFunc(typed, func(line string) bool { return strings.TrimSpace(line) == "" })
}

// answerLine runs the statements that a line completes. After an error it drops the rest of the
// line, which may depend on the failed statement.
func (s *session) answerLine(sp front.Splitter, line string) {
	if !sp.Pending() {
		if isDot(line) {
			if err := s.dot(line); err != nil {
				s.showError(err)
			}
			return
		}
		if word, ok := bareWord(line); ok {
			s.say("%s", word)
			return
		}
	}
	sp.Write(line + "\n")
	for p, ok := sp.Next(); ok; p, ok = sp.Next() {
		if err := s.runStatement(p.Text); err != nil {
			s.showError(err)
			sp.Reset()
			return
		}
	}
}

// bareWord answers words such as help and quit, which new users type instead of dot-commands.
func bareWord(line string) (answer string, ok bool) {
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(line), ";")) {
	case "help", "?", "\\?", "\\h":
		return "Type .help for help.", true
	case "quit", "exit", "bye", "\\q", ":q":
		return "Type .quit or press Ctrl-D to leave.", true
	}
	return "", false
}

// configure runs the dot-commands of the configuration file. A line that fails is only a warning,
// so that the prompt still starts. With Config.FormatSet, .mode has no effect there.
func (s *session) configure() {
	path := cmp.Or(s.cfg.ConfigFile, xdg("XDG_CONFIG_HOME", ".config", "simdbrc"))
	text, err := os.ReadFile(path)
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("%s: it is not UTF-8", path)
	}
	if err != nil {
		if path != "" && !errors.Is(err, fs.ErrNotExist) {
			s.tell("warning: " + printable.Text(err.Error()))
		}
		return
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") || strings.HasPrefix(line, "#") {
			continue
		}
		err := errors.New("only dot-commands can be used here; comments start with --")
		if isDot(line) {
			err = s.dot(line)
		}
		if err != nil {
			s.tell(printable.Text(fmt.Sprintf("warning: %s:%d: %v", path, i+1, err)))
		}
	}
	if s.cfg.FormatSet && s.outFile == nil {
		s.options.Format = s.cfg.Output.Format
	}
}

func (s *session) greet() {
	name := "simdb"
	if s.cfg.Version != "" {
		name += " " + s.cfg.Version
	}
	if st, err := s.cfg.DB.Stats(); err == nil {
		s.say("%s: %s, %s", name, printable.Text(st.Path), quantity.Count(st.Documents, "document"))
	} else {
		s.say("%s", name)
	}
	s.say("Statements end with ;  .help lists the commands, Tab completes, Ctrl-D leaves.")
}
