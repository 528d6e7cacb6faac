package inputs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// TestChangedInput changes an input between the two passes, without changing its size.
func TestChangedInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.txt")
	write := func(name, content string, at time.Time) {
		t.Helper()
		must.Do(t, errors.Join(os.WriteFile(name, []byte(content), 0o600), os.Chtimes(name, at, at)))
	}
	then := time.Now().Add(-time.Hour)
	write(path, "one\n", then)
	st := must.Get(os.Stat(path))(t)
	r := &Sources{Files: []string{"a copy of ours", path}, Names: []string{"-", "in.txt"}, AsRead: []os.FileInfo{nil, st}}
	if err := r.Unchanged(); err != nil {
		t.Error(err)
	}
	write(path, "two\n", then.Add(time.Second))
	if err := r.Unchanged(); !errors.Is(err, ErrChanged) {
		t.Errorf("written to: %v", err)
	}
	write(path, "three\n", then)
	if err := r.Unchanged(); !errors.Is(err, ErrChanged) {
		t.Errorf("of another size: %v", err)
	}
	write(path+".new", "two\n", then)
	must.Do(t, os.Rename(path+".new", path))
	if err := r.Unchanged(); !errors.Is(err, ErrChanged) {
		t.Errorf("another file: %v", err)
	}
	os.Remove(path)
	if err := r.Unchanged(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}
