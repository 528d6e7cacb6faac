package files

import (
	"path"
	"testing"
)

// Patterns exclude the same files as in git, except that git never ignores files it already tracks.
func TestIgnored(t *testing.T) {
	for _, c := range []struct {
		patterns string // lines of an IgnoreFile
		path     string // a folder if it ends in "/"
		want     bool
	}{
		{"*.log", "a.log", true},
		{"*.log", "x/y/a.log", true},
		{"*.log", "a.log.txt", false},
		{"/a.log", "a.log", true},
		{"/a.log", "x/a.log", false},
		{"x/a.log", "x/a.log", true},
		{"x/a.log", "y/x/a.log", false},
		{"**/x/a.log", "y/x/a.log", true},
		{"x/**/a", "x/a", true},
		{"x/**/a", "x/1/2/a", true},
		{"x/**", "x/1/2", true},
		{"x/**", "x/", false},
		{"build/", "build/", true},
		{"build/", "x/build/", true},
		{"build/", "build", false},
		{"*.log\n!keep.log", "x/keep.log", false},
		{"!keep.log\n*.log", "keep.log", true},
		{"# a comment\n\n", "# a comment", false},
		{`\#a`, "#a", true},
		{`\!a`, "!a", true},
		{"a   ", "a", true},
		{`a\ `, "a ", true},
		{"a\r\nb\r\n", "a", true},
		{"[ab].txt", "b.txt", true},
		{"[!ab].txt", "b.txt", false},
		{"[!ab].txt", "c.txt", true},
		{"?.txt", "b.txt", true},
		{"x/*", "x/y/z", false},
		{"{a,b}", "a", false},
		{"{a,b}", "{a,b}", true},
		{"[", "[", false},
	} {
		rel, isDir := c.path, false
		if n := len(rel); rel[n-1] == '/' {
			rel, isDir = rel[:n-1], true
		}
		for _, base := range []string{"", "base"} {
			if got := ignored(parseIgnoreFile(c.patterns, base), path.Join(base, rel), isDir); got != c.want {
				t.Errorf("%q leaves out %q in %q: %v", c.patterns, c.path, base, got)
			}
			if base != "" && ignored(parseIgnoreFile(c.patterns, base), "other/"+rel, isDir) {
				t.Errorf("%q of another folder leaves out %q", c.patterns, c.path)
			}
		}
	}
}
