package wal

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// unsyncedLog returns a memory file system with a log whose bytes after the header were never
// synced: the process that wrote it has died but the machine has not.
func unsyncedLog(t *testing.T, payloads []string) *vfstest.Mem {
	t.Helper()
	fs := vfstest.NewMem("")
	w := mustCreate(t, fs, "log")
	for _, payload := range payloads {
		mustAppend(t, w, payload)
	}
	must.Do(t, w.Flush(w.Size()))
	return fs
}

func TestCutIsDurable(t *testing.T) {
	fs := unsyncedLog(t, words)
	_, res, err := collect(fs, "log", Options{Last: true})
	must.Do(t, err)
	size, err := Cut(fs, "log", res)
	must.Do(t, err)
	if info, err := fs.Stat("log"); err != nil || info.Size != size {
		t.Errorf("Cut says %d bytes: %+v, %v", size, info, err)
	}
	got, res, err := collect(fs.CrashClone(0, 0), "log", Options{})
	if err != nil || !res.Clean || !slices.Equal(got, words) {
		t.Errorf("%q, %+v, %v", got, res, err)
	}
	if again, err := Cut(fs, "log", res); err != nil || again != size {
		t.Errorf("Cut of a whole log: %d bytes instead of %d, %v", again, size, err)
	}
}

func TestCutRemovesDurably(t *testing.T) {
	fs := vfstest.NewMem("")
	must.Get(fs.Create("log"))(t)
	must.Do(t, fs.SyncDir("."))
	_, res, err := collect(fs, "log", Options{Last: true})
	if err != nil || res.End != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if size, err := Cut(fs, "log", res); err != nil || size != 0 {
		t.Fatal(size, err)
	}
	if _, err := fs.CrashClone(0, 0).Stat("log"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("the empty log is there again: %v", err)
	}
}

// TestCrashDuringCut cuts the power at each operation of Cut on a log that was never synced: the
// result must be a readable log.
func TestCrashDuringCut(t *testing.T) {
	payloads := scriptPayloads()[:12]
	for op := 1; op <= 5; op++ {
		for seed := range uint64(60) {
			fs := unsyncedLog(t, payloads)
			_, res, err := collect(fs, "log", Options{Last: true})
			must.Do(t, err)
			fs.CrashAt(fs.Ops() + op)
			acked := 0
			if _, err := Cut(fs, "log", res); err == nil {
				acked = len(payloads)
			}
			checkPrefix(t, fmt.Sprintf("crash at %d, seed %d", op, seed), fs.CrashClone(.5, seed), payloads, acked)
		}
	}
}

// shortWriter writes less than requested and reports no error.
type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestShortWrite(t *testing.T) {
	if err := writeAll(shortWriter{}, []byte("some bytes")); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}
