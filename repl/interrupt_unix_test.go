//go:build unix

package repl

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/repl/output"
)

// At the prompt, Ctrl-C cancels the running statement and nothing else.
func TestInterrupt(t *testing.T) {
	db := openTest(t)
	for id, letter := range map[string]string{"a": "a", "b": "b"} {
		if err := db.Put(t.Context(), engine.Doc{ID: id, Text: strings.Repeat(letter, 1<<20)}); err != nil {
			t.Fatal(err)
		}
	}
	var out, talk bytes.Buffer
	e := &fakeEditor{lines: []string{"ID = 'b' AND LEVENSHTEIN('a', 1%);", "COUNT;"}, screen: io.Discard}
	// The timer starts once the first statement has begun: earlier, the signal would end the
	// process.
	var interrupt *time.Timer
	progress := func() (func(engine.Progress), func()) {
		if interrupt == nil {
			interrupt = time.AfterFunc(300*time.Millisecond, func() {
				if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
					t.Error(err)
				}
			})
		}
		return func(engine.Progress) {}, func() {}
	}
	cfg := Config{DB: db, Out: &out, Err: &talk, Interactive: true, editor: e, Progress: progress, Output: output.Options{Format: output.TSV}, HistoryFile: filepath.Join(t.TempDir(), "h")}
	if status := Run(t.Context(), cfg); status != ExitOK || out.String() != "2\n" || !strings.Contains(talk.String(), "Cancelled\n") {
		t.Errorf("status %d, rows %q, talk %q", status, out.String(), talk.String())
	}
	if interrupt != nil {
		interrupt.Stop()
	}
}
