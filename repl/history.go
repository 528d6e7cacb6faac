package repl

import (
	"bufio"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/engine"
)

const (
	historyLines    = 1000 // lines that tidy leaves
	historyLineSize = 4000 // bytes; longer lines are not stored
)

// history is the file of the lines typed, oldest first. Its mode is 0600, because statements may
// quote documents. Each line is appended when it is typed, so a kill loses nothing and concurrent
// sessions share the file. A file with more than twice historyLines is cut when it is opened. If
// the file cannot be used, nothing is stored and no error is reported.
type history struct {
	lines []string
	file  *os.File
}

// xdg returns the path of one of simdb's files in an XDG directory: the one that the variable
// names, or else inHome in the home directory. It returns "" if there is no home directory.
func xdg(variable, inHome, name string) string {
	dir := os.Getenv(variable)
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, inHome)
	}
	return filepath.Join(dir, "simdb", name)
}

// openHistory opens the history at path, "" for "simdb/history" in the XDG state directory.
func openHistory(path string) *history {
	h := &history{}
	path = cmp.Or(path, xdg("XDG_STATE_HOME", ".local/state", "history"))
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return h
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return h
	}
	if what, err := engine.Identifier()(path); err != nil || what != "" {
		return h
	}
	count := 0
	if f, err := os.Open(path); err == nil {
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			count++
			h.lines = append(h.lines, sc.Text())
		}
		f.Close()
	}
	if len(h.lines) > historyLines {
		h.lines = h.lines[len(h.lines)-historyLines:]
	}
	if count > 2*historyLines {
		h.tidy(path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return h
	}
	if err := f.Chmod(0o600); err != nil {
		f.Close()
		return h
	}
	h.file = f
	return h
}

// tidy rewrites the file with the last historyLines lines.
func (h *history) tidy(path string) {
	path, err := filepath.EvalSymlinks(path) // so that a link stays a link
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "history-*.tmp") // its mode is 0600
	if err != nil {
		return
	}
	_, err = f.WriteString(strings.Join(h.lines, "\n") + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// append adds a line to the file.
func (h *history) append(line string) {
	if h.file != nil && len(line) <= historyLineSize && !strings.ContainsAny(line, "\n\r") {
		if _, err := h.file.WriteString(line + "\n"); err != nil {
			h.close()
		}
	}
}

func (h *history) close() {
	if h.file != nil {
		h.file.Close()
		h.file = nil
	}
}
