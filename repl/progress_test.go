package repl

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"testing"
	"time"

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

// TestPagingIsNoTime has the user spend 50 ms in the pager, which the time of a statement leaves out.
func TestPagingIsNoTime(t *testing.T) {
	const paging = 50 * time.Millisecond
	db := openTest(t)
	for _, line := range []string{"COUNT;", ".allowed"} {
		var talk bytes.Buffer
		cfg := Config{DB: db, Err: &talk, Out: io.Discard, Interactive: true, Output: output.Options{Terminal: true}, HistoryFile: t.TempDir() + "/h",
			Page: func() io.WriteCloser { return slowPage(paging) }, editor: &fakeEditor{lines: []string{".timer on", line}, screen: &talk}}
		began := time.Now()
		if status := Run(t.Context(), cfg); status != ExitOK {
			t.Errorf("%s: status %d", line, status)
		}
		most := float64(time.Since(began)-paging) / float64(time.Millisecond)
		said := regexp.MustCompile(`([0-9.e+-]+) ms\)`).FindStringSubmatch(talk.String())
		if said == nil {
			t.Errorf("%s: no time in %q", line, talk.String())
		} else if ms, err := strconv.ParseFloat(said[1], 64); err != nil || ms > most*1.05 { // it has two digits or more
			t.Errorf("%s: %s, of %.1f ms without paging", line, said[0], most)
		}
	}
}

// slowPage is a pager that the user leaves after some time.
type slowPage time.Duration

func (p slowPage) Write(b []byte) (int, error) { return len(b), nil }

func (p slowPage) Close() error {
	time.Sleep(time.Duration(p))
	return nil
}

// page is a pager whose writes return err, which may be nil.
type page struct {
	err    error
	closed *int
}

func (p page) Write(b []byte) (int, error) { return len(b), p.err }
func (p page) Close() error                { *p.closed++; return nil }
