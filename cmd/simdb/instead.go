package main

import (
	_ "embed" // the table
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/records/inputs"
)

//go:embed elsewhere.txt
var elsewhereTable string

// elsewhere maps commands and flags of other programs to their equivalents here.
var elsewhere = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(elsewhereTable) {
		words, instead, _ := strings.Cut(strings.TrimSpace(line), " | ")
		for word := range strings.FieldsSeq(words) {
			all[word] = instead
		}
	}
	return all
}()

// noValue matches kong's error for a flag without a value at the end of the line.
var noValue = regexp.MustCompile(`^(--?[\w-]+): (expected .* but got "EOL" \(<EOL>\)|missing value, expecting .*)$`)

// explained rewords kong's error about arguments, to say what would be right.
func explained(err error, args []string) error {
	text, usage := err.Error(), usageOf(args[0])
	if flag := noValue.FindStringSubmatch(text); flag != nil {
		err = fmt.Errorf("%s needs a value", flag[1])
	}
	if strings.HasPrefix(text, `expected "<db`) && usage != "" {
		err = fmt.Errorf("%w; usage: simdb %s", err, usage)
	}
	if strings.HasPrefix(text, `expected "`) && strings.Contains(text, "file") && args[0] != "pack" && args[0] != "debug" {
		if err = fmt.Errorf("%w; the file - is standard input", err); len(args) > 1 && isFile(args[1]) {
			err = fmt.Errorf("the database is missing: %s%s", commandLine(slices.Concat([]string{"simdb", args[0], "DB"}, args[1:])...), withoutDB[args[0]])
		}
	}
	if word, extra := strings.CutPrefix(text, "unexpected argument "); extra {
		switch {
		case slices.ContainsFunc(args[:max(0, slices.Index(args, word))], isFlag):
			err = fmt.Errorf("%w: put all arguments before the flags, or all after them", err)
		case args[0] == "export":
			err = fmt.Errorf("%w: -o %s writes to that file", err, app.ShellWord(word))
		case usage != "":
			err = fmt.Errorf("%w; usage: simdb %s", err, usage)
		}
	}
	if name, unknown := strings.CutPrefix(text, "unknown flag "); unknown {
		name, _, _ = strings.Cut(name, ",")
		err = unknownFlag(err, name, args)
	}
	return err
}

// withoutDB says what does the same as a command without a database.
var withoutDB = map[string]string{
	"match": "; simdb dedup FILE compares a file with itself, --against FILE with another", "join": "; simdb pairs FILE compares a file with itself",
}

// unknownFlag says what to type in place of a flag. kong names a letter of a word such as -json.
func unknownFlag(err error, name string, args []string) error {
	for _, arg := range args {
		if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && len(name) == 2 && strings.Contains(arg, name[1:]) {
			name, _, _ = strings.Cut(arg, "=")
			err = fmt.Errorf("unknown flag %s", name)
			break
		}
	}
	dashed := name
	if len(name) > 2 {
		dashed = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
	long := "--" + strings.TrimLeft(dashed, "-")
	for _, key := range []string{args[0] + ":" + dashed, dashed, long} {
		if instead := elsewhere[key]; instead != "" {
			return fmt.Errorf("unknown flag %s; instead: %s", name, instead)
		}
	}
	verb, of := args[0], []string(nil)
	if !slices.Contains(commandNames(), verb) {
		verb = "shell"
	}
	for _, c := range allCommands() {
		if slices.ContainsFunc(c.flags, func(f flag) bool { return "--"+f.name == long || "-"+f.short == name }) {
			of = append(of, c.name)
		}
	}
	switch {
	case long != name && (slices.Contains(of, verb) || slices.Contains(of, "")):
		return fmt.Errorf("unknown flag %s; instead: %s", name, long)
	case len(of) > 0:
		return fmt.Errorf("unknown flag %s: it is a flag of %s", name, strings.Join(of, ", "))
	}
	return err
}

// usageOf returns the usage of a command, or "".
func usageOf(name string) string {
	for _, c := range allCommands() {
		if c.name == name {
			return c.usage
		}
	}
	return ""
}

// allCommands returns the program itself and its commands.
var allCommands = sync.OnceValue(func() []command {
	parser, err := newParser(&app.App{}, nil, new(int))
	if err != nil {
		return nil
	}
	return commands(parser.Model.Node)
})

// remote says how to reach the files of a kind of store: what writes one to standard output, copies
// it to this folder, and stores what it reads.
var remote = map[string][3]string{
	"s3": {"aws s3 cp %s -", "aws s3 cp %s .", "aws s3 cp - %s"}, "gs": {"gcloud storage cat %s", "gcloud storage cp %s .", "gcloud storage cp - %s"},
	"http": curl, "https": curl, "ftp": curl, "": {"rclone cat %s", "rclone copy %s .", "rclone rcat %s"},
}

var (
	notThere    = regexp.MustCompile(`no such|there is no folder|no file matches`)
	curl        = [3]string{"curl -sL %s", "curl -sLO %s", "curl -T - %s"}
	remoteName  = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9]{1,9})://(.+)`)
	hubDocument = regexp.MustCompile(`^hf://datasets/([^/@]+/[^/@]+)[^/]*/(.+)$`)
)

// advice says what to type after an error of a command that has started, or returns "".
func advice(err error, args []string) string {
	missing := notThere.MatchString(err.Error())
	for i, arg := range args {
		switch name := remoteName.FindStringSubmatch(arg); {
		case arg == "" || !strings.Contains(err.Error(), arg):
		case missing && name != nil:
			return pipeTo(args, i, strings.ToLower(name[1]), name[2])
		case errors.Is(err, engine.ErrNotDatabase) && isFile(arg):
			return loadedFirst(args, i)
		case errors.Is(err, inputs.ErrNoDatabase) && i == 0 && arg[0] == '.' && !strings.ContainsAny(arg[1:], pathMarks):
			return "commands of the prompt follow the database: simdb DB " + app.ShellWord(strings.Join(args, " "))
		case missing && beside(arg) != "":
			return "did you mean " + beside(arg) + "?"
		}
	}
	return ""
}

// pipeTo returns the line for a remote file, which is argument i.
func pipeTo(args []string, i int, scheme, path string) string {
	url, line := args[i], slices.Insert(slices.Clone(args), 0, "simdb")
	of, ok := remote[scheme]
	switch hub := hubDocument.FindStringSubmatch(url); {
	case scheme == "file":
		return "did you mean " + path + "?"
	case hub != nil && !strings.ContainsAny(path, "*?"):
		of, url = remote["https"], "https://huggingface.co/datasets/"+hub[1]+"/resolve/main/"+hub[2]
	case hub != nil:
		return "remote files are not read; fetch them: " + commandLine("hf", "download", "--repo-type", "dataset", "--local-dir", ".", hub[1], "--include", hub[2])
	case !ok || strings.HasSuffix(path, ".simdb"):
		of, url = remote[""], "REMOTE:"+path
	}
	line[i+1] = "-"
	fill := func(n int) string { return strings.ReplaceAll(of[n], "%s", app.ShellWord(url)) }
	switch {
	case i > 0 && (args[i-1] == "-o" || args[i-1] == "--output"):
		return "remote files are not written; pipe it: " + commandLine(line...) + " | " + fill(2)
	case i == 0 || strings.HasPrefix(args[i-1], "-") || i == 1 && strings.Contains(usageOf(args[0]), "<db>"):
		return "remote files are not read here; fetch it first: " + fill(1)
	}
	return "remote files are not read; pipe it: " + fill(0) + " | " + commandLine(line...)
}

// loadedFirst returns the line that loads argument i, a file that should be a database.
func loadedFirst(args []string, i int) string {
	db := strings.TrimSuffix(filepath.Base(outfile.PlainName(args[i])), filepath.Ext(outfile.PlainName(args[i]))) + ".simdb"
	rest := slices.Insert(slices.Clone(args), 0, "simdb")
	if i++; rest[1] == "load" {
		return "the database comes first: " + commandLine(slices.Insert(rest, i, db)...)
	}
	for j := i + 1; j < len(rest); j++ {
		if inputs.Exists(rest[j]) && !inputs.NamesFiles(rest[j]) {
			rest[i], rest[j] = rest[j], rest[i]
			return "the database comes first: " + commandLine(rest...)
		}
	}
	first := commandLine("simdb", "load", db, rest[i])
	rest[i] = db
	return "it is a file; load it first: " + first + "; then " + commandLine(rest...) + withoutDB[args[0]]
}

// beside returns the file in the folder of a missing one whose name is nearly the same, or "".
func beside(path string) string {
	stem := func(name string) string { s, _, _ := strings.Cut(filepath.Base(name), "."); return s }
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if _, ok := spelling.Closest(stem(path), []string{stem(e.Name())}); ok && (stem(path) == stem(e.Name()) || filepath.Ext(path) == filepath.Ext(e.Name())) {
			return filepath.Join(filepath.Dir(path), e.Name())
		}
	}
	return ""
}

func isFile(path string) bool {
	return inputs.Exists(path) && inputs.NamesFiles(path)
}

// commandLine writes a command and its arguments for a shell.
func commandLine(args ...string) string {
	line := ""
	for _, arg := range args {
		if word := app.ShellWord(arg); strings.Contains(arg, "'") && !strings.ContainsAny(arg, "\"$`\\!") {
			line += ` "` + arg + `"`
		} else {
			line += " " + word
		}
	}
	return line[1:]
}
