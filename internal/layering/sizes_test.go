package layering

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxFile is the largest number of lines of a file other than a test, so that it can be read as a
// whole.
const maxFile = 500

// TestSizes checks that files are not too long. The size of a package is not limited.
func TestSizes(t *testing.T) {
	walk(t, func(path string) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(text, []byte("// Code generated")) {
			return err
		}
		if lines := bytes.Count(text, []byte("\n")); lines > maxFile {
			t.Errorf("%s has %d lines, at most %d are allowed", path, lines, maxFile)
		}
		return nil
	})
}
