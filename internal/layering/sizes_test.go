package layering

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A package has at most maxFiles files without tests, of maxLines lines together.
const (
	maxFiles = 20
	maxLines = 4000
)

// larger are the packages that have more files or lines, with how many files they may have at most
// until they are cut, and lines where those are too many. The numbers may only become smaller.
var larger = map[string]struct{ files, lines int }{}

// TestSizes checks that a package can be read: no package has too many files or lines, platforms'
// files included.
func TestSizes(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{.Dir}} {{join .GoFiles " "}} {{join .IgnoredGoFiles " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg, dir := strings.TrimPrefix(fields[0], module), fields[1]
		files, lines := 0, 0
		for _, name := range fields[2:] {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files, lines = files+1, lines+bytes.Count(text, []byte("\n"))
		}
		most, known := larger[pkg]
		switch {
		case !known:
			most.files, most.lines = maxFiles, maxLines
		case files <= maxFiles && lines <= maxLines:
			t.Errorf("%s has %d files and %d lines: it is no exception any more", pkg, files, lines)
		default:
			found++
		}
		if files > most.files || lines > most.lines {
			t.Errorf("%s has %d files and %d lines, at most %d and %d are allowed", pkg, files, lines, most.files, most.lines)
		}
	}
	if found != len(larger) && !t.Failed() {
		t.Errorf("%d packages are larger, not the %d of the list", found, len(larger))
	}
}
