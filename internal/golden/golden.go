// Package golden compares the results of tests with files, and writes these files with the flag
// -update: go test ./query -run TestGolden -update. The flag also holds for tests with package
// datadriven. Only tests may import it.
package golden

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

var update bool

func init() {
	flag.BoolFunc("update", "write the golden files", func(string) error {
		update = true
		if f := flag.Lookup("rewrite"); f != nil { // the flag of package datadriven
			return f.Value.Set("true")
		}
		return nil
	})
}

// Update reports whether tests write their golden files.
func Update() bool { return update }

// Read returns the content of the golden file at path. With -update it first writes got there.
func Read(t testing.TB, path string, got []byte) []byte {
	t.Helper()
	if update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return golden
}

// Compare checks that the golden file at path contains got. With -update it writes got there.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if want := Read(t, path, []byte(got)); !bytes.Equal(want, []byte(got)) {
		line, was, is := difference(string(want), got)
		t.Errorf("%s:%d: want\n%s\ngot\n%s\n-update writes the file", path, line, was, is)
	}
}

// shownLines is how many lines of each text Compare shows from the first difference on.
const shownLines = 10

// difference returns the first line in which two texts differ, and some lines of both from there
// on.
func difference(want, got string) (line int, was, is string) {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for line < min(len(a), len(b)) && a[line] == b[line] {
		line++
	}
	some := func(lines []string) string {
		return strings.Join(lines[line:min(line+shownLines, len(lines))], "\n")
	}
	return line + 1, some(a), some(b)
}
