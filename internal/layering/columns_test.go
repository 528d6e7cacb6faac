package layering

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the most columns of a comment line, a tab counting as 4.
const maxColumns = 100

// TestCommentColumns checks that comment lines end before maxColumns.
func TestCommentColumns(t *testing.T) {
	walk(t, func(path string) error {
		if filepath.Ext(path) != ".go" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(data, []byte("// Code generated")) {
			return err
		}
		for i, line := range strings.Split(string(data), "\n") {
			line = strings.ReplaceAll(line, "\t", "    ")
			if n := utf8.RuneCountInString(line); n > maxColumns && isComment(strings.TrimSpace(line)) {
				t.Errorf("%s:%d has %d columns", path, i+1, n)
			}
		}
		return nil
	})
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
