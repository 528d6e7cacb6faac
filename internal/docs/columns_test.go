package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxColumns = 100 // of a comment line, a tab counting as 4
	// tooWide is how many comment lines are wider. Lower it when the test says so; never raise it.
	tooWide = 5
)

// TestCommentColumns checks that comment lines end before maxColumns. It names what is wider in the
// files of a run with -v.
func TestCommentColumns(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(data, []byte("// Code generated")) {
			return err
		}
		for i, line := range strings.Split(string(data), "\n") {
			line = strings.ReplaceAll(line, "\t", "    ")
			if utf8.RuneCountInString(line) > maxColumns && isComment(strings.TrimSpace(line)) {
				found++
				if testing.Verbose() {
					t.Logf("%s:%d: %s", path, i+1, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found > tooWide {
		t.Errorf("%d comment lines are wider than %d columns, %d are allowed", found, maxColumns, tooWide)
	} else if found < tooWide {
		t.Logf("%d comment lines are wider than %d columns: lower tooWide, which is %d", found, maxColumns, tooWide)
	}
}

// isComment reports whether a line is a comment for readers: directives cannot be wrapped.
func isComment(line string) bool {
	return strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "//go:")
}

// maxProse is the most columns of a line of prose in a page; tables and code may be wider.
const maxProse = 120

// TestProseColumns checks that lines of prose in the pages end before maxProse.
func TestProseColumns(t *testing.T) {
	for page, text := range pages(t) {
		code := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if code || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
				continue
			}
			if n := utf8.RuneCountInString(line); n > maxProse {
				t.Errorf("%s:%d has %d columns", page, i+1, n)
			}
		}
	}
}
