package repl

import (
	"errors"
	"io"
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
	for !s.quit {
		prompt := promptFirst
		if sp.Pending() {
			prompt = promptNext
		}
		line, err := editor.Prompt(prompt)
		switch {
		case errors.Is(err, errAborted):
			sp.Reset()
			continue
		case errors.Is(err, io.EOF):
			s.say("")
			return ExitOK
		case err != nil:
			s.showError(err)
			return ExitError
		}
		if strings.TrimSpace(line) != "" {
			editor.AppendHistory(line)
			history.append(line)
			s.lines = append(s.lines, line)
		}
		s.answerLine(&sp, line)
	}
	return ExitOK
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
