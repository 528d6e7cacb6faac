package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
)

// TestDocsCommands parses the commands of the pages: those on lines of their own as a shell does, with a
// comment behind # at most, and those in sentences, which need not be complete.
func TestDocsCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]bool{} // by page and line; true in a sentence
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../python/README.md") {
		for _, found := range regexp.MustCompile("(?m)^(?:    |\\$ )?(simdb .*)$|`(simdb [^`]*)`").FindAllStringSubmatch(string(readFile(t, page)), -1) {
			commands[page+": "+strings.Join(strings.Fields(found[1]+found[2]), " ")] = found[1] == ""
		}
	}
	if len(commands) < 200 {
		t.Fatalf("%d commands", len(commands))
	}
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"titles.rule": "JACCARD >= 0.8", "people.rule": "JACCARD >= 0.8", "words.txt": "sequela"} {
		write(t, name, content)
	}
	incomplete := regexp.MustCompile(`expected ("<|one of )|missing flags|give a file of labels|EOL|"(\.\.\.|SEQ)"`)
	for line, inSentence := range commands {
		command := regexp.MustCompile(` (# |\| |2>).*`).ReplaceAllString(line[strings.Index(line, ": ")+2:], "")
		args := exampleArgs(t, strings.NewReplacer("$JOB_COMPLETION_INDEX", "3", "$i", "3").Replace(command))
		code := 0
		parser, err := newParser(&app.App{}, args, &code)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(parser, args); err != nil && !(inSentence && incomplete.MatchString(err.Error())) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
