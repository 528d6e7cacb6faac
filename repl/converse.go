package repl

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/simdb/simdb/query"
)

const (
	promptFirst = "simdb> "
	promptNext  = "   ...> "
)

// converse talks with a person until Ctrl-D or .quit.
func (s *session) converse() int {
	s.greet()
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
	var sp query.Splitter
	var typed []string // of the statement that is not complete
	for !s.quit {
		prompt := promptFirst
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
		s.answerLine(&sp, line)
	}
	return ExitOK
}

// complete says whether lines that were typed one after the other need no other behind them.
func complete(typed []string) bool {
	if _, word := bareWord(typed[0]); len(typed) == 1 && (word || isDot(typed[0])) {
		return true
	}
	var sp query.Splitter
	sp.Write(strings.Join(typed, "\n") + "\n")
	for _, ok := sp.Next(); ok; _, ok = sp.Next() {
	}
	return !sp.Pending()
}

// entries returns what the history keeps of lines that are complete: a statement over several lines as one. Lines that can't be
// joined are kept one by one.
func entries(typed []string) []string {
	if len(typed) > 1 {
		if line, ok := query.OneLine(strings.Join(typed, "\n")); ok {
			typed = []string{line}
		}
	}
	return slices.DeleteFunc(typed, func(line string) bool { return strings.TrimSpace(line) == "" })
}

// answerLine runs what a line completes. After an error the rest of the line is dropped: it was meant for a state that
// the failed statement would have made.
func (s *session) answerLine(sp *query.Splitter, line string) {
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

// bareWord answers the words that people type who do not know the dot-commands yet.
func bareWord(line string) (answer string, ok bool) {
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(line), ";")) {
	case "help", "?", "\\?", "\\h":
		return "Type .help for help.", true
	case "quit", "exit", "bye", "\\q", ":q":
		return "Type .quit or press Ctrl-D to leave.", true
	}
	return "", false
}

func (s *session) greet() {
	name := "simdb"
	if s.cfg.Version != "" {
		name += " " + s.cfg.Version
	}
	if st, err := s.cfg.DB.Stats(); err == nil {
		s.say("%s: %s, %s", name, st.Path, plural(st.Documents, "document"))
	} else {
		s.say("%s", name)
	}
	s.say("Statements end with ;  .help lists what there is, Tab completes, Ctrl-D leaves.")
}
