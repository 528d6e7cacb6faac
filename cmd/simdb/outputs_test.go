package main

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// invocations has arguments for every command, without its outputs, with which it succeeds in the
// folder of newFolder. A command that is missing here fails TestOutputsHurtNothing.
var invocations = map[string][]string{
	"shell":        {"x.simdb", "NEAR('a', 3)"},
	"load":         {"load", "x.simdb", "in.jsonl"},
	"pairs":        {"pairs", "x.simdb", "--near", "3"},
	"clusters":     {"clusters", "x.simdb", "--near", "3"},
	"dedup":        {"dedup", "in.jsonl", "--near", "3"},
	"review":       {"review", "x.simdb", "--near", "3"},
	"learn":        {"learn", "in.jsonl", "labels.jsonl"},
	"apply":        {"apply", "x.simdb", os.DevNull},
	"match":        {"match", "x.simdb", "in.jsonl", "--near", "3"},
	"join":         {"join", "x.simdb", "in.jsonl", "--near", "3"},
	"why":          {"why", "x.simdb", "a", "b"},
	"export":       {"export", "x.simdb"},
	"changes":      {"changes", "x.simdb"},
	"create":       {"create", "new.simdb"},
	"rebuild":      {"rebuild", "x.simdb", "new.simdb"},
	"stats":        {"stats", "x.simdb"},
	"fields":       {"fields", "x.simdb"},
	"allow":        {"allow", "x.simdb", "a", "b"},
	"unallow":      {"unallow", "x.simdb", "a", "b"},
	"allowed":      {"allowed", "x.simdb"},
	"flush":        {"flush", "x.simdb"},
	"check":        {"check", "x.simdb"},
	"recover":      {"recover", "x.simdb", "new.simdb"},
	"repair":       {"repair", "x.simdb"},
	"compact":      {"compact", "x.simdb"},
	"prune":        {"prune", "x.simdb", "--older", "100d"},
	"pack":         {"pack", "x.simdb"},
	"backup":       {"backup", "x.simdb", "x.backup"},
	"ingest":       {"ingest", "x.simdb", "packed.sst"},
	"tune":         {"tune", "in.jsonl"},
	"plan":         {"plan", "in.jsonl", "--layout", "2:1"},
	"hash":         {"hash", "in.jsonl"},
	"debug layout": {"debug", "layout", "packed.sst"},
	"shard plan":   {"shard", "plan", "work", "dedup", "in.jsonl", "-o", "kept/"},
	"shard steps":  {"shard", "steps", "work"},
	"shard run":    {"shard", "run", "work", "end", "--shard", "0/1"},
	"shard finish": {"shard", "finish", "work"},
	"version":      {"version"},
	"completion":   {"completion", "bash"},
}

// notFiles lists flags and arguments that are text but do not name a file.
var notFiles = []string{
	"id", "second-id", "reviewer", "of-rule",
	"progress", "statement", "a", "b", "shell", "mode", "on-conflict", "layout", "id-field", "text-field", "against-id-field", "against-text-field", "id-field-b", "text-field-b", "fingerprint-field", "time-field", "expires-field", "across", "within-field", "expired",
	"set-field", "features-field", "code", "records", "record-start", "mask", "agree", "exclude", "dir", "folder", "image-root", "temp-dir", "work", "step", "args",
}

const twoDocuments = `{"id":"a","text":"the quick brown fox jumps over the lazy dog"}
{"id":"b","text":"The quick brown fox jumps over the lazy dog"}
`

// newFolder makes a folder with an input, databases and links, and makes it the working folder.
func newFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv(tempVariable(), t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	write := func(name, text string) {
		write(t, name, text)
	}
	write("in.jsonl", twoDocuments)
	write("labels.jsonl", `{"a":"a","b":"b","same":true}`)
	write("plain", "a user's file\n")
	for _, name := range []string{"x.simdb", "y.simdb", "damaged.simdb"} {
		db := must.Get(engine.Create(name, nil))(t)
		put := func(id string) {
			must.Do(t, db.Put(t.Context(), engine.Doc{ID: id, Text: "The quick brown fox jumps over the lazy dog"}))
		}
		put("a")
		put("b")
		must.Do(t, db.Compact(t.Context(), nil))
		put("b") // into the log
		must.Do(t, db.Close())
	}
	must.Do(t, os.Remove("damaged.simdb/CATALOG"))
	if code, _, talk := simdbHere(t, "pack", "y.simdb", "packed.sst"); code != 0 {
		t.Fatal(talk)
	}
	must.Do(t, os.Mkdir("folder", 0o777))
	return dir
}

// simdbHere runs the program in this process and returns its exit status, standard output and
// standard error.
func simdbHere(t *testing.T, args ...string) (code int, data, talk string) {
	t.Helper()
	dir := t.TempDir()
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	var files [2]*os.File
	for i, name := range []string{"out", "err"} {
		f := must.Get(os.Create(filepath.Join(dir, name)))(t)
		defer f.Close()
		files[i] = f
	}
	os.Stdout, os.Stderr = files[0], files[1]
	code = run(args)
	var text [2]string
	for i, f := range files {
		b := readFile(t, f.Name())
		text[i] = string(b)
	}
	return code, text[0], text[1]
}

// listing returns the content of a folder: names, types and content.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		what := e.Type().String()
		switch {
		case slices.Contains([]string{"SHARED", "SYNC", "MERGE"}, e.Name()): // hold nothing that is stored
			return nil
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			what += to
		case e.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += string(b)
		}
		all[path] = what
		return nil
	})
	must.Do(t, err)
	return all
}

// changes returns the differences between two listings.
func changes(before, after map[string]string) []string {
	var diff []string
	for path, what := range before {
		if now, ok := after[path]; !ok {
			diff = append(diff, path+" is gone")
		} else if now != what {
			diff = append(diff, path+" has changed")
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			diff = append(diff, path+" is new")
		}
	}
	slices.Sort(diff)
	return diff
}

// leaves returns the commands of the command line by name.
func leaves(n *kong.Node) map[string]*kong.Node {
	all := map[string]*kong.Node{}
	if len(n.Children) == 0 {
		all[strings.TrimSpace(strings.TrimPrefix(n.FullPath(), "simdb"))] = n
	}
	for _, c := range n.Children {
		maps.Copy(all, leaves(c))
	}
	return all
}

// model returns kong's model of the command line.
func model(t *testing.T) *kong.Node {
	t.Helper()
	code := 0
	parser := must.Get(newParser(app.New(), nil, &code))(t)
	return parser.Model.Node
}

// Every flag and argument that is text declares whether it names a file, and how the file is used.
func TestFilesAreDeclared(t *testing.T) {
	for name, n := range leaves(model(t)) {
		var all []*kong.Value
		for p := n; p != nil; p = p.Parent {
			for _, f := range p.Flags {
				all = append(all, f.Value)
			}
		}
		for _, v := range append(all, n.Positional...) {
			role := v.Tag.Get(app.FileTag)
			_, output := app.OutputKind(&kong.Context{}, role)
			switch v.Target.Interface().(type) {
			case string, []string:
				if declared := output || role == "db" || role == "in"; declared == (v.Enum != "" || slices.Contains(notFiles, v.Name)) {
					t.Errorf("%s: %s has the role %q of a file; it needs one, or a place in notFiles", name, v.Name, role)
				}
			default:
				if role != "" {
					t.Errorf("%s: %s has the role %q, but is no text", name, v.Name, role)
				}
			}
		}
	}
}

// victims makes links to everything that must not be lost, and returns all paths that an output
// must not replace.
func victims(t *testing.T) []string {
	t.Helper()
	paths := []string{
		"in.jsonl", "./in.jsonl", "folder/../in.jsonl", "x.simdb", "x.simdb/", "x.simdb/new", "x.simdb/new.jsonl", "x.simdb/LOCK",
		"y.simdb", "y.simdb/new.jsonl", "damaged.simdb", "damaged.simdb/new", "packed.sst", "./packed.sst", "folder", "folder/",
		"no/such/rows", "plain/rows",
	}
	linked := []string{"in.jsonl", "packed.sst"}
	for _, db := range []string{"x.simdb", "y.simdb", "damaged.simdb"} {
		for _, pattern := range []string{"CATALOG", "*.sst", "*.wal"} {
			files := must.Get(filepath.Glob(filepath.Join(db, pattern)))(t)
			linked = append(linked, files...)
		}
	}
	if len(linked) != 10 {
		t.Fatalf("the databases have these files: %v", linked)
	}
	paths = append(paths, linked[2:]...)
	for i, path := range linked {
		hard, soft := fmt.Sprintf("hard-%d", i), fmt.Sprintf("soft-%d", i)
		if err := os.Link(path, hard); err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, soft); err != nil {
			t.Skip(err)
		}
		if to, err := os.Readlink(soft); err != nil || to != path {
			t.Skipf("a symbolic link to %s leads to %q: %v", path, to, err) // Wine
		}
		if paths = append(paths, soft); path != "damaged.simdb/CATALOG" {
			paths = append(paths, hard)
		}
	}
	for link, to := range map[string]string{
		"to-db": "x.simdb", "to-folder": "folder", "to-nothing": "nothing", "to-plain": "plain", "to-itself": "to-itself",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
		paths = append(paths, link)
	}
	return append(paths, "to-db/CATALOG", "to-db/new")
}

// No output of any command replaces an input, a file of a database, a table or a folder, whatever
// its name; a rejected command changes nothing. The outputs are found in the command line itself.
func TestOutputsHurtNothing(t *testing.T) {
	dir := newFolder(t)
	paths := victims(t)
	before := listing(t, dir)
	commands := leaves(model(t))
	var runs [][]string
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		args, ok := invocations[name]
		if !ok {
			t.Errorf("no invocation of %s is known here", name)
			continue
		}
		for _, v := range app.FileValues(commands[name]) {
			if _, output := app.OutputKind(&kong.Context{}, v.Tag.Get(app.FileTag)); !output {
				continue
			}
			for _, path := range paths {
				if path == "folder/" && v.Tag.Get(app.FileTag) == "copies" {
					continue // it would write a file for each input there
				}
				if !slices.Contains(args, "in.jsonl") && (strings.HasSuffix(path, "in.jsonl") || path == "hard-0") {
					continue // for this command it is not an input, but a file to replace
				}
				runs = append(runs, withOutput(args, v, path))
			}
		}
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "in.jsonl") || path == "hard-0" {
			continue
		}
		runs = append(runs, []string{"x.simdb", ".output " + path, "NEAR('a', 3)"})
	}
	for i := range exhaustive.Every(t, 24).Of(len(runs)) {
		hurtsNothing(t, dir, before, runs[i])
	}
	if len(runs) < 500 {
		t.Errorf("only %d runs: are there fewer outputs?", len(runs))
	}
}

// withOutput adds an output to the arguments of a command.
func withOutput(args []string, v *kong.Value, path string) []string {
	if flag := app.FlagName(v); flag != "" {
		return slices.Concat(args, []string{flag, path})
	}
	return slices.Concat(args, []string{path})
}

// hurtsNothing runs a command that must fail and change nothing.
func hurtsNothing(t *testing.T, dir string, before map[string]string, args []string) {
	t.Helper()
	code, data, talk := simdbHere(t, args...)
	if code != app.ExitError || data != "" {
		t.Errorf("simdb %q: exit status %d\n%s%s", args, code, data, talk)
	}
	if diff := changes(before, listing(t, dir)); len(diff) > 0 {
		t.Fatalf("simdb %q: %v\n%s", args, diff, talk)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Fatalf("simdb %q leaves %v", args, left)
	}
}

// Every output can be written, replaces an earlier one, and works with a pipe and with /dev/null.
func TestOutputsWork(t *testing.T) {
	newFolder(t)
	endings := map[string]string{"rows": ".csv", "lines": ".jsonl.gz", "rejects": ".jsonl", "copies": ".jsonl.gz", "jsonl": ".jsonl", "table": ".sst", "html": ".html"}
	commands := leaves(model(t))
	names := slices.Sorted(maps.Keys(commands))
	for i := range exhaustive.Some(t, 3, len(names)) {
		name := names[i]
		for _, v := range app.FileValues(commands[name]) {
			role := v.Tag.Get(app.FileTag)
			if _, output := app.OutputKind(&kong.Context{}, role); !output {
				continue
			}
			path := "out" + endings[role]
			for i := range 2 {
				os.RemoveAll("new.simdb") // left by recover
				code, _, talk := simdbHere(t, withOutput(invocations[name], v, path)...)
				if i == 1 && role == "table" {
					if code != app.ExitError || !strings.Contains(talk, "already exists") {
						t.Errorf("%s over its own output: exit status %d, %s", name, code, talk)
					}
				} else if code > app.ExitNo {
					t.Errorf("%s %s: exit status %d: %s", name, path, code, talk)
				}
			}
			if _, err := os.Stat(path); err != nil && role != "rejects" { // nothing is rejected
				t.Errorf("%s: %v", name, err)
			}
			os.Remove(path)
			if role == "table" {
				continue
			}
			os.RemoveAll("new.simdb")
			if code, _, talk := simdbHere(t, withOutput(invocations[name], v, os.DevNull)...); code > app.ExitNo {
				t.Errorf("%s to %s: exit status %d: %s", name, os.DevNull, code, talk)
			}
		}
	}
}

// An output to a pipe is written without changes.
func TestOutputToPipe(t *testing.T) {
	newFolder(t)
	if err := mkfifo("pipe.csv"); err != nil {
		t.Skip(err)
	}
	for range 2 {
		got := make(chan string)
		go func() {
			b, err := readAll("pipe.csv")
			got <- fmt.Sprint(b, err)
		}()
		if code, _, talk := simdbHere(t, "pairs", "x.simdb", "--near", "3", "-o", "pipe.csv"); code != 0 {
			t.Errorf("exit status %d: %s", code, talk)
		}
		if want := "a,b,distance\na,b,0\n<nil>"; <-got != want {
			t.Errorf("the pipe had something else than %q", want)
		}
	}
}

func readAll(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}
