package repl

import (
	"errors"
	"io"

	"github.com/peterh/liner"
)

// lineEditor edits lines at the prompt. It is liner, or a fake in tests.
type lineEditor interface {
	// Prompt shows a prompt and returns the line typed: io.EOF for Ctrl-D, errAborted for Ctrl-C.
	Prompt(prompt string) (string, error)
	// AppendHistory adds a line to the lines that the arrow keys recall.
	AppendHistory(line string)
	// Close restores the terminal.
	Close() error
}

// errAborted is Prompt's error for Ctrl-C.
var errAborted = errors.New("interrupted")

// linerEditor is a lineEditor on the terminal. Standard input must be a terminal: otherwise liner
// writes its prompts to the output.
type linerEditor struct {
	*liner.State
}

func newLinerEditor(complete liner.WordCompleter) *linerEditor {
	giveSize()
	state := liner.NewLiner()
	state.SetMultiLineMode(true) // statements are longer than a terminal line
	state.SetCtrlCAborts(true)
	state.SetTabCompletionStyle(liner.TabPrints)
	state.SetWordCompleter(complete)
	return &linerEditor{state}
}

// Prompt reads a line.
func (e *linerEditor) Prompt(prompt string) (string, error) {
	line, err := e.State.Prompt(prompt)
	switch {
	case errors.Is(err, liner.ErrPromptAborted):
		return "", errAborted
	case err != nil && !errors.Is(err, io.EOF):
		return "", err
	}
	return line, err
}
