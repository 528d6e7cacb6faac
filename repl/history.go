package repl

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/simdb/simdb/engine"
)

const (
	historyLines    = 1000 // kept when the file is tidied
	historyLineSize = 4000 // bytes; longer lines are not kept
)

// history is the file of the lines typed, oldest first. It is private to the user (0600), as statements hold what
// documents hold. Every line is appended when it is typed, so that nothing is lost and sessions side by side mix; a
// file that has grown to twice historyLines is cut when it is opened. Without a file nothing is kept, silently: that
// is no reason not to work.
type history struct {
	lines []string
	file  *os.File
}

// historyPath is "simdb/history" in the XDG state folder, "" if there is no home.
func historyPath() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "simdb", "history")
}

// openHistory reads the history at path, or at historyPath.
func openHistory(path string) *history {
	h := &history{}
	if path == "" {
		path = historyPath()
	}
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return h
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return h
	}
	if what, err := engine.Identify(path); err != nil || what != "" {
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

// tidy replaces the file by the lines that are kept.
func (h *history) tidy(path string) {
	path, err := filepath.EvalSymlinks(path) // a link stays one
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "history-*.tmp") // of mode 0600
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
