package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGlobDeep has a chain of folders in which several "**" match in very many ways.
func TestGlobDeep(t *testing.T) {
	t.Chdir(t.TempDir())
	deep := strings.Repeat("a/", 60)
	if err := errors.Join(os.MkdirAll(deep, 0o755), os.WriteFile(deep+"x.txt", nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"**/x.txt", "**/**/**/**/**/**/**/x.txt", "a/**/**/**/**/**/a/**/**/**/**/x.txt"} {
		got, err := Expand(p, false)
		if err != nil || len(got) != 1 || filepath.ToSlash(got[0]) != deep+"x.txt" {
			t.Errorf("%s: %q, %v", p, got, err)
		}
	}
}
