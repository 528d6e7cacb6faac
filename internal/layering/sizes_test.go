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

// longer has files with more lines, and their current limit until they are split. Limits may only
// decrease.
var longer = map[string]int{
	"internal/vfs/vfstest/mem.go":                   565,
	"internal/table/internal/write/batch_writer.go": 608,
	"internal/table/verify.go":                      759,
}

// TestSizes checks that files are not too long. The size of a package is not limited.
func TestSizes(t *testing.T) {
	found := 0
	walk(t, func(path string) error {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(text, []byte("// Code generated")) {
			return err
		}
		lines := bytes.Count(text, []byte("\n"))
		most, known := longer[filepath.ToSlash(strings.TrimPrefix(path, "../../"))]
		switch {
		case !known:
			most = maxFile
		case lines <= maxFile:
			t.Errorf("%s has %d lines: it is no exception any more", path, lines)
		default:
			found++
		}
		if lines > most {
			t.Errorf("%s has %d lines, at most %d are allowed", path, lines, most)
		}
		return nil
	})
	if found != len(longer) && !t.Failed() {
		t.Errorf("%d files are longer, not the %d of the list", found, len(longer))
	}
}
