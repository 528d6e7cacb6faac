package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// TestReaders opens a database for reading several times, with and without a writer: readers and
// the writer must not wait for one another, and readers need no lock file and leave nothing behind.
func TestReaders(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, nil))(t)
	must.Do(t, db.Put(ctx, Doc{ID: "a", Text: "one two three"}))
	var readers []*DB
	for range 3 {
		r := must.Get(Open(path, &Options{ReadOnly: true}))(t)
		readers = append(readers, r)
		if _, err := r.Get(ctx, "a"); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(path, &Options{BusyTimeout: 50 * time.Millisecond}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second writer: %v", err)
	}
	must.Do(t, errors.Join(db.Close(), vfs.Disk.Remove(filepath.Join(path, files.Lock))))
	readers = append(readers, must.Get(Open(path, &Options{ReadOnly: true}))(t))
	if names, _ := vfs.Disk.List(path); fmt.Sprint(names) != "[000001.wal CATALOG]" {
		t.Errorf("reading has left %v", names)
	}
	db = must.Get(Open(path, nil))(t) // beside readers
	must.Do(t, db.Put(ctx, Doc{ID: "b", Text: "four five six"}))
	for _, r := range readers {
		if _, err := r.Get(ctx, "b"); !errors.Is(err, ErrNotFound) {
			t.Errorf("before Refresh: %v", err)
		}
		if err := r.Refresh(ctx); err != nil {
			t.Error(err)
		}
		if _, err := r.Get(ctx, "b"); err != nil {
			t.Errorf("after Refresh: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Refresh(ctx); !errors.Is(err, ErrClosed) {
			t.Errorf("Refresh after Close: %v", err)
		}
	}
	if err := errors.Join(db.Refresh(ctx), db.Close()); err != nil {
		t.Error(err)
	}
}

// TestBusyTimeout opens a database while another DB has it open for writing, and gets it when that
// is closed.
func TestBusyTimeout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, nil))(t)
	time.AfterFunc(50*time.Millisecond, func() { db.Close() })
	must.Get(Open(path, &Options{BusyTimeout: time.Minute}))(t).Close()
}

// TestLoadMarks loads with little memory, so that a few documents at a time are published, together
// with the mark of the last one.
func TestLoadMarks(t *testing.T) {
	ctx := context.Background()
	db := must.Get(Create(filepath.Join(t.TempDir(), "x.simdb"), &Options{NoSketch: true}))(t)
	defer db.Close()
	l := must.Get(db.NewLoader(ctx, &LoadOptions{MemoryBytes: 600}))(t)
	for i := range uint64(20) {
		must.Do(t, l.Add(Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{i}}}))
		must.Do(t, l.l.Wait())
		if mark, n := db.s.LoadMark("file"), LoadStats(l.l.Stats).Documents; mark != n {
			t.Fatalf("%d documents are published with mark %d", n, mark)
		}
		l.Mark("file", int64(i)+1)
	}
	if s, err := l.Close(); err != nil || s.Documents != 20 || s.Tables < 5 || db.s.LoadMark("file") != 20 {
		t.Fatal(s, err, db.s.LoadMark("file"))
	}
}

// unlockFS calls a function after a lock has been released.
type unlockFS struct {
	vfs.FS
	after func()
}

func (u unlockFS) Lock(name string) (io.Closer, error) {
	lock, err := u.FS.Lock(name)
	return unlocking{lock, u.after}, err
}

func (u unlockFS) OpenRoot(dir string) (vfs.Root, error) {
	r, err := u.FS.OpenRoot(dir)
	return struct {
		unlockFS
		io.Closer
	}{unlockFS{r, u.after}, r}, err
}

type unlocking struct {
	io.Closer
	after func()
}

func (u unlocking) Close() error {
	err := u.Closer.Close()
	u.after()
	return err
}

// TestLockIsLast opens a database at the moment when another DB releases its lock: everything else
// must be released already.
func TestLockIsLast(t *testing.T) {
	path, next := filepath.Join(t.TempDir(), "x.simdb"), errors.New("the lock was not released")
	db := must.Get(Create(path, &Options{fs: unlockFS{vfs.Disk, func() {
		var other *DB
		if other, next = Open(path, nil); next == nil {
			next = other.Close()
		}
	}}}))(t)
	if err := errors.Join(db.Put(t.Context(), Doc{ID: "a", Text: "b"}), db.Close(), next); err != nil {
		t.Error(err)
	}
}
