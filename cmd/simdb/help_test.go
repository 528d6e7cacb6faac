package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/repl/output"
)

// Every command has examples. They are lines of that command, with flags that it has.
func TestExamples(t *testing.T) {
	parsed := map[string]bool{}
	for name, all := range examples {
		for _, e := range all {
			code := 0
			parser, err := newParser(&app.App{}, nil, &code)
			if err != nil {
				t.Fatal(err)
			}
			ctx, err := parse(parser, exampleArgs(t, e.line))
			if err != nil {
				t.Errorf("%s: %v", e.line, err)
				continue
			}
			if got := commandName(ctx.Selected()); got != name {
				t.Errorf("%s: an example of %q, not of %q", e.line, got, name)
			}
			if !strings.HasSuffix(e.does, ".") {
				t.Errorf("%s: %q is no sentence", e.line, e.does)
			}
			parsed[name] = true
		}
	}
	for name := range leaves(model(t)) {
		if !parsed[name] && name != "version" {
			t.Errorf("%s has no example", name)
		}
	}
}

// exampleArgs splits a line for a shell into the arguments of simdb.
func exampleArgs(t *testing.T, line string) []string {
	words := shellWord.FindAllString(line, -1)
	from := slices.Index(words, "simdb")
	if from < 0 {
		t.Fatalf("no simdb in %q", line)
	}
	words = words[from+1:]
	if i := slices.IndexFunc(words, func(w string) bool { return w == "<" || w == ">" }); i >= 0 {
		words = words[:i]
	}
	for i := range words {
		words[i] = strings.Trim(words[i], `"'`)
	}
	return words
}

// shellWord matches a word of a line for a shell, with or without quotes.
var shellWord = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)

// The help of a command only names the flags of all commands; the help of simdb explains them.
func TestHelpFlags(t *testing.T) {
	_, own, _ := simdbHere(t, "stats", "--help")
	_, all, _ := simdbHere(t, "--help")
	const line = "\n  -h --help, --progress, --busy-timeout, -q --quiet, --man, -V --version\n"
	if !strings.Contains(own, line) || strings.Contains(own, "--busy-timeout=TIME") {
		t.Errorf("help of stats:\n%s", own)
	}
	for _, f := range []string{"--help  ", "--progress=MODE", "--busy-timeout=TIME", "--quiet  ", "--man  ", "--version"} {
		if !strings.Contains(all, f) {
			t.Errorf("simdb --help lacks %s", f)
		}
	}
}

// In all commands, --input-format is the format of inputs, and --format the format of outputs.
func TestInputFormat(t *testing.T) {
	found := 0
	for name, command := range leaves(model(t)) {
		for _, f := range command.Flags {
			if _, ok := f.Target.Interface().(records.Format); ok {
				found++
				if f.Name != "input-format" && !f.Hidden {
					t.Errorf("%s: the format of files is --%s", name, f.Name)
				}
			}
		}
	}
	if found < 9 {
		t.Errorf("%d commands have a format of files", found)
	}
}

// -h prints usage, examples and the most used flags, on a screen or two; --help prints everything.
func TestShortHelp(t *testing.T) {
	for name, command := range leaves(model(t)) {
		args := strings.Fields(name)
		_, short, _ := simdbHere(t, append(args, "-h")...)
		_, long, _ := simdbHere(t, append(args, "--help")...)
		lines := strings.Count(short, "\n")
		if lines > 45 || lines > strings.Count(long, "\n")+2 || !strings.HasPrefix(short, "Usage: simdb "+name) {
			t.Errorf("%s -h has %d lines:\n%s", name, lines, short)
		}
		for line := range strings.Lines(short) {
			if fields := strings.Fields(line); len(fields) > 0 && strings.HasPrefix(fields[0], "--") && !strings.Contains(long, fields[0]) {
				t.Errorf("%s -h has %s, --help does not", name, fields[0])
			}
		}
		if all := examples[name]; len(all) > 0 && !strings.Contains(short, all[0].line) {
			t.Errorf("%s -h has no example", name)
		}
		if n := len(shownFlags(command.Flags)); n > mostFlags && !strings.Contains(short, "more: simdb "+name+" --help") {
			t.Errorf("%s -h does not say that there are %d flags", name, n)
		}
	}
	_, top, _ := simdbHere(t, "-h")
	if lines := strings.Count(top, "\n"); lines > 24 {
		t.Errorf("simdb -h has %d lines", lines)
	}
	for name := range leaves(model(t)) {
		if first := strings.Fields(name)[0]; !strings.Contains(top, first) {
			t.Errorf("simdb -h does not name %s", first)
		}
	}
	if _, out, _ := simdbHere(t, "-V"); !strings.HasPrefix(out, "simdb ") {
		t.Errorf("-V says %q", out)
	}
}

// bash completes the text after --flag= in the same way as after --flag, and the words of an
// argument.
func TestBashCompletion(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	_, script, _ := simdbHere(t, "completion", "bash")
	for words, want := range map[string]string{
		"simdb pairs --format = j": "jsonl json", "simdb pairs --format t": "table tsv", "simdb pairs --format =": strings.Join(output.Formats(), " "),
		"simdb completion z": "zsh", "simdb help ded": "dedup", "simdb debug l": "layout", "simdb dedup --keep lo": "longest",
	} {
		c := exec.Command("bash", "-c", script+"\nCOMP_WORDS=("+words+"); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _simdb; echo ${COMPREPLY[*]}")
		c.Dir = t.TempDir()
		if out, err := c.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %s %v, want %s", words, out, err, want)
		}
	}
}

// The manual page has the examples as a user types them, and each flag.
func TestManual(t *testing.T) {
	_, page, _ := simdbHere(t, "--man")
	if !strings.Contains(page, `simdb corpus.simdb \(dqNEAR('doc\-17', 3)\(dq`) {
		t.Error("quotes are lost")
	}
	for name, command := range leaves(model(t)) {
		for _, f := range shownFlags(command.Flags) {
			if !strings.Contains(page, `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)) {
				t.Errorf("no --%s of %s", f.Name, name)
			}
		}
	}
	if !strings.Contains(page, ".SH QUERY LANGUAGE") || strings.Count(page, `.B \-\-id\-field `) > 2 {
		t.Error("no query language, or shared flags again and again")
	}
}
