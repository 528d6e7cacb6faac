package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenToAppend appends to files that end with and without a line end, and not to compressed ones.
func TestOpenToAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	for _, tc := range [][2]string{{"", "new\n"}, {"{}\n", "{}\nnew\n"}, {"{}", "{}\nnew\n"}, {"\x1f\x8b..", ""}, {"\xef\xbb\xbf{}", "\xef\xbb\xbf{}\nnew\n"}} {
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
		fmt.Fprintln(f, "new")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tc[1] {
			t.Errorf("%q: got %q, %v", tc[0], got, err)
		}
	}
}
