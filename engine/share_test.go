package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/vfs"
)

// TestReaders opens a database for reading several times over: readers share it, keep writers out,
// and need no lock file.
func TestReaders(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must(Create(path, nil))(t)
	if err := db.Put(ctx, Doc{ID: "a", Text: "one two three"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, &Options{ReadOnly: true}); !errors.Is(err, ErrLocked) {
		t.Fatalf("a reader beside the writer: %v", err)
	}
	db.Close()
	a := must(Open(path, &Options{ReadOnly: true}))(t)
	b := must(Open(path, &Options{ReadOnly: true}))(t)
	for _, r := range []*DB{a, b} {
		if _, err := r.Get(ctx, "a"); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(path, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("a writer beside readers: %v", err)
	}
	a.Close()
	b.Close()
	if err := vfs.Disk.Remove(filepath.Join(path, files.Lock)); err != nil {
		t.Fatal(err)
	}
	a = must(Open(path, &Options{ReadOnly: true}))(t)
	a.Close()
	if names, _ := vfs.Disk.List(path); fmt.Sprint(names) != "[000001.wal CATALOG]" {
		t.Errorf("reading has left %v", names)
	}
	must(Open(path, nil))(t).Close()
}

// TestLoadMarks loads with little memory, so that every few documents are published: with them the
// mark of the last of them.
func TestLoadMarks(t *testing.T) {
	ctx := context.Background()
	db := must(Create(filepath.Join(t.TempDir(), "x.simdb"), &Options{NoSketch: true}))(t)
	defer db.Close()
	l := must(db.NewLoader(ctx, LoadOptions{MemoryBytes: 600}))(t)
	for i := range uint64(20) {
		if err := l.Add(Doc{ID: fmt.Sprint(i), Fingerprint: &i}); err != nil {
			t.Fatal(err)
		}
		if err := l.l.Wait(); err != nil {
			t.Fatal(err)
		}
		if mark, n := db.LoadMark("file"), l.Stats().Documents; mark != n {
			t.Fatalf("%d documents are published with mark %d", n, mark)
		}
		l.Mark("file", int64(i)+1)
	}
	if s, err := l.Close(); err != nil || s.Documents != 20 || s.Tables < 5 || db.LoadMark("file") != 20 {
		t.Fatal(s, err, db.LoadMark("file"))
	}
}

// must returns a function that returns v, or ends the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
