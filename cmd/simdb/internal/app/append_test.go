package app

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestOpenToAppend appends to files that end with and without a line end, and not to compressed ones.
func TestOpenToAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	for _, tc := range [][2]string{{"", "new\n"}, {"{}\n", "{}\nnew\n"}, {"{}", "{}\nnew\n"}, {"\x1f\x8b..", ""}, {"{}\n{\"a\": 1", "{}\nnew\n"}, {"{\"a\"", "new\n"}, {"{}\nhand-written", "{}\nhand-written\nnew\n"}, {"{}\n{\"a\n", "{}\n{\"a\nnew\n"}, {"\xef\xbb\xbf{\"a\"", "new\n"}, {"\xef\xbb\xbf{}\n{}", "\xef\xbb\xbf{}\n{}\nnew\n"}, {"\xef\xbb\xbf{}", "\xef\xbb\xbf{}\nnew\n"}} {
		if err := os.WriteFile(path, []byte(tc[0]), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := OpenToAppend(path)
		if tc[1] == "" {
			if err == nil || !strings.Contains(err.Error(), "is compressed") {
				t.Errorf("%q: %v", tc[0], err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		from, to, err := AppendLine(f, []byte("new\n"))
		if err != nil || from != int64(min(len(tc[0]), len(tc[1])-len("new\n"))) || to != int64(len(tc[1])) {
			t.Errorf("%q: appended from %d to %d, %v", tc[0], from, to, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tc[1] {
			t.Errorf("%q: got %q, %v", tc[0], got, err)
		}
	}
}

// TestTakeBack takes a line back, unless another process has appended to the file or replaced it.
func TestTakeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	f, err := OpenToAppend(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	append := func(line string) int64 {
		before, _, err := AppendLine(f, []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return before
	}
	check := func(from, want int64, done bool, left string) {
		t.Helper()
		ok, err := TakeBack(f, from, want)
		if got, failed := os.ReadFile(path); ok != done || err != nil || failed != nil || string(got) != left {
			t.Errorf("%v, %v, %v; left %q, want %q", ok, err, failed, got, left)
		}
	}
	if a, b := append("a\n"), append("b\n"); a != 0 || b != 2 {
		t.Errorf("lines at %d and %d", a, b)
	}
	check(2, 4, true, "a\n")
	append("c\n")
	check(0, 2, false, "a\nc\n")
	if err := os.Rename(path, path+".old"); err != nil {
		t.Skip(err) // a system that does not rename open files
	}
	if err := os.WriteFile(path, []byte("new\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	check(2, 4, false, "new\n")
}

// TestRemoveEmpty removes a file without answers. Nobody stores an answer in a file that is gone.
func TestRemoveEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	open := func() *os.File {
		f := must.Get(OpenToAppend(path))(t)
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open(), open()
	_, _, err := AppendLine(b, []byte("new\n"))
	must.Do(t, err)
	RemoveEmpty(a)
	if got, err := os.ReadFile(path); err != nil || string(got) != "new\n" {
		t.Errorf("with an answer of another process: %q, %v", got, err)
	}
	if ok, err := TakeBack(b, 0, 4); !ok || err != nil {
		t.Fatal(ok, err)
	}
	RemoveEmpty(a)
	if _, err := os.Stat(path); err == nil && runtime.GOOS != "windows" {
		t.Error("an empty file stays")
	}
	if runtime.GOOS == "windows" {
		return // files that are open cannot be removed
	}
	c := open() // another file of that name
	RemoveEmpty(b)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("another file was removed: %v", err)
	}
	if _, _, err := AppendLine(b, []byte("lost\n")); err == nil || !strings.Contains(err.Error(), "removed or replaced") {
		t.Errorf("append to a removed file: %v", err)
	}
	_, _, err = AppendLine(c, []byte("new\n"))
	must.Do(t, err)
}
