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
var elsewhere = spelling.Elsewhere(elsewhereTable)

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
			err = fmt.Errorf("the database is missing: %s%s", commandLine(slices.Concat([]string{"simdb", args[0], "DB"}, args[1:])...), elsewhere[args[0]+":FILE"])
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
	if len(of) == 0 && !strings.Contains(err.Error(), "did you mean \"--") {
		for part := range strings.SplitSeq(long[2:], "-") { // --text-column-name
			if instead := elsewhere["--"+part]; len(part) > 3 && instead != "" {
				return fmt.Errorf("unknown flag %s; instead: %s", name, instead)
			}
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

var (
	remoteName  = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9]{1,9}://)(.+)`)
	hubDocument = regexp.MustCompile(`^hf://(datasets/[^/@]+/[^/@]+)[^/]*/([^*]+)$`)
	notThere    = regexp.MustCompile(`no such|there is no folder|no file matches`)
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
		case i == 0 && strings.ContainsAny(arg, "[|{("):
			return elsewhere[".jq"]
		case missing && beside(arg) != "":
			return "did you mean " + beside(arg) + "?"
		}
	}
	return ""
}

// pipeTo returns the line for a remote file, which is argument i.
func pipeTo(args []string, i int, scheme, path string) string {
	url, instead := args[i], elsewhere[scheme]
	if hub := hubDocument.FindStringSubmatch(url); hub != nil {
		url, instead = "https://huggingface.co/"+hub[1]+"/resolve/main/"+hub[2], elsewhere["https://"]
	} else if instead == "" || strings.HasSuffix(path, ".simdb") {
		url, instead = "REMOTE:"+path, elsewhere["://"]
	}
	of := strings.Split(strings.ReplaceAll(instead, "URL", app.ShellWord(url)), "; ") // to a pipe, to this folder, from a pipe
	line := commandLine(slices.Concat([]string{"simdb"}, args[:i], []string{"-"}, args[i+1:])...)
	switch {
	case i > 0 && (args[i-1] == "-o" || args[i-1] == "--output"):
		return "remote files are not written; pipe it: " + line + " | " + of[2]
	case of[0] == "" || i == 0 || isFlag(args[i-1]) || i == 1 && strings.Contains(usageOf(args[0]), "<db>"):
		return "remote files are not read here; fetch it first: " + of[1]
	}
	return "remote files are not read; pipe it: " + of[0] + " | " + line
}

// loadedFirst returns the line that loads argument i, a file that should be a database.
func loadedFirst(args []string, i int) string {
	file, line := args[i], slices.Insert(slices.Clone(args), 0, "simdb")
	db := strings.TrimSuffix(filepath.Base(outfile.PlainName(file)), filepath.Ext(outfile.PlainName(file))) + ".simdb"
	j := slices.IndexFunc(args, func(arg string) bool { return inputs.Exists(arg) && !inputs.NamesFiles(arg) })
	switch {
	case args[0] == "load":
		return "the database comes first: " + commandLine(slices.Insert(line, i+1, db)...)
	case j > i:
		line[i+1], line[j+1] = args[j], file
		return "the database comes first: " + commandLine(line...)
	}
	line[i+1] = db
	return "it is a file; load it first: " + commandLine("simdb", "load", db, file) + "; then " + commandLine(line...) + elsewhere[args[0]+":FILE"]
}

// beside returns the file in the folder of a missing one that differs only in its ending or in a few
// letters, or "".
func beside(path string) string {
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		other, _, _ := strings.Cut(e.Name(), ".")
		if _, near := spelling.Closest(stem, []string{other}); other == stem || near && filepath.Ext(path) == filepath.Ext(e.Name()) {
			return filepath.Join(filepath.Dir(path), e.Name())
		}
	}
	return ""
}

func isFile(path string) bool { return inputs.Exists(path) && inputs.NamesFiles(path) }

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
