package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// Verbs that are statements print what the statements do.
func TestVerbsAreStatements(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), []byte(`{"id":"a","text":"one two three four"}
{"id":"b","text":"one two three five","lang":"en"}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	simdb(t, dir, "load", "x.simdb", "in.jsonl")
	verbs := map[string][]string{
		"WHY 'a' 'b'":        {"why", "x.simdb", "a", "b"},
		"STATS":              {"stats", "x.simdb"},
		"PAIRS NEAR 40":      {"pairs", "x.simdb", "--near", "40"},
		"CLUSTERS NEAR 40":   {"clusters", "x.simdb", "--near", "40"},
		"PAIRS JACCARD 0.1":  {"pairs", "x.simdb", "--jaccard", "0.1"},
		"CLUSTERS NEAR 0":    {"clusters", "x.simdb", "--near", "0"},
		"PAIRS JACCARD 0.99": {"pairs", "x.simdb", "--jaccard", "0.99"},
	}
	statements, formats := slices.Sorted(maps.Keys(verbs)), []string{"tsv", "csv", "jsonl", "json", "table"}
	for i := range exhaustive.Some(t, 3, len(statements)*len(formats)) {
		statement, format := statements[i/len(formats)], formats[i%len(formats)]
		verb := verbs[statement]
		want := found(dir, "x.simdb", statement, "--format", format)
		if got := found(dir, append(verb, "--format", format)...); got != want {
			t.Errorf("%v in %s:\n%s\n%s:\n%s", verb, format, got, statement, want)
		}
	}
	why := simdb(t, dir, "why", "x.simdb", "a", "b")
	if !regexp.MustCompile(`(?m)^fingerprint a\t[0-9a-f]{16}$`).MatchString(why) {
		t.Errorf("no fingerprint of 16 hexadecimal digits:\n%s", why)
	}
}

// found runs simdb, which may find nothing, and returns its output.
func found(dir string, args ...string) string {
	c := exec.Command("simdb", args...)
	c.Dir = dir
	out, _ := c.Output()
	return string(out)
}

// The README's commands print what it says, but for times.
func TestREADME(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	seconds := regexp.MustCompile(`\d+\.\d\d s`)
	same := func(s string) string { return strings.TrimSpace(seconds.ReplaceAllString(s, "N s")) }
	examples := regexp.MustCompile("(?s)```\n\\$ (.*?)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(examples) < 4 {
		t.Fatalf("%d commands", len(examples))
	}
	for _, example := range examples {
		c := exec.Command("sh", "-c", example[1])
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", example[1], err)
		}
		got, want := same(string(out)), same(example[2])
		if got != want {
			t.Errorf("$ %s\n%s\nthe README has\n%s", example[1], got, want)
		}
	}
}
