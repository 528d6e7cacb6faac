package main

import (
	"cmp"
	_ "embed" // the table
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

//go:embed elsewhere.txt
var elsewhereTable string

// elsewhere maps commands and flags of other programs to their equivalents here.
var elsewhere = spelling.Elsewhere(elsewhereTable)

// noValue matches kong's error for a flag without a value at the end of the line.
var noValue = regexp.MustCompile(`^(--?[\w-]+): (expected .* but got "(EOL" \(<EOL>\)|-.* flag\).*)|missing value, expecting .*)$`)

// explained rewords kong's error about arguments, to say what would be right.
func explained(err error, args []string) error {
	text, usage := err.Error(), ""
	for _, c := range allCommands() {
		if strings.HasPrefix(strings.Join(args, " ")+" ", c.name+" ") {
			usage = "; usage: simdb " + c.usage + ", as in " + slices.Concat(examples[c.name], []example{{line: "simdb " + c.usage}})[0].line
		}
	}
	extra, isExtra := strings.CutPrefix(text, "unexpected argument ")
	name, isUnknown := strings.CutPrefix(text, "unknown flag ")
	expected := strings.HasPrefix(text, `expected "`)
	switch flag := noValue.FindStringSubmatch(text); {
	case flag != nil:
		return fmt.Errorf("%s needs a value: simdb help %[1]s shows which", flag[1])
	case isUnknown:
		name, _, _ = strings.Cut(name, ",")
		return unknownFlag(name, args)
	case isExtra && slices.ContainsFunc(args[:max(0, slices.Index(args, extra))], isFlag):
		return fmt.Errorf("%w: put all arguments before the flags, or all after them", err)
	case isExtra && args[0] == "export":
		return fmt.Errorf("%w: -o %s writes to that file", err, app.ShellWord(extra))
	case expected && strings.Contains(text, "file") && len(args) > 1 && isFile(args[1]) && args[0] != "pack" && args[0] != "debug":
		return fmt.Errorf("the database is missing: %s%s", commandLine(slices.Insert(slices.Clone(args), 1, "DB")), elsewhere[args[0]+":FILE"])
	case expected && strings.Contains(text, "file") && args[0] != "pack" && args[0] != "debug":
		return fmt.Errorf("%w; the file - is standard input%s", err, usage)
	case expected, isExtra, strings.HasPrefix(text, "missing flags"):
		return fmt.Errorf("%w%s", err, usage)
	}
	return err
}

// unknownFlag says what to type in place of a flag. kong names a letter of a word such as -json.
func unknownFlag(name string, args []string) error {
	for _, arg := range args {
		if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && len(name) == 2 && strings.Contains(arg, name[1:]) {
			name, _, _ = strings.Cut(arg, "=")
		}
	}
	dashed, verb := name, args[0]
	if len(name) > 2 {
		dashed = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
	if !slices.Contains(commandNames(), verb) {
		verb = "shell"
	}
	long := "--" + strings.TrimLeft(dashed, "-")
	instead := cmp.Or(elsewhere[verb+":"+dashed], elsewhere[dashed], elsewhere[long])
	var of, names []string
	for _, c := range allCommands() {
		for _, f := range c.flags {
			if c.name == verb || c.name == "" {
				names = append(names, f.name)
			}
			switch flag := "--" + f.name; {
			case instead != "":
			case (c.name == verb || c.name == "") && (flag == long && flag != name || len(long) > 8 && strings.HasPrefix(flag, long[:8]) || strings.HasPrefix(long, flag+"-") || strings.HasSuffix(long, "-"+strings.ReplaceAll(f.name, "-", ""))):
				instead = flag // -header, --text_field, --keep-best, --remove-stopwords
			case flag == long || "-"+f.short == name:
				of = append(of, c.name)
			}
		}
	}
	if rest, ok := strings.CutPrefix(long, "--no"); ok && instead == "--"+strings.TrimPrefix(rest, "-") {
		instead = "the same without " + instead
	}
	near, suggested := spelling.Closest(long[2:], names)
	suggested = suggested && len(long) > 4 && elsewhere[dashed]+elsewhere[verb+":"+dashed] == "" && len(of) == 0
	if len(of) == 0 && !suggested && (instead == "" || strings.HasPrefix(instead, "--") && !strings.Contains(instead, " ") && instead != long) {
		instead = cmp.Or(spelling.Part(elsewhere, "--*", long), instead)
	}
	if len(of) == 0 && instead == "" && len(name) == 2 {
		instead = elsewhere[".letter"]
	}
	switch {
	case suggested:
		return fmt.Errorf("unknown flag %s, did you mean %q?", name, "--"+near)
	case instead != "":
		return fmt.Errorf("unknown flag %s; instead: %s", name, instead)
	case len(of) > 0:
		return fmt.Errorf("unknown flag %s: it is a flag of %s; simdb help %[1]s explains it", name, strings.Join(of, ", "))
	}
	return fmt.Errorf("unknown flag %s; no flag is like it: leave it out, as in %s", name, slices.Concat(examples[verb], examples["shell"])[0].line)
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
	remoteName  = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+]{1,12}://|(?:[\w.-]+@)?[\w.-]{2,}:)(.+)`)
	mailLike    = regexp.MustCompile(`^[^/]*$`)
	datasetName = regexp.MustCompile(`^\w[\w-]*/\w[\w-]*$`)
	datasetFile = regexp.MustCompile(`^(?:datasets/)?([^/]+/[^/]+)/?(.*)$`)
	notThere    = regexp.MustCompile(`no such|there is no folder|no file matches`)
)

// advice says what to type after an error of a command that has started, or returns "".
func advice(err error, args []string) string {
	missing := notThere.MatchString(err.Error())
	for i, arg := range args {
		switch name := remoteName.FindStringSubmatch(arg); {
		case arg == "" || !strings.Contains(err.Error(), arg):
		case place.IsRemote(arg) && !(errors.Is(err, syscall.ENOENT) && strings.HasSuffix(place.Path(arg), ".sst")):
		case missing && name != nil:
			return pipeTo(args, i, mailLike.ReplaceAllString(strings.ToLower(name[1]), "scp:"), name[2])
		case errors.Is(err, engine.ErrNotDatabase) && inputs.Exists(arg) && filepath.Ext(arg) != ".simdb":
			return loadedFirst(args, i)
		case missing && i == 0 && arg[0] == '.' && !strings.ContainsAny(arg[1:], pathMarks):
			return "commands of the prompt follow the database: simdb DB " + app.ShellWord(strings.Join(args, " "))
		case missing && i == 0 && strings.ContainsAny(arg, "[|{("):
			return elsewhere[".jq"]
		case missing && strings.Contains(arg, " "):
			return strings.ReplaceAll(elsewhere[".text"], "'TEXT'", app.ShellWord(arg))
		case missing && datasetName.MatchString(arg) && !inputs.Exists(filepath.Dir(arg)):
			return "a dataset of the Hugging Face Hub is " + app.ShellWord("hf://datasets/"+arg+"/**/*.parquet")
		case missing && beside(arg) != "":
			return beside(arg)
		}
	}
	return ""
}

// pipeTo returns the line for a remote file, which is argument i.
func pipeTo(args []string, i int, scheme, path string) string {
	url, instead := args[i], elsewhere[scheme]
	if instead == "" || strings.HasSuffix(path, ".simdb") {
		url, instead = "REMOTE:"+path, elsewhere["://"]
		if strings.HasSuffix(path, ".simdb") { // a folder
			instead = strings.Replace(instead, "URL .", "URL "+filepath.Base(path), 1)
		}
	}
	of := strings.Split(strings.NewReplacer("URL", app.ShellWord(url), "USER/NAME", datasetFile.ReplaceAllString(path, "$1"), "FILES", cmp.Or(datasetFile.ReplaceAllString(path, "$2"), "*")).Replace(instead), "; ") // to a pipe, to this folder, from a pipe
	line := commandLine(slices.Replace(slices.Clone(args), i, i+1, "-"))
	switch {
	case i > 0 && (args[i-1] == "-o" || args[i-1] == "--output"):
		return "remote files are not written; pipe it: " + line + " | " + of[2]
	case of[0] == "" || strings.HasSuffix(path, ".sst") || i == 0 || isFlag(args[i-1]) || i == 1 && !slices.Contains(strings.Fields(elsewhere[".files"]), args[0]):
		return "remote files are not read here; fetch it first: " + of[1]
	}
	return "remote files are not read; pipe it: " + of[0] + " | " + line
}

// loadedFirst returns the line that loads argument i, a file that should be a database.
func loadedFirst(args []string, i int) string {
	file, line := args[i], slices.Clone(args)
	db := strings.TrimSuffix(filepath.Base(outfile.PlainName(file)), filepath.Ext(outfile.PlainName(file))) + ".simdb"
	j := slices.IndexFunc(args, func(arg string) bool { return inputs.Exists(arg) && strings.HasSuffix(arg, ".simdb") })
	switch load := []string{"load", db, file}; {
	case j > i:
		line[i], line[j] = args[j], file
		return "the database comes first: " + commandLine(line)
	case args[0] == "load" && isFile(file):
		return "the database comes first: " + commandLine(slices.Insert(line, i, db))
	case !isFile(file):
		return "it holds no database; load its files: " + commandLine(append(load, "--files")) + ", or find copies: " + commandLine([]string{"dedup", "--files", file})
	}
	src, err := records.Open(file, records.Options{})
	if err != nil {
		return err.Error()
	}
	src.Close()
	line[i] = db
	return "it is a file; load it first: " + commandLine([]string{"load", db, file}) + "; then " + commandLine(line) + elsewhere[args[0]+":FILE"]
}

// beside asks whether the file was meant that is in the folder of a missing one and differs least, if
// only in its ending or in a few letters, or returns "".
func beside(path string) string {
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	entries, _ := os.ReadDir(filepath.Dir(path))
	var near []string
	for _, e := range entries {
		other, _, _ := strings.Cut(e.Name(), ".")
		if _, ok := spelling.Closest(stem, []string{other}); other == stem || ok && filepath.Ext(path) == filepath.Ext(e.Name()) {
			near = append(near, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return cmp.Or(spelling.Suggest(path, near), spelling.Suggest(strings.Join(near[:min(1, len(near))], ""), near))
}

func isFile(path string) bool { return inputs.Exists(path) && inputs.NamesFiles(path) }

// commandLine writes the program and its arguments for a shell.
func commandLine(args []string) string {
	line := "simdb"
	for _, arg := range args {
		if word := app.ShellWord(arg); strings.Contains(arg, "'") && !strings.ContainsAny(arg, "\"$`\\!") {
			line += ` "` + arg + `"`
		} else {
			line += " " + word
		}
	}
	return line
}
