package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestGlobDeep has a chain of folders in which several "**" match in very many ways. Each folder is
// read once, and folders that cannot have a match are not read.
func TestGlobDeep(t *testing.T) {
	t.Chdir(t.TempDir())
	deep := strings.Repeat("a/", 60)
	must.Do(t, errors.Join(os.MkdirAll(deep, 0o755), os.WriteFile(deep+"x.txt", nil, 0o644)))
	for p, most := range map[string]int{
		"**/x.txt": 61, "**/**/**/**/**/**/**/x.txt": 61, "a/**/**/**/**/**/a/**/**/**/**/x.txt": 60,
		strings.Repeat("**/a/", 50) + "x.txt": 61, strings.Repeat("{**,a}/", 10) + "**/x.txt": 61, "**/" + strings.Repeat("{?,*}*", 12) + ".txt": 61,
		"a/a/*": 1, "[!b]/b/*": 2, "a/*/b/**": 2, "{a,b}/*/b/*/*": 3,
	} {
		w, err := newWalk(p)
		if err == nil {
			err = w.folder("", 0)
		}
		if err != nil || w.folders > most {
			t.Errorf("%s: %d folders read, at most %d; %v", p, w.folders, most, err)
		}
		found := strings.HasSuffix(p, ".txt")
		if found && !slices.Equal(w.found, []string{filepath.FromSlash(deep + "x.txt")}) {
			t.Errorf("%s: %q", p, w.found)
		}
	}
}

// TestExpand has patterns of all kinds.
func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a/b/c.txt", "a/c.txt", "a/d.md", "b/.h/c.txt", "c.txt", "e[1].txt", "ü.txt"} {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)))
	}
	if err := os.Symlink("a", "link"); err != nil {
		t.Log(err)
	}
	for p, want := range map[string]string{
		"*.txt":                 "c.txt e[1].txt ü.txt",
		"?.txt":                 "c.txt ü.txt",
		"[b-d].txt":             "c.txt",
		"[!b-d].txt":            "ü.txt",
		"**/a[!x]d.md":          "",
		"e[[]1].txt":            "e[1].txt",
		`e\[*`:                  "e[1].txt",
		"./a/*":                 "a/b a/c.txt a/d.md",
		"**/c.txt":              "a/b/c.txt a/c.txt c.txt",
		"a/**":                  "a a/b a/b/c.txt a/c.txt a/d.md",
		"*/**":                  "a a/b a/b/c.txt a/c.txt a/d.md b",
		"b/**":                  "b",
		"b/.h/**":               "b/.h b/.h/c.txt",
		"**/*.{txt,md}":         "a/b/c.txt a/c.txt a/d.md c.txt e[1].txt ü.txt",
		"a/{b/*,d*}":            "a/b/c.txt a/d.md",
		"{a/**,b}/c.txt":        "a/b/c.txt a/c.txt",
		"{a,no}/{b,}/*.txt":     "a/b/c.txt",
		"{{a,b},{c,d}}*":        "a b c.txt",
		`{a,\{}/[b-c,]*{.txt,}`: "a/b a/c.txt",
		"a*{.txt,/**}":          "a a/b a/b/c.txt a/c.txt a/d.md",
		"link*/*":               "",
		"no/*":                  "",
		"no/**":                 "",
		"*/no":                  "",
	} {
		if p[0] == 'e' && filepath.Separator != '/' {
			continue
		}
		got, err := Expand(p, false)
		if all := filepath.ToSlash(strings.Join(got, " ")); all != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", p, all, err, want)
		}
	}
	for p, want := range map[string]string{
		"[a": "is unbalanced", "[]*": "a bracket is empty", "{a,*": "is unbalanced", "*}": "is unbalanced", `*\`: "a backslash escapes nothing",
		strings.Repeat("{**,a}/", 30): "the braces expand to more than 4096 patterns",
	} {
		if _, err := Expand(p, false); filepath.Separator == '/' && (err == nil || !strings.HasPrefix(err.Error(), p+": ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", p, err, want)
		}
	}
}
