package outfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	for name, decode := range map[string]func([]byte) ([]byte, error){
		"a.jsonl": func(b []byte) ([]byte, error) { return b, nil },
		"a.gz": func(b []byte) ([]byte, error) {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		},
		"a.zst": func(b []byte) ([]byte, error) {
			d, err := zstd.NewReader(nil)
			if err != nil {
				return nil, err
			}
			return d.DecodeAll(b, nil)
		},
	} {
		path := filepath.Join(dir, name)
		os.WriteFile(path, []byte("old"), 0o640)
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "hello\n")
		if b, _ := os.ReadFile(path); string(b) != "old" {
			t.Errorf("%s: %q before Commit", name, b)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		b, _ := os.ReadFile(path)
		if got, err := decode(b); err != nil || string(got) != "hello\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if st, _ := os.Stat(path); st.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v", name, st.Mode())
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 3 {
		t.Errorf("files left: %v", left)
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "x")
	w.Abort()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
	if _, err := Create(dir); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := Create(filepath.Join(dir, "none", "a")); !os.IsNotExist(err) {
		t.Errorf("a missing folder: %v", err)
	}
}
