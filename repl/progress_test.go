package repl

import (
	"bytes"
	"io"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/repl/output"
)

// The progress display ends before anything is written, and starts again with the next statement.
func TestProgressEndsBeforeRows(t *testing.T) {
	db := openTest(t)
	shown, starts, reports := false, 0, 0
	check := func(p []byte) (int, error) {
		if shown {
			t.Errorf("%q is written over the progress", p)
		}
		return len(p), nil
	}
	cfg := Config{DB: db, Out: writer(check), Err: writer(check), Output: output.Options{Format: output.JSONL, Terminal: true},
		Progress: func() (func(engine.Progress), func()) {
			shown = true
			starts++
			return func(engine.Progress) { reports++ }, func() { shown = false }
		}}
	Exec(t.Context(), cfg, `PUT {"id": "a", "fingerprint": "1"}; PUT {"id": "b", "fingerprint": "1"}`, "PAIRS NEAR 0", "PAIRS NEAR 70", "GET 'nobody'", ".check")
	if starts != 4 || reports < 3 { // the wrong statement stops it
		t.Errorf("%d starts, %d reports", starts, reports)
	}
	if shown {
		t.Error("progress is still shown")
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// Leaving a pager is no error, and the messages about the rows follow it.
func TestPageIsLeft(t *testing.T) {
	var talk bytes.Buffer
	db := openTest(t)
	for _, err := range []error{nil, io.ErrClosedPipe} {
		closed := 0
		cfg := Config{DB: db, Err: &talk, Out: io.Discard, Interactive: true, Output: output.Options{Terminal: true}, HistoryFile: t.TempDir() + "/h",
			Page: func() io.WriteCloser { return page{err, &closed} }, editor: &fakeEditor{lines: []string{".stats"}, screen: &talk}}
		if status := Run(t.Context(), cfg); status != ExitOK || closed != 1 {
			t.Errorf("%v: status %d, closed %d times", err, status, closed)
		}
	}
}

// page is a pager whose writes return err, which may be nil.
type page struct {
	err    error
	closed *int
}

func (p page) Write(b []byte) (int, error) { return len(b), p.err }
func (p page) Close() error                { *p.closed++; return nil }
