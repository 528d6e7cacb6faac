package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// Verbs that are statements print the same as the statements.
func TestVerbsAreStatements(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), []byte(`{"id":"a","text":"one two three four"}
{"id":"b","text":"one two three five","lang":"en"}
`), 0o666))
	simdb(t, dir, "load", "x.simdb", "in.jsonl")
	verbs := map[string][]string{
		"WHY 'a' 'b'":        {"why", "x.simdb", "a", "b"},
		".stats":             {"stats", "x.simdb"},
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
		if statement == ".stats" && format == "json" {
			checkStats(t, dir)
			continue
		}
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

// checkStats checks that the JSON of stats is one object with the values of .stats, with numbers as
// numbers.
func checkStats(t *testing.T, dir string) {
	var o map[string]any
	must.Do(t, json.Unmarshal([]byte(simdb(t, dir, "stats", "x.simdb", "--format", "json")), &o))
	for line := range strings.Lines(simdb(t, dir, "x.simdb", ".stats")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if n, err := strconv.ParseFloat(value, 64); err == nil && name != "tables" && o[name] != n {
			t.Errorf("%s is %v, in .stats %s", name, o[name], value)
		}
	}
	if tables, _ := o["tables"].([]any); len(tables) != 1 || tables[0].(map[string]any)["documents"] != 2.0 {
		t.Errorf("tables: %v", o["tables"])
	}
}

// found runs simdb, which may find nothing, and returns its output.
func found(dir string, args ...string) string {
	c := exec.Command("simdb", args...)
	c.Dir = dir
	out, _ := c.Output()
	return string(out)
}

// The README and the cookbook are correct: each of their blocks runs, and prints the output shown,
// except for times. The blocks of a page run in one folder, in order.
func TestREADME(t *testing.T)   { testPage(t, "README.md", 5) }
func TestCookbook(t *testing.T) { testPage(t, "docs/cookbook.md", 30) }

// testPage runs the blocks of a page, which must have at least least commands. In a block that
// begins with "$ ", such a line is a command, and its output follows. The output of the commands in
// a block of "sh" is in the next block. A block of "go" is the middle of a program. python/tests
// run Python.
func testPage(t *testing.T, page string, least int) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	root := must.Get(filepath.Abs("../.."))(t)
	text := readFile(t, filepath.Join(root, page))
	dir := t.TempDir()
	for _, name := range []string{"examples", "internal"} {
		must.Do(t, os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)))
	}
	seconds := regexp.MustCompile(`\d+\.\d\d s|\b(\d+m)?\d+s\b`) // from 10 s on: 12s, 1m2s
	same := func(s string) string { return strings.TrimSpace(seconds.ReplaceAllString(s, "N s")) }
	n, said := 0, ""
	run := func(command string) {
		n++
		c := exec.Command("sh", "-c", command)
		c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C") // sort uses the locale
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		said += string(out)
	}
	check := func(want string) {
		if same(said) != same(want) {
			t.Errorf("printed is\n%s\n%s has\n%s", said, page, want)
		}
		said = ""
	}
	for _, block := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		switch kind, body := block[1], block[2]; {
		case kind == "python":
		case kind == "go":
			runGo(t, root, body)
		case kind == "sh":
			for line := range strings.Lines(body) {
				if line != "go test ./...\n" { // that is what runs now
					run(strings.Replace(line, "go run ./cmd/simdb", "simdb", 1))
				}
			}
		case kind == "" && said != "":
			check(body)
		case kind == "" && strings.HasPrefix(body, "$ "):
			for example := range strings.SplitSeq(body[2:], "\n$ ") {
				command, want, _ := strings.Cut(example, "\n")
				run(command)
				check(want)
			}
		default:
			t.Errorf("no test runs this block of %q:\n%s", kind, body)
		}
	}
	if check(""); n < least {
		t.Fatalf("%d commands", n)
	}
}

// runGo runs the middle of a program that uses packages engine, query and dedup. Errors end it.
func runGo(t *testing.T, root, body string) {
	dir := t.TempDir()
	body = strings.ReplaceAll(body, "{ ... }", "{ check(err); used(m) }")
	body = regexp.MustCompile(`(?m)^((\w+, |)(\w+, |)err :?= .*)$`).ReplaceAllString(body, "$1\ncheck(err); used(${2}${3}err)")
	file := filepath.Join(dir, "main.go")
	program := `package main
import ("context"; "io"; "log"; "os"; "slices"; "github.com/simdb/simdb/dedup"; "github.com/simdb/simdb/engine"; "github.com/simdb/simdb/query")
func check(err error) { if err != nil { log.Fatal(err) } }
func used(...any) {}
func main() {
check(os.Chdir(os.Args[1]))
ctx, fingerprint, doc := context.Background(), uint64(1), engine.Doc{ID: "b", Text: "other words"}
hashes, texts, w := []uint64{1, 3}, []string{"a b c", "a b c"}, io.Discard
check(os.WriteFile("crawl-1.jsonl", []byte("{\"id\":1,\"text\":\"a b c\"}"), 0o600))
used(query.Run)
` + body + "check(db.Close())\n}\n"
	write(t, file, program)
	c := exec.Command("go", "run", file, dir)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, program)
	}
}

// The figures in docs/choosing.md about two licences equal those of WHY, and the longest passage is
// where the page says.
func TestFiguresOfLicences(t *testing.T) {
	root := must.Get(filepath.Abs("../.."))(t)
	page := readFile(t, filepath.Join(root, "docs", "choosing.md"))
	dir := t.TempDir()
	simdb(t, dir, "load", "x.simdb", filepath.Join(root, "examples", "licenses.jsonl.gz"))
	rows := regexp.MustCompile("(?m)^\\| `(\\S+)`, `(\\S+)` \\| [^|]* \\| (.*) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) != 5 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		values := map[string]string{}
		longest, words, place := "", "", [2]int{}
		for line := range strings.Lines(simdb(t, dir, "why", "x.simdb", r[1], r[2])) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if f, err := strconv.ParseFloat(value, 64); err == nil && f != math.Trunc(f) {
				value = strconv.FormatFloat(f, 'f', 2, 64)
			}
			values[name] = value
			if rest, ok := strings.CutPrefix(name, "common run 1: "); ok {
				must.Get(fmt.Sscanf(rest, "%s words, at byte %d of a, %d of b", &longest, &place[0], &place[1]))(t)
				words = value
			}
		}
		want := regexp.MustCompile(`,|words`).ReplaceAllString(r[3], "")
		got := []string{values["distance"], values["jaccard"], values["share of a in b"], values["share of b in a"], longest}
		if strings.Join(got, "|") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s, %s: %q, documented are %s", r[1], r[2], got, r[3])
		}
		if n := len(strings.Fields(words)); n < 3 {
			t.Errorf("the words of %s are %q", longest, words)
		}
		for i, id := range r[1:3] {
			var rows []struct{ Text string }
			must.Do(t, json.Unmarshal([]byte(simdb(t, dir, "x.simdb", "GET '"+id+"' SHOW text", "--format", "json")), &rows))
			first, _, _ := strings.Cut(words, " ")
			if at := rows[0].Text[place[i]:]; !strings.EqualFold(at[:min(len(first), len(at))], first) {
				t.Errorf("%s of %s is at %.20q", words[:20], id, at)
			}
		}
	}
}

// The commands of docs/cluster.md write the same output as dedup on one machine.
func TestClusterManual(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	_, block, ok := strings.Cut(string(readFile(t, "../../docs/cluster.md")), "\n    simdb shard plan ")
	block, _, ends := strings.Cut(block, "\n\n")
	if !ok || !ends {
		t.Fatal("docs/cluster.md has no simdb shard plan")
	}
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "crawl"), 0o777))
	lines := slices.Collect(strings.Lines(string(corpora.Read(t, "../../examples/licenses.jsonl.gz"))))
	for i := range 3 {
		write(t, filepath.Join(dir, "crawl", fmt.Sprint(i, ".jsonl")), strings.Join(lines[i*len(lines)/3:(i+1)*len(lines)/3], ""))
	}
	simdb(t, dir, "dedup", "crawl/*.jsonl", "-o", "want/")
	block = strings.NewReplacer(".jsonl.gz", ".jsonl", "0 1 2 3 4 5 6 7", "0 1", "/8", "/2").Replace(block)
	script := exec.Command(bash, "-c", "simdb shard plan "+block)
	script.Dir = dir
	if out, err := script.CombinedOutput(); err != nil || !strings.Contains(string(out), "dropped 156, kept 572") {
		t.Fatalf("%v: %s", err, out)
	}
	files := func(folder string) map[string]string {
		all := map[string]string{}
		for name, content := range listing(t, filepath.Join(dir, folder)) {
			all[filepath.Base(name)] = content
		}
		delete(all, folder)
		return all
	}
	if want, got := files("want"), files("kept"); !maps.Equal(want, got) || len(want) != 4 {
		t.Errorf("files %v differ from %v", slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(want)))
	}
}
